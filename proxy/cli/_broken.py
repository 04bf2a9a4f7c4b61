"""Policies and objectives that do not load, said before anything is judged without them.

In: a ``Config``. Out: one sentence per file that is wrong (``file:line:col: what``), or exit 3.
"""

from __future__ import annotations

from datetime import UTC, datetime

from policies.objectives import load as load_objectives
from policies.trust import load as load_policies
from proxy.cli._options import BAD_FILE, fail
from proxy.settings import Config
from proxy.trust import trust_of


def broken_files(config: Config) -> list[str]:
    """What is wrong with the policies and objectives that would be in force; the shipped ones are known to be right."""
    own = tuple(name for name in config.policies if not name.startswith("onlooker:"))
    trust, wrong = trust_of(config)
    policies = [p for p in load_policies(own, datetime.now(UTC), trust).policies if p.compiled is None] if own else []
    objectives = load_objectives(config.objectives).broken if config.objectives else {}
    return [*wrong, *(str(p.error) for p in policies), *objectives.values()]


def refuse_broken(config: Config) -> None:
    """Where no traffic waits for us, a judgement without what was asked for is no answer: exit 3."""
    if broken := broken_files(config):
        fail("\n".join(broken), BAD_FILE)
