"""From captured bytes to records: each call once, as soon as it closes, with what is known around it."""

from dataclasses import replace

from proxy.exchange import Ending
from proxy.spool.events import Dropped, Opaque, Refused

TOOLS = [
    {
        "name": "Bash",
        "description": "run",
        "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    }
]


def ask(*messages, **more):
    return {"model": "m-1", "max_tokens": 10, "stream": True, "tools": TOOLS, "messages": list(messages), **more}


USER = {"role": "user", "content": "tidy up"}


def tool_use(call_id, command):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}],
    }


def tool_result(call_id, text="done", **more):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text, **more}]}


def test_a_call_is_recorded_as_soon_as_it_closes_and_not_at_the_streams_end(bench, wire):
    stream = wire.tool("Bash", {"command": "rm -rf build"}, "toolu_0000000001")
    events = wire.exchange(1, ask(USER), stream, cut=stream.index(b"event: message_delta"))
    bench.feed(events[:6])
    (action,) = bench.log.of("action")
    assert (action["call"]["name"], action["call"]["complete"], action["call"]["advertised"]) == ("Bash", True, "yes")
    assert action["call"]["arguments"] == {"command": "rm -rf build"}
    assert action["session"]["id"] == "s-1"
    assert action["agent"]["id"] == "claude-code"
    assert action["exchange"]["protocol"] == "anthropic-messages"
    bench.feed(events[6:])
    assert len(bench.log.of("action")) == 1
    assert bench.log.of("unread") == []


