"""Whether a call's arguments fit the schema its tool was advertised with.

In: a call with its definition. Out: the call with ``schema_valid`` True, False, None (no schema) or "not_checked".
The schema comes from the other side: no remote references are fetched, ``pattern`` and ``format`` are not evaluated
(a pattern took 2.4 s at 26 characters), sizes and depth are capped.
"""

from __future__ import annotations

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


def _skip(*_: Any) -> tuple[()]:
    return ()


_SKIPPED = ("pattern", "patternProperties", "format")
_Validator: Any = extend(Draft202012Validator, dict.fromkeys(_SKIPPED, _skip))  # type: ignore[no-untyped-call]


def checked_against_schema(call: ToolCall) -> ToolCall:
    schema = call.definition.schema if call.definition else None
    if schema is None or call.arguments_valid is not True:
        return call
    return replace(call, schema_valid=_fits(schema, call.arguments))


def _fits(schema: dict[str, Any], arguments: Any) -> bool | str:
    try:
        if len(orjson.dumps(schema)) > MAX_SCHEMA_BYTES or len(orjson.dumps(arguments)) > MAX_ARGUMENT_BYTES:
            return "not_checked"
        registry: Registry[Any] = Registry()
        return bool(_Validator(schema, registry=registry).is_valid(arguments))
    except (SchemaError, Unresolvable, RecursionError, TypeError, ValueError, AttributeError, KeyError):
        return "not_checked"
