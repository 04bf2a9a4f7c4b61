"""The rules that look at an outcome: those that name a field only a result may tell.

In: the policies in force. Out: the same policies reduced to those rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from policies.evaluate import Compiled
from policies.model import Leaf
from policies.policy_set import PolicySet
from proxy.analyzer.fields import LATE_FIELDS


def about_results(policies: PolicySet) -> PolicySet:
    """The same policies reduced to the rules that name a field a result may tell: ``result.*`` and LATE_FIELDS."""
    out = []
    for loaded in policies.policies:
        if loaded.compiled is None:
            continue
        policy = loaded.compiled.policy
        rules = tuple(r for r in policy.rules if r.match is not None and _names_result(r.match))
        if rules:
            out.append(replace(loaded, compiled=Compiled(replace(policy, rules=rules))))
    return PolicySet(tuple(out))


def _names_result(condition: Any) -> bool:
    if isinstance(condition, Leaf):
        return condition.field.startswith("result.") or condition.field in LATE_FIELDS
    return any(_names_result(c) for c in getattr(condition, "conditions", ()))
