"""JSON Schema (draft-07) of policy, rule and objective files, generated from the vocabulary: editors complete from it.

In: ``vocab.FIELDS`` and the checker's own key lists. Out: schemas as dictionaries. The checker stays the judge; the
schema says no less than it can (a string where a duration is meant has a pattern).
"""

# ruff: noqa: E501 - a schema reads by the row

from __future__ import annotations

from typing import Any

from policies.check_match import COMPARISONS, GLOBS, TEXTS
from policies.check_rule import ON_UNKNOWN, SEVERITIES, STATUSES
from policies.check_tests import GROUPS, RESULTS, VERDICTS
from policies.compile import RANK
from policies.objective import BUDGETS, CLOUD_KEYS, PROVIDERS, RUNS
from policies.pattern import OPERATORS
from policies.vocab import EFFECT_FIELDS, FIELDS, Field

Schema = dict[str, Any]
DRAFT = "http://json-schema.org/draft-07/schema#"
DURATION: Schema = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$", "examples": ["90s", "10m"]}
WORD: Schema = {"type": "string", "minLength": 1}
WORDS: Schema = {"anyOf": [WORD, {"type": "array", "items": WORD, "minItems": 1}]}
ID: Schema = {"type": "string", "pattern": "^[a-z0-9.-]+$"}
INSTANT: Schema = {"type": "string", "format": "date-time"}


def _object(properties: Schema, required: tuple[str, ...] = (), doc: str = "") -> Schema:
    out: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**out, **({"required": list(required)} if required else {}), **({"description": doc} if doc else {})}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one(field: Field) -> Schema:
    if field.values:
        return {"enum": list(field.values)}
    kinds = {"boolean": "boolean", "integer": "integer", "number": "number"}
    return {"type": kinds.get(field.type, "string")}


def field_value(field: Field) -> Schema:
    """A value, a list of values, or operators."""
    one = _one(field)
    several = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}
    operators: Schema = {"not": several}
    if field.ordered:
        limit: Schema = {"enum": list(RANK[field.name])} if field.name in RANK else {"type": "number"}
        operators |= dict.fromkeys(COMPARISONS, limit)
    if field.type in {"string", "strings"}:
        operators |= dict.fromkeys(TEXTS, WORDS)
    return {"description": field.doc, "anyOf": [*several["anyOf"], {**_object(operators), "minProperties": 1}]}


def _target(doc: str) -> Schema:
    operators = {**_object(dict.fromkeys(OPERATORS, WORDS)), "minProperties": 1}
    item = {"anyOf": [WORD, operators]}
    return {"description": doc, "anyOf": [WORD, operators, {"type": "array", "items": item, "minItems": 1}]}


def definitions() -> Schema:
    entry = {name: field_value(field) for name, field in EFFECT_FIELDS.items()}
    entry["target"] = _target(
        EFFECT_FIELDS["target"].doc + " A $list, globs (* in a segment, ** across), or operators."
    )
    entry["not_target"] = _target("Not these targets.")
    where = {n: field_value(f) for n, f in FIELDS.items() if not n.startswith("effect.")}
    groups = {
        k: {"type": "array", "items": {"$ref": "#/definitions/match"}, "minItems": 1} for k in ("any", "all", "none")
    }
    match = {
        "effects": {"type": "array", "items": {"$ref": "#/definitions/entry"}, "minItems": 1},
        **{
            key: {**WORDS, "description": f"Globs over {fields[0]}; case does not count."}
            for key, fields in GLOBS.items()
        },
        "where": {**_object(where), "minProperties": 1},
        **groups,
    }
    exception = {
        "id": WORD, "reason": WORD, "approved_by": WORD, "until": INSTANT, "match": {"$ref": "#/definitions/match"},
    }  # fmt: skip
    by = {"anyOf": [{"enum": list(FIELDS)}, {"type": "array", "items": {"enum": list(FIELDS)}, "minItems": 1}]}
    return {
        "entry": {**_object(entry), "minProperties": 1},
        "match": {**_object(match), "minProperties": 1, "description": "All keys must hold."},
        "exception": _object(exception, ("id", "reason", "until", "match"), "Excuses the effects it matches until then."),
        "sequence": _object(
            {"by": by, "within": DURATION, "steps": {"type": "array", "items": ID, "minItems": 2}},
            ("by", "within", "steps"),
        ),
        "rate": _object(
            {"by": by, "count": {"type": "string", "pattern": r"^(calls|effects|distinct\(.+\))$"},
             "more_than": {"type": "integer", "minimum": 0}, "within": DURATION},
            ("by", "count", "more_than", "within"),
        ),
        "test": _test(RESULTS),
    }  # fmt: skip


