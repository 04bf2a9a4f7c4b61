"""AG-UI 1.0: each rule that binds a consumer, one test."""

from __future__ import annotations

import pytest

from classifiers.call import Advertised, ApprovalState, ExecutedBy, Outcome
from proxy.events import HistorySeen, Unread

from .agui_stream import (
    FINISHED,
    STARTED,
    args,
    call,
    calls,
    chunk,
    end,
    facts,
    finished,
    play,
    result,
    results,
    run_input,
    sse,
    start,
)

LS = '{"command":"ls"}'


def test_a_call_is_yielded_when_it_closes_and_not_when_the_run_ends():
    found = calls(play(STARTED, *call("a")))
    assert [(c.id, c.name, c.arguments, c.complete) for c in found] == [("a", "run_shell", {"command": "ls"}, True)]


def test_interleaved_calls_keep_their_own_text():
    found = calls(
        play(
            STARTED,
            start("a"),
            start("b", "query"),
            args("a", '{"x":'),
            args("b", "{}"),
            args("a", "1}"),
            end("b"),
            end("a"),
        )
    )
    assert [(c.id, c.arguments) for c in found] == [("b", {}), ("a", {"x": 1})]
    assert [c.ordinal for c in found] == [1, 0]


def test_chunks_open_continue_without_an_id_and_close_at_any_other_event():
    found = calls(play(STARTED, chunk('{"command":', "c", "run_shell"), chunk('"ls"}'), FINISHED))
    assert [(c.id, c.arguments, c.complete, c.client_would_reject) for c in found] == [
        ("c", {"command": "ls"}, True, False)
    ]


def test_a_chunk_with_another_id_closes_the_one_before():
    found = calls(play(STARTED, chunk("{}", "a", "one"), chunk("[", "b", "two"), chunk("]", "b"), FINISHED))
    assert [(c.id, c.arguments_text) for c in found] == [("a", "{}"), ("b", "[]")]


def test_raw_and_activity_events_pass_beside_a_chunked_call():
    found = calls(play(STARTED, chunk("[", "a", "one"), {"type": "RAW", "event": {}}, chunk("]"), FINISHED))
    assert [c.arguments for c in found] == [[]]


def test_two_subagents_chunk_side_by_side():
    found = calls(
        play(
            STARTED,
            chunk('{"n":', "a", "one", subagentRunId="s1"),
            chunk('{"n":', "b", "one", subagentRunId="s2"),
            chunk("1}", subagentRunId="s1"),
            chunk("2}", subagentRunId="s2"),
            FINISHED,
        )
    )
    assert [(c.id, c.arguments, c.subagent_id) for c in found] == [("a", {"n": 1}, "s1"), ("b", {"n": 2}, "s2")]


def test_a_first_chunk_without_an_id_is_unread_and_the_client_would_abort():
    events = play(STARTED, chunk("{}"), FINISHED)
    assert calls(events) == []
    assert [e.reason for e in events if isinstance(e, Unread)] == ["a chunk without an id continues nothing"]
    assert facts(events)["client_would_reject"]


def test_a_chunk_that_renames_its_call_is_kept_with_both_names():
    (found,) = calls(play(STARTED, chunk("{", "a", "read"), chunk("}", "a", "delete"), FINISHED))
    assert (found.name, found.arguments, found.conflicts) == ("read", {}, ("name: read | delete",))
    assert found.client_would_reject
    assert found.extra["other_names"] == ["delete"]


def test_text_that_does_not_parse_is_kept():
    (found,) = calls(play(STARTED, *call("a", '{"command": "ls')))
    assert (found.complete, found.arguments_valid, found.arguments_text) == (True, False, '{"command": "ls')
    assert found.arguments_error


def test_a_start_with_the_same_id_reopens_and_the_superseding_call_has_all_the_text():
    found = calls(play(STARTED, start("a"), args("a", '{"x":1'), end("a"), start("a"), args("a", "}"), end("a")))
    assert [(c.arguments_text, c.reopened) for c in found] == [('{"x":1', False), ('{"x":1}', True)]
    assert not found[1].client_would_reject


