"""Whether an action was in scope: policies, objectives, verdicts.

Entry points: ``policies.load`` (policies), ``policies.objectives.load``, ``policies.assess.assess``
(one action judged), ``policies.state.SessionState`` (what is remembered between actions), ``policies.vocab.FIELDS``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policies.assess import Assessment as Assessment
    from policies.bind import Facts as Facts
    from policies.policy_set import PolicySet as PolicySet
    from policies.policy_set import load as load
    from policies.state import SessionState as SessionState

_HOME = {
    "Assessment": "policies.assess",
    "Facts": "policies.bind",
    "PolicySet": "policies.policy_set",
    "SessionState": "policies.state",
    "load": "policies.policy_set",
}


def __getattr__(name: str) -> Any:
    """Loaded when asked for: who only needs the vocabulary does not pay for the evaluator."""
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(_HOME[name]), name)
