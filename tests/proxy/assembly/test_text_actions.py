"""Actions in the model's text: found per profile, in every API's text, and never without being asked for."""

from __future__ import annotations

import json

import pytest

from classifiers.call import ExecutedBy, ObservedAt
from classifiers.context import Context
from classifiers.effects import Certainty, Surface
from proxy.analyzer.readings import read_in_all_ways
from proxy.assembly import ExchangeAssembler
from proxy.assembly.text_actions import TextReader, coverage, patterns_of, profiles
from proxy.events import CallClosed
from proxy.exchange import Ending, Exchange, Head
from proxy.wire import Frame

SHELL = "First:\n```bash\nrm -rf build\nmake\n```\nThen look:\n```text\nrm -rf /\n```\n"
EDIT = "src/main.py\n```python\n<<<<<<< SEARCH\nold = 1\n=======\nnew = 2\n>>>>>>> REPLACE\n```\n"
ELEMENTS = "<execute_command>\n<command>rm a.txt</command>\n</execute_command><write_to_file><path>b.txt</path><content>\nx\n</content></write_to_file>"


def read(text, profile, ending=Ending.COMPLETE, step=7):
    reader = TextReader(patterns_of(profile))
    for at in range(0, len(text), step):
        reader.feed(Frame({"choices": [{"delta": {"content": text[at : at + step]}}]}))
    return [(c.call.name, c.call.arguments, c.call.complete) for c in reader.close(ending)]


@pytest.mark.parametrize(
    ("profile", "text", "found"),
    [
        ("aider", SHELL, [("bash", {"command": "rm -rf build\nmake"}, True)]),
        ("aider", EDIT, [("edit_file", {"path": "src/main.py", "old_str": "old = 1", "new_str": "new = 2"}, True)]),
        (
            "cline",
            ELEMENTS,
            [("bash", {"command": "rm a.txt"}, True), ("write_file", {"path": "b.txt", "content": "x"}, True)],
        ),
        ("code-agent", "<code>\nprint(1)\n</code>", [("python", {"code": "print(1)"}, True)]),
        ("open-interpreter", "```python\nprint(1)", [("python", {"code": "print(1)"}, False)]),
        ("cline", "<execute_command><command>rm -r", [("bash", {"command": "rm -r"}, False)]),
        (
            "aider",
            "<<<<<<< SEARCH\na\n=======\nb",
            [("edit_file", {"path": "", "old_str": "a", "new_str": "b"}, False)],
        ),
        ("aider", "no action here ```bash inline```", []),
    ],
)
def test_blocks_are_found_as_their_harness_would(profile, text, found):
    assert read(text, profile) == found


def test_a_response_that_was_cut_off_has_no_complete_action():
    assert [complete for _, _, complete in read(SHELL, "aider", Ending.TRUNCATED)] == [False]


@pytest.mark.parametrize(
    "frame",
    [
        {"choices": [{"message": {"content": SHELL}}, {"message": {"content": "```bash\nother choice\n```"}}]},
        {"content": [{"type": "text", "text": SHELL}]},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": SHELL}},
        {"type": "response.output_text.delta", "delta": SHELL},
        {"output": [{"content": [{"type": "output_text", "text": SHELL}]}]},
        {"candidates": [{"content": {"parts": [{"text": SHELL}]}}]},
        {"message": {"content": SHELL}, "done": True},
        {"type": "TEXT_MESSAGE_CONTENT", "delta": SHELL},
    ],
)
def test_every_apis_text_is_read(frame):
    reader = TextReader(patterns_of("aider"))
    reader.feed(Frame(frame))
    assert [c.call.arguments for c in reader.close(Ending.COMPLETE)] == [{"command": "rm -rf build\nmake"}]


def test_arguments_of_tool_calls_are_no_text():
    reader = TextReader(patterns_of("aider"))
    reader.feed(Frame({"type": "response.function_call_arguments.delta", "delta": SHELL}))
    assert list(reader.close(Ending.COMPLETE)) == []


@pytest.mark.parametrize(("patterns", "names"), [((), []), (patterns_of("aider"), ["bash"])])
def test_an_exchange_is_read_for_actions_only_when_asked(patterns, names):
    body = json.dumps(
        {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": SHELL}}]}
    ).encode()
    exchange = Exchange("x", request=Head("POST", "/v1/chat/completions"), text_patterns=patterns)
    assembler = ExchangeAssembler(exchange)
    events = assembler.request_end() + assembler.response_head(
        Head(status=200, headers=(("content-type", "application/json"),))
    )
    events += assembler.response_body(body) + assembler.end()
    found = [e.call for e in events if isinstance(e, CallClosed)]
    assert [c.name for c in found] == names
    assert all(
        (c.kind, c.observed_at, c.executed_by) == ("text_action", ObservedAt.TEXT, ExecutedBy.CLIENT) for c in found
    )


def test_effects_of_text_are_possible_and_not_definite():
    from classifiers import classify

    (closed,) = _closed(SHELL)
    action = read_in_all_ways(closed, lambda call: classify(call, Context()))
    assert action.surface is Surface.TEXT_ACTION
    assert action.effects
    assert {effect.certainty for effect in action.effects} == {Certainty.POSSIBLE}


def _closed(text):
    reader = TextReader(patterns_of("aider"))
    reader.feed(Frame({"choices": [{"delta": {"content": text}}]}))
    return [event.call for event in reader.close(Ending.COMPLETE)]


def test_sessions_say_whether_their_text_was_read():
    assert (coverage("aider", None), coverage("aider", "aider"), coverage("codex", None)) == ("not_read", "read", None)
    assert all(patterns_of(profile) for profile in profiles())
    assert patterns_of("no such profile") == ()
