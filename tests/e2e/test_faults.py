"""The analyzer dies or freezes while a stream runs; policies are broken; input is not what it should be."""

import json
import os
import signal
import time

import pytest

from proxy.status import read_pids

ASK = {"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "x"}]}
JSON_TYPE = "Content-Type: application/json"


def analyzer_pid(live):
    until = time.monotonic() + 120
    while time.monotonic() < until:
        pid = read_pids(live.instance.config.pids_file).get("analyzer")
        if pid:
            return pid
        time.sleep(0.02)
    raise AssertionError("no analyzer")


def stream_with(live, bodies, case, calls, disturb):
    """One response per call on one connection each; ``disturb`` runs in the middle of the second one's bytes."""
    got = {}
    for number, call in enumerate(calls):
        stream = bodies.anthropic(call)
        half = len(stream) // 2
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(stream)}\r\n\r\n".encode()
        pieces = [head, stream[:half], stream[half:]]
        if number == 1:
            pieces.insert(2, disturb)
        live.upstream.cases[case] = pieces
        got[call] = (live.post(f"/up/{case}/v1/messages", json.dumps(ASK).encode(), JSON_TYPE), head + stream)
    return got


def test_a_killed_analyzer_costs_the_client_nothing_and_each_call_is_recorded_once(own_live, upstream, bodies):
    calls = [f"toolu_kill{n:04}" for n in range(6)]
    with own_live() as live:
        assert live.instance.wait_analyzer()
        got = stream_with(live, bodies, "kill", calls, lambda: os.kill(analyzer_pid(live), signal.SIGKILL))
        assert all(received == sent for received, sent in got.values())
        found = live.calls(*calls)
        assert sorted(a["call"]["id"] for a in found) == calls
        live.instance.stop()
        assert sorted(r["call"]["id"] for r in live.records() if r["kind"] == "action") == calls


def test_an_analyzer_killed_again_and_again_repeats_nothing(own_live, upstream, bodies):
    calls = [f"toolu_again{n:04}" for n in range(12)]
    with own_live() as live:
        for n, call in enumerate(calls):
            upstream.answer("again", bodies.anthropic(call), content_type="text/event-stream")
            live.post("/up/again/v1/messages", json.dumps(ASK).encode(), JSON_TYPE)
            if n % 4 == 1:
                live.calls(call)
                os.kill(analyzer_pid(live), signal.SIGKILL)
        live.calls(*calls)
        live.instance.stop()
        assert sorted(r["call"]["id"] for r in live.records() if r["kind"] == "action") == calls
        assert not [r for r in live.records() if r["kind"] == "gap"]


def test_a_frozen_analyzer_costs_the_client_nothing(own_live, upstream, bodies):
    calls = [f"toolu_stop{n:04}" for n in range(4)]
    with own_live() as live:
        assert live.instance.wait_analyzer()
        pid = analyzer_pid(live)
        got = stream_with(live, bodies, "stop", calls, lambda: os.kill(pid, signal.SIGSTOP))
        assert all(received == sent for received, sent in got.values())
        os.kill(pid, signal.SIGCONT)
        live.calls(*calls)
        assert len([r for r in live.records() if r["kind"] == "action"]) == len(calls)