def test_a_result_does_not_reopen():
    events = play(STARTED, *call("a"), result("a", "file"), FINISHED)
    assert len(calls(events)) == len(results(events)) == 1


@pytest.mark.parametrize(
    ("again", "conflict"),
    [
        (start("a", "delete", parentMessageId="m1", subagentRunId="s1"), "name: run_shell | delete"),
        (start("a", parentMessageId="m2", subagentRunId="s1"), "parent: m1 | m2"),
        (start("a", parentMessageId="m1", subagentRunId="s2"), "owner: s1 | s2"),
    ],
)
def test_a_reopening_that_disagrees_keeps_both_readings(again, conflict):
    opened = start("a", parentMessageId="m1", subagentRunId="s1")
    found = calls(play(STARTED, opened, args("a", LS), end("a"), again, end("a")))
    assert found[1].reopened
    assert found[1].conflicts == (conflict,)


def test_an_answer_in_the_stream_says_the_agent_ran_it():
    (found,) = results(play(STARTED, *call("a"), result("a", "done"), FINISHED, request=run_input()))
    assert (found.source, found.reported_by, found.outcome) == ("stream", "agent", Outcome.UNKNOWN)
    assert found.extra == {"executed_by": "agent", "advertised": "not_needed"}


def test_an_advertised_tool_is_the_clients_until_the_producer_answers_it():
    events = play(STARTED, *call("a"), result("a", "made up"), FINISHED, request=run_input(tools=["run_shell"]))
    (found,) = calls(events)
    assert (found.executed_by, found.advertised, found.definition.name) == (
        ExecutedBy.CLIENT,
        Advertised.YES,
        "run_shell",
    )
    assert results(events)[0].extra["answered_by_producer"] is True


def test_a_tool_nobody_advertised_is_unknown_until_answered():
    (found,) = calls(play(STARTED, *call("a"), FINISHED, request=run_input(tools=["other"])))
    assert (found.executed_by, found.advertised) == (ExecutedBy.UNKNOWN, Advertised.UNKNOWN)


@pytest.mark.parametrize(
    ("last", "declared"),
    [
        (FINISHED, None),
        (finished("success", pendingToolCallIds=[]), []),
        (finished("success", pendingToolCallIds=["a"]), ["a"]),
        (finished("interrupt", interrupts=[]), None),
        ({"type": "RUN_ERROR", "message": "broke"}, None),
    ],
)
def test_what_is_pending_is_declared_and_derived(last, declared):
    events = play(STARTED, *call("a"), *call("b"), result("b", "x"), last)
    assert facts(events)["pending"] == {"declared": declared or ([] if declared == [] else None), "derived": ["a"]}


def test_a_pending_list_that_disagrees_is_told_of_each_call_it_is_wrong_about():
    events = play(
        STARTED, *call("a"), *call("b"), result("b", "x"), finished("success", pendingToolCallIds=["b", "ghost"])
    )
    found = [(r.id, r.extra) for r in results(events) if not r.final]
    assert found == [
        ("a", {"pending_disagrees": True, "declared": False}),
        ("b", {"pending_disagrees": True, "declared": True}),
    ]


def test_a_stream_that_just_stops_still_says_what_is_pending():
    assert facts(play(STARTED, *call("a")))["pending"] == {"declared": None, "derived": ["a"]}


@pytest.mark.parametrize("last", [FINISHED, {"type": "RUN_ERROR", "message": "broke"}, None])
def test_a_call_open_at_the_end_is_incomplete(last):
    (found,) = calls(play(STARTED, start("a"), args("a", '{"command":"rm'), *([last] if last else [])))
    assert (found.complete, found.arguments_text, found.client_would_reject) == (False, '{"command":"rm', True)


def test_a_chunked_call_cut_by_an_error_is_incomplete_unless_its_text_is_whole():
    broke = {"type": "RUN_ERROR", "message": "broke"}
    assert [calls(play(STARTED, chunk(text, "a", "x"), broke))[0].complete for text in ('{"a":', "{}")] == [False, True]


