"""What is in force, as records and for the admin API: policies loaded and refused, objectives, an action's binding.

In: policies, objectives, what was assessed. Out: JSON-safe dictionaries (docs/record.md).
"""

from __future__ import annotations

from typing import Any

from audit import record
from policies.inline import failing
from policies.objectives import Objectives
from policies.policy_set import Loaded, PolicySet, bundle_of


def loaded_record(policies: PolicySet, objectives: Objectives) -> dict[str, Any]:
    """What is in force, by policy and by objective."""
    described = [
        {
            "id": p.id,
            "version": p.compiled.policy.version if p.compiled else None,
            "hash": p.hash,
            "state": p.state,
            "error": p.error,
            "files": [str(f) for f in p.files],
            "bundle": bundle_of(p),
            "rules": len(p.compiled.rules) if p.compiled else 0,
            "tests_failed": [str(f) for f in failing(p.compiled)] if p.compiled and _is_own(p) else [],
        }
        for p in policies.policies
    ]
    return record.policy_loaded(policies=described, objectives=shown(objectives))


def broken_records(policies: PolicySet, objectives: Objectives) -> list[dict[str, Any]]:
    """One for each policy and each objective that did not load."""
    lines = [reload_failed(p, None) for p in policies.policies if p.compiled is None]
    lines += [
        record.policy_reload_failed(file=name, errors=[error], active_hash=None)
        for name, error in objectives.broken.items()
    ]
    return lines


def reload_failed(loaded: Loaded, active: str | None) -> dict[str, Any]:
    errors = [str(d) for d in loaded.found if d.level == "error"] or [str(loaded.error)]
    return record.policy_reload_failed(file=loaded.source, errors=errors, active_hash=active)


def shown(objectives: Objectives) -> list[dict[str, Any]]:
    """Every objective, with what it is bound to by its file and by the admin API."""
    return [_shown(objectives, name) for name in objectives.by_id]


def binding(made: Any) -> dict[str, Any] | None:
    bound = made.binding
    if bound.id is None:
        return None
    objective = bound.objective
    return {
        "id": bound.id,
        "hash": objective.hash if objective else None,
        "statement": objective.statement if objective else None,
        "trust": bound.trust,
        "bound_by": bound.bound_by,
        "reason": str(bound.reason) if bound.reason else None,
        "declared": bound.declared.id if bound.declared else None,
        "hits": [{"source": h.source, "objective": h.objective, "trust": h.trust} for h in bound.hits],
    }


def _shown(objectives: Objectives, name: str) -> dict[str, Any]:
    objective = objectives.by_id[name]
    return {
        "id": objective.id,
        "hash": objective.hash,
        "statement": objective.statement,
        "file": objective.name,
        "bind": [list(b) for b in objective.bind] + [[k, v] for (k, v), o in objectives.admin.items() if o == name],
    }


def _is_own(loaded: Loaded) -> bool:
    """The shipped library's tests run in our own suite, not at every start."""
    return not loaded.source.startswith("onlooker:")
