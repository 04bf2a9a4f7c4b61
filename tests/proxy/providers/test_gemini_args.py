"""Streamed Gemini arguments: paths, appends, and what a path may not ask for."""

from __future__ import annotations

import pytest

from proxy.providers._gemini_args import PartialArgs


def built(*entries):
    args = PartialArgs()
    args.add([{"jsonPath": path, **value} for path, value in entries])
    return args


def text(value):
    return {"stringValue": value}


@pytest.mark.parametrize(
    ("entries", "value"),
    [
        ([("$.a", text("x")), ("$.a", text("y"))], {"a": "xy"}),
        ([("$.a.b[1].c", {"numberValue": 2})], {"a": {"b": [None, {"c": 2}]}}),
        ([("$['a b'][\"c\"]", {"boolValue": False})], {"a b": {"c": False}}),
        ([("$.a", {"nullValue": "NULL_VALUE"})], {"a": None}),
        ([("$.a[0][1]", text("x"))], {"a": [[None, "x"]]}),
        ([("$.a", {"numberValue": 1}), ("$.a", {"numberValue": 2})], {"a": 2}),
    ],
)
def test_paths_build_one_object(entries, value):
    args = built(*entries)
    assert (args.value, args.problem) == (value, None)


@pytest.mark.parametrize(
    "entries",
    [
        [("a.b", text("x"))],
        [("$", text("x"))],
        [("$.a", {})],
        [("$..a", text("x"))],
        [("$.a[99999999999]", text("x"))],
        [("$.a[1000]", text("x"))],
        [("$.a", text("x")), ("$.a.b", text("y"))],
        [("$." + "a." * 200 + "b", text("x"))],
    ],
)
def test_what_a_path_may_not_ask_for_is_a_problem_and_changes_nothing_else(entries):
    args = built(*entries, ("$.ok", text("z")))
    assert args.problem
    assert args.value["ok"] == "z"
    assert len(str(args.value)) < 2000
