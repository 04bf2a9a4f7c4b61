"""Arguments against the schema they were advertised with: right answers, and no schema that costs more than a moment."""

from __future__ import annotations

import pytest

from classifiers.call import Definition, ToolCall
from proxy.analyzer.schema import checked_against_schema


def fits(schema, arguments, valid=True):
    definition = None if schema is None else Definition("t", schema=schema)
    call = ToolCall("t", arguments=arguments, arguments_valid=valid, definition=definition)
    return checked_against_schema(call).schema_valid


OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "arguments", "expected"),
    [
        (OBJECT, {"n": 1}, True),
        (OBJECT, {"n": "1"}, False),
        (OBJECT, {}, False),
        (OBJECT, {"n": 1, "m": 2}, False),
        ({"$defs": {"d": OBJECT}, "$ref": "#/$defs/d"}, {"n": 1}, True),
        ({"type": "array", "uniqueItems": True}, [1, 1], False),
        (
            {"properties": {"s": {"type": "string", "pattern": "^(a+)+$", "format": "date"}}},
            {"s": "a" * 40 + "!"},
            True,
        ),
        (None, {"n": 1}, None),
        ({"$ref": "https://schemas.example/remote.json"}, {}, "not_checked"),
        ({"$ref": "#/$defs/missing"}, {}, "not_checked"),
        ({"type": 5}, {}, "not_checked"),
    ],
)
def test_what_the_schema_says(schema, arguments, expected):
    assert fits(schema, arguments) == expected


def test_arguments_that_are_not_json_are_not_compared():
    assert fits(OBJECT, None, valid=False) is None


def doubling(depth):
    """2^depth ways, in a few kilobytes."""
    ref = [{"anyOf": [{"$ref": f"#/$defs/{n + 1}"}, {"$ref": f"#/$defs/{n + 1}"}]} for n in range(depth)]
    return {"$defs": {str(n): s for n, s in enumerate([*ref, {"type": "null"}])}, "$ref": "#/$defs/0"}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (doubling(60), {}),
        ({"$ref": "#"}, {}),
        ({"uniqueItems": True}, [{"a": n} for n in range(20_000)]),
        ({"items": {"type": "object"}}, [{}] * 60_000),
        ({"x": "y" * 100_000}, {}),
        ({"type": "object"}, {"x": "y" * 300_000}),
    ],
    ids=["doubling", "self", "unique", "many", "large schema", "large arguments"],
)
def test_a_costly_schema_is_not_checked(schema, arguments):
    assert fits(schema, arguments) == "not_checked"