def test_an_interrupt_makes_its_call_wait_for_approval():
    asked = {"id": "i1", "reason": "tool_approval", "toolCallId": "a", "expiresAt": "2026-12-01T00:00:00Z"}
    (found,) = results(play(STARTED, *call("a"), finished("interrupt", interrupts=[asked])))
    assert (found.final, found.approval.state, found.approval.deadline) == (
        False,
        ApprovalState.REQUIRED,
        asked["expiresAt"],
    )
    assert found.status is None


@pytest.mark.parametrize(
    ("entry", "at_ns", "state", "outcome"),
    [
        ({"status": "resolved", "payload": {"approved": True}}, 0, ApprovalState.APPROVED, Outcome.UNKNOWN),
        ({"status": "resolved", "payload": {"approved": False}}, 0, ApprovalState.REJECTED, Outcome.REJECTED),
        ({"status": "resolved", "payload": {"note": "fine"}}, 0, ApprovalState.UNKNOWN, Outcome.UNKNOWN),
        ({"status": "cancelled"}, 0, ApprovalState.REJECTED, Outcome.REJECTED),
        (
            {"status": "resolved", "payload": {"approved": True}},
            4_000_000_000 * 10**9,
            ApprovalState.LATE,
            Outcome.UNKNOWN,
        ),
    ],
)
def test_resume_entries_decide_and_only_an_explicit_word_approves(entry, at_ns, state, outcome):
    shared: dict = {}
    asked = {"id": "i1", "reason": "tool_approval", "toolCallId": "a", "expiresAt": "2026-12-01T00:00:00Z"}
    play(STARTED, *call("a"), finished("interrupt", interrupts=[asked]), shared=shared)
    resume = run_input(resume=[{"interruptId": "i1", **entry}], runId="r2")
    (found,) = results(play({**STARTED, "runId": "r2"}, FINISHED, request=resume, shared=shared, at_ns=at_ns))
    assert (found.id, found.name, found.approval.state, found.outcome) == ("a", "run_shell", state, outcome)
    assert (found.approval.asserted_by, found.reported_by, found.final) == ("request", "harness", False)


def test_a_call_re_emitted_after_its_approval_is_the_same_call():
    shared: dict = {}
    asked = {"id": "i1", "toolCallId": "a"}
    play(STARTED, *call("a"), finished("interrupt", interrupts=[asked]), shared=shared)
    again = play({**STARTED, "runId": "r2"}, *call("a"), result("a", "ok"), FINISHED, shared=shared)
    assert [c.reopened for c in calls(again)] == [True]


def test_an_id_used_again_for_another_action_is_another_call():
    shared: dict = {}
    play(STARTED, *call("a", name="ask"), FINISHED, shared=shared)
    answer = {"role": "tool", "toolCallId": "a", "content": "yes"}
    again = play(STARTED, *call("a", name="pay"), FINISHED, request=run_input(answer), shared=shared)
    assert [(c.name, c.reopened, c.extra) for c in calls(again)] == [("pay", False, {"id_reused": True})]


@pytest.mark.parametrize(
    ("message", "outcome", "error"),
    [
        ({"content": "2 files"}, Outcome.UNKNOWN, None),
        ({"content": ""}, Outcome.ANSWERED_EMPTY, None),
        ({"content": "", "error": "denied by user"}, Outcome.ERROR, "denied by user"),
        ({"error": "denied by user"}, Outcome.ERROR, "denied by user"),
    ],
)
def test_a_tool_message_in_the_next_run_answers_a_client_call(message, outcome, error):
    shared: dict = {}
    play(STARTED, *call("a"), FINISHED, request=run_input(tools=["run_shell"]), shared=shared)
    answer = run_input({"role": "tool", "toolCallId": "a", **message}, runId="r2")
    (found,) = results(play(STARTED, FINISHED, request=answer, shared=shared))
    assert (found.id, found.name, found.outcome, found.error) == ("a", "run_shell", outcome, error)
    assert (found.source, found.reported_by, found.final) == ("request", "harness", True)