def test_a_broken_policy_stops_no_traffic_and_every_record_says_so(own_live, upstream, bodies, tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("policy: 1\nid: a\nrules: [{id: x, sevirity: high}]\n")
    with own_live(policies=(str(broken),)) as live:
        answer = upstream.answer("broken", bodies.anthropic("toolu_broken01"), content_type="text/event-stream")
        assert live.post("/up/broken/v1/messages", json.dumps(ASK).encode(), JSON_TYPE) == answer
        (action,) = live.calls("toolu_broken01")
        assert [p["state"] for p in action["policy"]] == ["not_loaded"]
        (failed,) = [r for r in live.records() if r["kind"] == "policy_reload_failed"]
        assert "broken.yaml:3:" in failed["reload"]["errors"][0]


def test_a_policy_changed_while_running_is_in_force_at_once(own_live, upstream, bodies, tmp_path):
    policy = tmp_path / "p.yaml"
    rule = "policy: 1\nid: p\nversion: '{v}'\nrules: [{{id: p.any, severity: high, match: {{tools: ['{tool}']}}}}]\n"
    policy.write_text(rule.format(v=1, tool="nothing"))
    with own_live(policies=(str(policy),)) as live:
        live.wait(lambda r: r["kind"] == "policy_loaded")
        policy.write_text(rule.format(v=2, tool="bash"))
        live.wait(lambda r: r["kind"] == "policy_loaded", 2)
        upstream.answer("reload", bodies.anthropic("toolu_reload01"), content_type="text/event-stream")
        live.post("/up/reload/v1/messages", json.dumps(ASK).encode(), JSON_TYPE)
        (action,) = live.calls("toolu_reload01")
        assert [f["rule"] for f in action["policy"][0]["findings"] if f["result"] == "match"] == ["p.any"]
        policy.write_text("policy: 1\nid: p\nrules: [\n")
        live.wait(lambda r: r["kind"] == "policy_reload_failed")
        upstream.answer("reload", bodies.anthropic("toolu_reload02"), content_type="text/event-stream")
        live.post("/up/reload/v1/messages", json.dumps(ASK).encode(), JSON_TYPE)
        (action,) = live.calls("toolu_reload02")
        assert (action["policy"][0]["state"], action["policy"][0]["version"], action["policy"][0]["stale"]) == (
            "active",
            "2",
            True,
        )


MALFORMED = [
    ("two lengths", b"POST /up/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"),
    (
        "length and chunks",
        b"POST /up/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx",
    ),
    ("no host", b"GET /up/x HTTP/1.1\r\n\r\n"),
    ("no route", b"GET /nowhere HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
]


@pytest.mark.parametrize(("what", "raw"), MALFORMED, ids=[m[0] for m in MALFORMED])
def test_malformed_requests_are_refused_and_recorded(live, what, raw):
    before = len([r for r in live.records() if r["kind"] == "refusal"])
    answer = live.raw(raw)
    assert answer.startswith(b"HTTP/1.1 4"), answer[:60]
    live.wait(lambda r: r["kind"] == "refusal", before + 1)


BROKEN = [
    ("json cut off", "application/json", b'{"id":"msg","type":"message","content":[{"type":"tool_use"'),
    ("no json at all", "application/json", b"<html>busy</html>"),
    ("sse with a broken event", "text/event-stream", b'event: message_start\ndata: {"type":"message_sta\n\n'),
]


@pytest.mark.parametrize(("what", "kind", "body"), BROKEN, ids=[b[0] for b in BROKEN])
def test_bodies_that_cannot_be_read_pass_unchanged_and_are_unread(live, upstream, what, kind, body):
    case = "broken-" + what.replace(" ", "-")
    answer = upstream.answer(case, body, content_type=kind)
    got = live.post(f"/up/{case}/v1/messages", json.dumps(ASK).encode(), JSON_TYPE, "anthropic-version: 2023-06-01")
    assert got == answer
    live.wait(
        lambda r: (
            (r["kind"] == "unread" and case in json.dumps(r["exchange"]))
            or (r["kind"] == "unread" and r["unread"]["size_bytes"] <= len(body))
        )
    )


def test_arguments_that_do_not_parse_and_unknown_tools_are_recorded_as_such(live, upstream, bodies):
    stream = bodies.anthropic("toolu_badargs1", "frobnicate", {"a": 1}).replace(b'\\"a\\"', b'\\"a')
    upstream.answer("badargs", stream, content_type="text/event-stream")
    live.post("/up/badargs/v1/messages", json.dumps(ASK).encode(), JSON_TYPE)
    (action,) = live.calls("toolu_badargs1")
    assert action["call"]["arguments_valid"] is False
    assert action["call"]["arguments_error"]
    assert action["classification"]["complete"] is False


def test_a_response_cut_off_by_the_upstream_is_an_incomplete_call_and_no_clean_end(live, upstream, bodies):
    stream = bodies.anthropic("toolu_cutoff01")
    part = stream[: stream.index(b"event: content_block_stop")]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    def gone():
        raise OSError

    upstream.cases["cutoff"] = [head, f"{len(part):x}\r\n".encode() + part + b"\r\n", gone]
    got = live.post("/up/cutoff/v1/messages", json.dumps(ASK).encode(), JSON_TYPE)
    assert got.endswith(part + b"\r\n")
    (action,) = live.calls("toolu_cutoff01")
    assert action["call"]["complete"] is False
