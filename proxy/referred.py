"""The policy and objective files of a state's configuration by the hash that records know them by.

In: the state folder. Out: hash → files, as they lie on disk now. Source of the hashes: the loaders that were in force.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from policies import trust
from policies.objectives import read
from proxy.places import Places, configured
from proxy.trust import trust_of


def files_by_hash(state: Path) -> dict[str, tuple[Path, ...]]:
    """Empty when no instance ran with this state, so that nobody knows where its files lie."""
    config = configured(state)
    if config is None:
        return {}
    policies = trust.load(config.policies, datetime.now(UTC), trust_of(config)[0]).policies
    out = {p.hash: p.files for p in policies if p.hash}
    for file in Places(config).objectives():
        objective, _ = read(file)
        if objective is not None:
            out[objective.hash] = (file,)
    return out