def test_the_next_requests_history_gives_an_outcome_once_and_no_calls(bench, wire):
    first = wire.exchange(1, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000001"))
    history = (USER, tool_use("toolu_0000000001", "ls"), tool_result("toolu_0000000001", is_error=True))
    second = wire.exchange(2, ask(*history), wire.tool("Bash", {"command": "pwd"}, "toolu_0000000002"))
    third = wire.exchange(3, ask(*history, tool_use("toolu_0000000002", "pwd"), tool_result("toolu_0000000002")), b"")
    bench.feed([*first, *second, *third])
    actions, outcomes = bench.log.of("action"), bench.log.of("outcome")
    assert [a["call"]["id"] for a in actions] == ["toolu_0000000001", "toolu_0000000002"]
    assert [o["action"] for o in outcomes] == [a["id"] for a in actions]
    assert outcomes[0]["outcome"] == "error"
    assert [a["session"]["turn"] for a in actions] == [1, 2]


def test_a_session_starts_once_and_its_end_sums_up(bench, wire):
    bench.feed(wire.exchange(1, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000001")))
    bench.feed(wire.exchange(2, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000002")))
    bench.analyzer.end_all("exit")
    start, end = bench.log.of("session")
    assert (start["event"], end["event"], end["reason"]) == ("start", "end", "exit")
    assert (end["summary"]["calls"], end["summary"]["unanswered"], end["summary"]["turns"]) == (2, 2, 2)
    assert end["summary"]["tools_offered"]["Bash"]["schema_hash"]


def test_a_stream_cut_off_inside_the_arguments_is_an_incomplete_call(bench, wire):
    stream = wire.tool("Bash", {"command": "rm -rf /srv/app"}, "toolu_0000000001")
    cut = stream[: stream.index(b"event: content_block_stop")]
    bench.feed(wire.exchange(1, ask(USER), cut, ending=Ending.TRUNCATED))
    (action,) = bench.log.of("action")
    assert action["call"]["complete"] is False
    assert action["policy"] == []


def test_the_directory_in_the_agents_prompt_is_where_relative_paths_stand(bench, wire):
    request = ask(USER, system="<env>\nWorking directory: /home/dev/shop\n</env>")
    bench.feed(wire.exchange(1, request, wire.tool("Bash", {"command": "ls"}, "toolu_0000000001")))
    assert bench.log.of("action")[0]["session"]["cwd"] == {"value": "/home/dev/shop", "source": "prompt"}


def test_arguments_outside_the_advertised_schema_are_marked(bench, wire):
    bench.feed(wire.exchange(1, ask(USER), wire.tool("Bash", {"cmd": "ls"}, "toolu_0000000001")))
    assert bench.log.of("action")[0]["call"]["schema_valid"] is False


def test_a_body_nobody_can_read_is_an_unread_record(bench, wire):
    bench.feed(
        wire.exchange(1, {"what": 1}, b"\x00\x01\x02", path="/x", content_type="application/x-strange", headers=())
    )
    assert {u["unread"]["reason"] for u in bench.log.of("unread")} == {"no_provider"}
    assert bench.log.of("action") == []


def test_a_classifier_that_raises_costs_its_effects_and_not_the_call(bench, wire):
    def broken(_call, _context):
        raise RuntimeError("no")

    bench.desk.classify = broken
    bench.feed(wire.exchange(1, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000001")))
    (failure,) = bench.log.of("analysis_failed")
    (action,) = bench.log.of("action")
    assert failure["failure"]["stage"] == "classify"
    assert action["classification"]["complete"] is False


def test_gaps_refusals_and_tunnels_are_records(bench):
    bench.feed(
        [
            Dropped("r0", 5, 3, 100, 200, "spool_full", 7, 9),
            Refused("r0", 10, 6, 400, "duplicate_content_length", {"peer": "127.0.0.1:1"}),
            Opaque("r0", 11, 7, "h2.example:443", 10, 20, 1.5, "http2"),
        ]
    )
    assert bench.log.of("gap")[0]["gap"]["exchanges"] == 3
    assert bench.log.of("refusal")[0]["refusal"]["status"] == 400
    assert bench.log.of("opaque_flow")[0]["flow"]["host"] == "h2.example:443"
    assert bench.desk.metrics.total("onlooker_exchanges_gap_total") == 3


def test_bytes_lost_in_the_middle_of_an_exchange_are_a_gap_of_their_own(bench, wire):
    events = wire.exchange(1, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000001"))
    events[-1] = replace(events[-1], ending=Ending.TRUNCATED, lost="spool_full", lost_in=0, lost_out=900)
    bench.feed(events)
    (gap,) = bench.log.of("gap")
    said = {k: gap["gap"][k] for k in ("exchanges", "bytes_out", "first_exchange", "last_exchange", "reason")}
    assert said == {"exchanges": 0, "bytes_out": 900, "first_exchange": 1, "last_exchange": 1, "reason": "spool_full"}
    assert bench.desk.metrics.total("onlooker_exchanges_gap_total") == 0
    assert bench.desk.book.sessions["s-1"].counts["gaps"] == 1


def test_an_idle_session_ends_and_its_next_call_starts_another(bench, wire):
    bench.feed(wire.exchange(1, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000001")))
    bench.analyzer.end_idle(bench.desk.book.sessions["s-1"].last_at + 1801)
    bench.feed(wire.exchange(2, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000002")))
    assert [r["event"] for r in bench.log.of("session")] == ["start", "end", "start"]


READ_A = {"name": "read_file", "arguments": {"path": "/a"}}
SERVED = b'{"jsonrpc": "2.0", "id": 4, "result": {"content": [{"type": "text", "text": "x"}]}}'


def served(wire, pid):
    """The tool server's request for what the model asked for in exchange 1, by the process ``pid``."""
    headers = ("Mcp-Session-Id: m-1", "MCP-Protocol-Version: 2025-06-18")
    call = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": READ_A}
    where = {"peer": {"addr": "unix", "pid": pid, "uid": 7}}
    return wire.exchange(2, call, SERVED, path="/mcp", headers=headers, content_type="application/json", meta=where)


def asked(wire):
    where = {"peer": {"addr": "unix", "pid": 41, "uid": 7}}
    return wire.exchange(
        1, ask(USER), wire.tool("mcp__files__read_file", {"path": "/a"}, "toolu_0000000001"), meta=where
    )


def test_a_tool_servers_sight_of_the_models_call_is_no_second_action(bench, wire):
    bench.feed([*asked(wire), *served(wire, 41)])
    (action,), (sighting,) = bench.log.of("action"), bench.log.of("sighting")
    assert (sighting["action"], sighting["leg"], sighting["matched_by"]) == (action["id"], "mcp", "arguments")
    (outcome,) = bench.log.of("outcome")
    assert (outcome["action"], outcome["reported_by"]) == (action["id"], "tool_server")


def test_an_equal_call_of_another_process_is_an_action_of_its_own(bench, wire):
    bench.feed([*asked(wire), *served(wire, 42)])
    assert [a["session"]["id"] for a in bench.log.of("action")] == ["s-1", "m-1"]
    assert bench.log.of("sighting") == []


def test_a_client_without_ids_is_followed_by_its_history(bench, wire):
    plain = ("User-Agent: curl/8",)
    first = wire.exchange(1, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000001"), headers=plain)
    history = (USER, tool_use("toolu_0000000001", "ls"), tool_result("toolu_0000000001"))
    second = wire.exchange(
        2,
        ask(*history),
        wire.tool("Bash", {"command": "pwd"}, "toolu_0000000002"),
        headers=plain,
        meta={"connection": 2},
    )
    bench.feed([*first, *second])
    one, two = bench.log.of("action")
    assert one["session"]["id"] == two["session"]["id"]
    assert (two["session"]["source"], two["session"]["strength"], two["session"]["turn"]) == ("history", "inferred", 2)
    assert len(bench.log.of("outcome")) == 1


def test_a_request_is_let_go_once_its_answer_has_begun(bench, wire):
    events = wire.exchange(1, ask(USER), wire.tool("Bash", {"command": "ls"}, "toolu_0000000001"))
    bench.feed(events[:-2])
    (tracked,) = bench.analyzer.open.values()
    assert tracked.exchange.request_json is None
    bench.feed(events[-2:])
    assert len(bench.log.of("action")) == 1
