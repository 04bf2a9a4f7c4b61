"""Whether a call's arguments fit the schema its tool was advertised with.

In: a call with its definition. Out: the call with ``schema_valid`` True, False, None (no schema) or "not_checked".
The schema comes from the other side: no remote references are fetched, ``pattern`` and ``format`` are not evaluated
(a pattern took 2.4 s at 26 characters), sizes and depth are capped, and so is the number of keywords evaluated:
a few lines of ``anyOf`` over references ask for 2^n of them, and ``uniqueItems`` compares every pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from classifiers.call import ToolCall

MAX_SCHEMA_BYTES = 64 << 10
MAX_ARGUMENT_BYTES = 256 << 10
MAX_STEPS = 10_000
MAX_UNIQUE = 500  # items


class _OverBudgetError(Exception):
    """The schema asks for more work than one call is worth."""


def _skip(*_: Any) -> tuple[()]:
    return ()


_SKIPPED = ("pattern", "patternProperties", "format")
_steps = [0]  # of the check in hand; the analyzer checks one call at a time


def _counted(keyword: Callable[..., Any]) -> Callable[..., Any]:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _steps[0] += 1
        if _steps[0] > MAX_STEPS:
            raise _OverBudgetError
        return keyword(validator, value, instance, schema)

    return check


def _unique(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
    if isinstance(instance, list) and len(instance) > MAX_UNIQUE:
        raise _OverBudgetError
    return Draft202012Validator.VALIDATORS["uniqueItems"](validator, value, instance, schema)


_KEYWORDS = {**Draft202012Validator.VALIDATORS, "uniqueItems": _unique}
_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {k: _skip if k in _SKIPPED else _counted(v) for k, v in _KEYWORDS.items()}
)


def checked_against_schema(call: ToolCall) -> ToolCall:
    schema = call.definition.schema if call.definition else None
    empty = call.arguments_valid is None and call.arguments == {}  # no argument text: a call without arguments
    if schema is None or not (empty or call.arguments_valid is True):
        return call
    return replace(call, schema_valid=_fits(schema, call.arguments))


def _fits(schema: dict[str, Any], arguments: Any) -> bool | str:
    try:
        if len(orjson.dumps(schema)) > MAX_SCHEMA_BYTES or len(orjson.dumps(arguments)) > MAX_ARGUMENT_BYTES:
            return "not_checked"
        registry: Registry[Any] = Registry()
        _steps[0] = 0
        return bool(_Validator(schema, registry=registry).is_valid(arguments))
    except (
        _OverBudgetError,
        SchemaError,
        Unresolvable,
        RecursionError,
        TypeError,
        ValueError,
        AttributeError,
        KeyError,
    ):
        return "not_checked"
