"""A closed call with the argument text "" has no arguments, on every wire whose arguments are text."""

from __future__ import annotations

import pytest

from .agui_stream import FINISHED, STARTED, end, play, start
from .streams import (
    added,
    anthropic,
    block,
    calls,
    chat,
    chunk,
    completed,
    created,
    done,
    entry,
    exchange,
    item,
    piece,
    responses,
    started,
    stop,
)

WHOLE = {"choices": [{"message": {"tool_calls": [entry(0, "a", "f", "")]}, "finish_reason": "tool_calls"}]}
WIRES = {
    "chat, streamed": lambda: chat(chunk(entry(0, "a", "f", ""))),
    "chat, whole": lambda: exchange(WHOLE, {"messages": []}, target="/v1/chat/completions"),
    "chat, spaces": lambda: chat(chunk(entry(0, "a", "f", " \n"))),
    "responses": lambda: responses(created(), added(item()), done({**item(), "arguments": ""}), completed()),
    "ag-ui": lambda: play(STARTED, start("a"), end("a"), FINISHED),
}


@pytest.mark.parametrize("wire", WIRES)
def test_no_argument_text_is_a_call_without_arguments(wire):
    (call,) = calls(WIRES[wire]())
    assert (call.arguments, call.arguments_valid, call.arguments_error) == ({}, None, None)
    assert call.complete
    assert not call.arguments_text.strip()


def test_where_the_wire_builds_on_an_empty_object_that_is_what_is_left():
    (call,) = calls(anthropic(started(), block(0, "a", "f"), piece(0, ""), stop(0)))
    assert (call.arguments, call.arguments_text, call.arguments_valid) == ({}, "{}", True)


def test_no_text_yet_is_not_the_same_as_no_arguments():
    (call,) = calls(chat(chunk(entry(0, "a", "f", "")), finish=None))
    assert (call.complete, call.arguments, call.arguments_valid) == (False, None, False)
