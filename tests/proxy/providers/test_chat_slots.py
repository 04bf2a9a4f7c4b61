"""Whose fragment is this: the cases golden streams do not have."""

from __future__ import annotations

import pytest

from classifiers.call import ExecutedBy
from tests.proxy.providers.streams import brief, calls, chat, chunk, entry, exchange, facts, offered, results, sse


def test_a_fragment_after_the_end_reopens_its_call():
    events = chat(
        chunk(entry(0, "a", "f", '{"x":1'), finish="tool_calls"),
        chunk(entry(0, None, None, "}")),
        chunk(finish="stop"),
        finish=None,
    )
    assert brief(events) == [("a", "f", '{"x":1'), ("a", "f", {"x": 1})]
    assert [c.reopened for c in calls(events)] == [False, True]


def test_a_custom_tool_streams_text():
    def part(**custom):
        return {"index": 0, "custom": custom}

    events = chat(
        chunk({**part(name="sql", input=""), "id": "a", "type": "custom"}),
        chunk(part(input="DROP ")),
        chunk(part(input="x")),
    )
    (found,) = calls(events)
    assert (found.kind, found.arguments, found.arguments_valid) == ("custom", "DROP x", None)


def test_tools_the_provider_ran_are_told_once_and_answered_once():
    shown = {"index": 0, "type": "search", "arguments": '{"query":"x"}'}
    events = chat(
        chunk(executed_tools=[shown]),
        chunk(executed_tools=[{**shown, "output": "y"}]),
        chunk(executed_tools=[{**shown, "output": "y"}]),
    )
    assert [(c.name, c.executed_by) for c in calls(events)] == [("search", ExecutedBy.PROVIDER)]
    assert [(r.name, r.reported_by) for r in results(events)] == [("search", "provider")]


@pytest.mark.parametrize("said", [{"name": "", "arguments": ""}, {"name": None, "arguments": None}, {}])
def test_an_empty_legacy_call_on_every_delta_is_none(said):
    assert calls(chat(chunk(function_call=said, content="hi"), finish="stop")) == []


@pytest.mark.parametrize(
    ("choice", "forced"),
    [
        ("required", "*"),
        ("any", "*"),
        ("auto", None),
        ({"type": "function", "function": {"name": "f"}}, "f"),
        ({"type": "custom", "custom": {"name": "g"}}, "g"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}, "*"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, None),
    ],
)
def test_what_the_request_insists_on(choice, forced):
    tools = [{"type": "function", "function": {"name": "f"}}, {"type": "browser_search"}]
    events = exchange(sse(chunk(content="x")), {"messages": [], "tools": tools, "tool_choice": choice})
    assert offered(events).forced == forced
    assert [d.name for d in offered(events).definitions] == ["f", "browser_search"]


def test_a_call_without_any_arguments_has_none():
    (found,) = calls(chat(chunk(entry(0, "a", "f"))))
    assert (found.arguments, found.arguments_text, found.arguments_valid) == (None, "", None)


def test_facts_are_told_when_they_change():
    events = chat(chunk(content="x"), chunk(content="y"), {"choices": [], "usage": {"prompt_tokens": 3}}, finish="stop")
    known = facts(events)
    assert (known["response_id"], known["model"], known["usage"], known["finish_reason"]) == (
        "c1",
        "m",
        {"input": 3},
        "stop",
    )