def test_a_client_that_answers_a_tool_its_list_lacks_ran_something_unadvertised():
    shared: dict = {}
    play(STARTED, *call("a"), FINISHED, request=run_input(tools=["other"]), shared=shared)
    (found,) = results(
        play(STARTED, request=run_input({"role": "tool", "toolCallId": "a", "content": "x"}), shared=shared)
    )
    assert found.extra == {"executed_by": "client", "advertised": "no"}


def test_a_tool_message_without_content_answers_nothing():
    shared: dict = {}
    play(STARTED, *call("a"), FINISHED, shared=shared)
    events = play(STARTED, FINISHED, request=run_input({"role": "tool", "toolCallId": "b"}), shared=shared)
    assert [(r.id, r.final, r.extra) for r in results(events)] == [("a", False, {"unanswered": "continued"})]


def test_answers_that_are_sent_again_every_turn_count_once():
    shared: dict = {}
    play(STARTED, *call("a"), FINISHED, shared=shared)
    answer = {"role": "tool", "toolCallId": "a", "content": "x"}
    seen = [results(play(STARTED, FINISHED, request=run_input(answer), shared=shared)) for _ in range(3)]
    assert [len(found) for found in seen] == [1, 0, 0]


def test_a_history_that_tells_the_answer_differently_is_said_and_overwrites_nothing():
    shared: dict = {}
    play(STARTED, *call("a"), result("a", "kept 3 files"), FINISHED, shared=shared)
    answer = {"role": "tool", "toolCallId": "a", "content": "deleted 3 files"}
    (found,) = results(play(STARTED, FINISHED, request=run_input(answer), shared=shared))
    assert (found.final, found.extra) == (False, {"disagrees": True})


def test_history_is_a_claim_and_a_changed_one_is_said():
    shared: dict = {}
    play(STARTED, *call("a"), FINISHED, shared=shared)
    told = {"id": "a", "type": "function", "function": {"name": "run_shell", "arguments": '{"command":"rm -rf /"}'}}
    events = play(STARTED, FINISHED, request=run_input({"role": "assistant", "toolCalls": [told]}), shared=shared)
    assert calls(events) == []
    assert [e.call_ids for e in events if isinstance(e, HistorySeen)] == [("a",)]
    assert {"history_disagrees": True} in [r.extra for r in results(events)]


def test_parts_are_described_and_not_kept():
    parts = [
        {"type": "text", "text": "done"},
        {"type": "image", "source": {"type": "url", "value": "https://pictures.example/a.png"}},
        {"type": "audio", "source": {"type": "data", "value": "AAAA", "mimeType": "audio/wav"}},
        {"type": "hologram"},
    ]
    (found,) = results(play(STARTED, *call("a"), result("a", parts), FINISHED))
    assert [(p["type"], p["source"], p["mime"], p["bytes"]) for p in found.parts] == [
        ("text", "inline", "text/plain", 4),
        ("image", "url", None, 30),
        ("audio", "data", "audio/wav", 4),
        ("hologram", "unknown", None, 0),
    ]
    assert found.lossy


def test_a_cancelled_run_marks_what_it_left_unanswered():
    found = results(play(STARTED, *call("a"), *call("b"), result("b", "x"), finished("cancelled")))
    assert [(r.id, r.outcome, r.final) for r in found] == [
        ("b", Outcome.UNKNOWN, True),
        ("a", Outcome.CANCELLED, False),
    ]


def test_nothing_that_only_repeats_is_counted():
    repeated = {"id": "old", "type": "function", "function": {"name": "rm", "arguments": "{}"}}
    events = play(
        {**STARTED, "input": {"messages": [{"role": "assistant", "toolCalls": [repeated]}]}},
        {"type": "RAW", "event": {"choices": [{"delta": {"tool_calls": [{"id": "x", "function": {"name": "n"}}]}}]}},
        {"type": "CUSTOM", "name": "tool_call", "value": {"toolCallId": "y", "toolCallName": "n"}},
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"role": "assistant", "toolCalls": [repeated]}]},
        {"type": "SOMETHING_NEW", "toolCallId": "z"},
        {**start("a"), "rawEvent": {"type": "function_call", "name": "run_shell", "call_id": "a"}},
        args("a", LS),
        end("a"),
        FINISHED,
    )
    assert [c.id for c in calls(events)] == ["a"]
    assert "client_would_reject" not in facts(events)