def _test(outcomes: tuple[str, ...]) -> Schema:
    effect_fields = {n: {"description": f.doc} for n, f in EFFECT_FIELDS.items()}
    effect = {"anyOf": [WORD, _object(effect_fields)]}
    around: Schema = {g: {} for g in GROUPS} | {n: {} for n in FIELDS}
    step = {
        "type": "object",
        "properties": {**around, "tool": WORD, "effects": _list(effect), "complete": {"type": "boolean"}},
    }
    call = {"type": "object", "properties": {"tool": WORD, "arguments": {}}, "required": ["tool"]}
    keys: Schema = {
        **around, "call": call, "calls": _list(call), "action": step, "actions": _list(step), "because": WORD,
        "expect": {"enum": list(outcomes)}, "cwd": WORD, "home": WORD, "at": WORD,
    }  # fmt: skip
    return {"type": "object", "properties": keys, "required": ["expect"]}


def _rule_properties() -> Schema:
    return {
        "id": {**ID, "description": "Stable and unique."},
        "description": WORD,
        "severity": {"enum": list(SEVERITIES)},
        "status": {"enum": list(STATUSES), "description": "Only stable rules alert; test is recorded."},
        "on_unknown": {"enum": list(ON_UNKNOWN)},
        "owner": WORD,
        "tags": _list({"type": "string", "pattern": r"^[^.]+\..+$"}),
        "match": {"$ref": "#/definitions/match"},
        "sequence": {"$ref": "#/definitions/sequence"},
        "rate": {"$ref": "#/definitions/rate"},
        "message": {"type": "string", "description": "{field} is filled in."},
        "falsepositives": _list(WORD),
        "references": _list(WORD),
        "exceptions": _list({"$ref": "#/definitions/exception"}),
        "tests": _list({"$ref": "#/definitions/test"}),
    }


def policy_schema() -> Schema:
    """Of a policy file, or of a file with one bare rule."""
    lists = {"type": "object", "additionalProperties": WORDS}
    override = {
        k: v
        for k, v in _rule_properties().items()
        if k in {"id", "severity", "status", "on_unknown", "owner", "exceptions"}
    }
    override["enabled"] = {"type": "boolean"}
    defaults = {"severity": {"enum": list(SEVERITIES)}, "on_unknown": {"enum": list(ON_UNKNOWN)}}
    policy = {
        "policy": {"const": 1}, "id": ID, "version": {"type": "string"}, "owner": WORD, "description": WORD,
        "timezone": WORD, "defaults": _object(defaults), "lists": lists, "extends": WORDS,
        "overrides": _list(_object(override, ("id",))), "rules": _list(_object(_rule_properties(), ("id",))),
    }  # fmt: skip
    bare = {"rule": {"const": 1}, **_rule_properties()}
    both = [_object(policy, ("policy", "id")), _object(bare, ("rule", "id"))]
    chosen = {"if": {"required": ["rule"]}, "then": both[1], "else": both[0]}
    return {"$schema": DRAFT, "title": "onlooker policy", "type": "object", **chosen, "definitions": definitions()}


def objective_schema() -> Schema:
    number = {"type": "integer", "minimum": 0}
    size = {"anyOf": [number, {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?([KMGkmg]?[Ii]?[Bb])?$"}]}
    entries = {"type": "array", "items": {"$ref": "#/definitions/entry"}, "minItems": 1}
    cloud = dict.fromkeys(CLOUD_KEYS, WORDS) | {"provider": {"enum": list(PROVIDERS)}}
    scope = {
        "tools": WORDS, "effects": entries, "run": {"type": "array", "items": {"enum": list(RUNS)}}, "repos": WORDS,
        "hosts": WORDS, "cloud": _object(cloud, ("provider",)),
    }  # fmt: skip
    bind = [
        _object({k: WORD}, (k,))
        for k in ("path_segment", "header", "api_key_hmac", "session", "agent", "listener", "unix_socket")
    ]
    forbidden = {"id": ID, "because": WORD, "effects": entries, "tools": WORDS}
    who = {"kind": WORD, "id": WORD, "via": WORD, "at": INSTANT}
    properties = {
        "objective": {"const": 1}, "id": ID, "statement": {"type": "string", "description": "Recorded, never interpreted."},
        "declared_by": _object(who), "valid": _object({"from": INSTANT, "until": INSTANT}),
        "bind": _list({"anyOf": bind}), "scope": _object(scope), "forbidden": _list(_object(forbidden, ("id",))),
        "budget": _object({b: size if b == "bytes_out" else number for b in BUDGETS}),
        "delegation": {"enum": ["narrow", "none"]}, "lists": {"type": "object", "additionalProperties": WORDS},
        "tests": _list(_test(VERDICTS)),
    }  # fmt: skip
    made = _object(properties, ("objective", "id", "scope"))
    return {"$schema": DRAFT, "title": "onlooker objective", **made, "definitions": definitions()}
