"""Call-shaped JSON nobody knows: guessed, once, and never where a provider knows better."""

from __future__ import annotations

import pytest

from proxy.assembly.choose import claims
from proxy.exchange import Exchange, Head
from proxy.wire import Frame

from .agui_stream import STARTED, call, calls, play
from .mcp_wire import post


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ({"tool_name": "rm", "tool_input": {"path": "a"}, "id": "1"}, "tool_name with tool_input"),
        ({"toolName": "rm", "args": {"path": "a"}, "id": "1"}, "toolName with args"),
        ({"tool": "rm", "parameters": {"path": "a"}, "call_id": "1"}, "tool with parameters"),
        ({"action": "rm", "action_input": {"path": "a"}, "id": "1"}, "action with action_input"),
        ({"name": "rm", "arguments": '{"path": "a"}', "id": "1"}, "name with arguments"),
        ({"id": "1", "function": {"name": "rm", "arguments": '{"path": "a"}'}}, "function {name, arguments}"),
        ({"type": "tool_use", "name": "rm", "input": {"path": "a"}, "id": "1"}, "type tool_use with name and input"),
    ],
)
def test_a_call_shape_is_a_guess_that_says_what_it_rests_on(shape, why):
    (found,) = calls(post({"q": 1}, {"steps": [{"what": shape}]}, target="/run"))
    assert (found.id, found.name, found.arguments, found.kind) == ("1", "rm", {"path": "a"}, "guessed")
    assert found.extra == {"guessed": why}


def test_the_same_call_shown_twice_is_one():
    step = {"tool": "rm", "args": {"path": "a"}}
    assert len(calls(post({}, {"steps": [step, step]}, target="/run"))) == 1
    assert len(calls(post({}, step, step, stream=True, target="/run"))) == 1


def test_calls_inside_arguments_are_not_calls():
    found = calls(post({}, {"tool": "batch", "args": {"inner": {"tool": "rm", "args": {}}}}, target="/run"))
    assert [c.name for c in found] == ["batch"]


def test_arguments_that_stop_in_the_middle_are_an_incomplete_guess():
    (found,) = calls(post({}, {"name": "rm", "arguments": '{"path": "'}, target="/run"))
    assert (found.complete, found.arguments_valid) == (False, False)


@pytest.mark.parametrize(
    "reply", [{"name": "x", "arguments": []}, {"name": "x"}, {"action": "x"}, {"type": "tool_use"}, {"ok": 1}]
)
def test_what_is_not_call_shaped_is_nobodys(reply):
    assert calls(post({}, reply, target="/run")) == []


def test_a_request_is_only_a_claim():
    assert calls(post({"tool": "rm", "args": {"path": "a"}}, {"ok": True}, target="/run")) == []


def test_a_known_provider_outranks_the_guess():
    exchange = Exchange("x", request=Head("POST", "/x"))
    frame = Frame(
        {"choices": [{"message": {"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}}]},
        whole=True,
    )
    assert next(provider.name for _, provider in claims(exchange, frame)) == "openai-chat"
    assert [c.kind for c in calls(play(STARTED, *call("a", '{"tool": "rm", "args": {}}')))] == ["function"]