def test_a_snapshot_only_adds_an_answer_nobody_reported():
    told = [{"role": "tool", "toolCallId": i, "content": "x", "error": "no"} for i in ("a", "old")]
    found = results(
        play(STARTED, *call("a"), result("a", "y"), {"type": "MESSAGES_SNAPSHOT", "messages": told}, FINISHED)
    )
    assert [(r.id, r.outcome) for r in found] == [("a", Outcome.UNKNOWN), ("old", Outcome.ERROR)]


@pytest.mark.parametrize(
    ("events", "ids"),
    [
        ([STARTED, start("a"), args("a", "{"), start("a"), args("a", "}"), end("a"), FINISHED], ["a"]),
        ([STARTED, args("ghost", "{}"), *call("a"), FINISHED], ["a"]),
        ([STARTED, end("ghost"), *call("a"), FINISHED], ["a"]),
        ([STARTED, STARTED, *call("a"), FINISHED], ["a"]),
        ([*call("a"), FINISHED], ["a"]),
        ([STARTED, FINISHED, *call("a")], ["a"]),
        ([STARTED, {"type": "RUN_ERROR", "message": "x"}, *call("a")], ["a"]),
    ],
)
def test_where_the_official_client_aborts_assembly_goes_on_and_says_so(events, ids):
    found = play(*events)
    assert [c.id for c in calls(found)] == ids
    assert all(c.client_would_reject and c.complete for c in calls(found))
    assert facts(found)["client_would_reject"]


def test_another_call_starting_while_one_is_open_is_normal():
    """CopilotKit#2481: a bridge that opened a second call lost the first."""
    found = play(STARTED, start("a"), start("b"), args("b", LS), end("b"), args("a", LS), end("a"), FINISHED)
    assert [(c.id, c.arguments, c.client_would_reject) for c in calls(found)] == [
        ("b", {"command": "ls"}, False),
        ("a", {"command": "ls"}, False),
    ]


def test_snake_case_is_read_too():
    events = play(
        {"type": "RUN_STARTED", "thread_id": "t1", "run_id": "r1"},
        {"type": "TOOL_CALL_START", "tool_call_id": "a", "tool_call_name": "run_shell", "parent_message_id": ""},
        {"type": "TOOL_CALL_ARGS", "tool_call_id": "a", "delta": LS},
        {"type": "TOOL_CALL_END", "tool_call_id": "a"},
        {"type": "RUN_FINISHED", "thread_id": "t1", "outcome": {"type": "success", "pending_tool_call_ids": ["a"]}},
    )
    (found,) = calls(events)
    assert (found.id, found.arguments, found.parent_message, found.thread_id) == ("a", {"command": "ls"}, None, "t1")
    assert facts(events)["pending"]["declared"] == ["a"]


def test_usage_and_outcome_become_facts():
    usage = [{"inputTokens": 5, "outputTokens": 2}, {"inputTokens": 1, "reasoningTokens": 4}]
    found = facts(play(STARTED, {**finished("success"), "usage": usage}))
    assert found["usage"] == {"input": 6, "output": 2, "reasoning": 4}
    assert found["finish_reason"] == "success"


def test_every_cut_gives_the_same_events():
    stream = (
        STARTED,
        start("a"),
        args("a", '{"t":"é✓'),
        args("a", '"}'),
        end("a"),
        chunk("{}", "b", "n"),
        result("a", ""),
        FINISHED,
    )
    whole = play(*stream, request=run_input(tools=["n"]))
    for step in (1, 2, 3, 7, 64):
        assert play(*stream, request=run_input(tools=["n"]), step=step) == whole


def test_an_event_that_is_not_json_is_unread_and_the_rest_is_read():
    events = play(body=sse([STARTED]) + b"data: oops\n\n" + sse(call("a")))
    assert [c.id for c in calls(events)] == ["a"]
    assert [e.size_bytes > 0 for e in events if isinstance(e, Unread)] == [True]
