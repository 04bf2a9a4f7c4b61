"""Four real agents do the same task with and without onlooker in between: what reaches the model is the same.

What may differ between any two runs of an agent is listed in MAY_DIFFER, and only that: ids, ports, times.
"""

import json
import re

import pytest

pytestmark = pytest.mark.agents

NAMES = ["claude", "codex", "gemini", "opencode"]
# (what, pattern): each replaced by its name before two requests are compared.
MAY_DIFFER = [
    ("port of the mock", r"127\.0\.0\.1:\d+"),
    ("uuid of a session, turn or message", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ("device id made in a fresh home", r'device_id\\*": ?\\*"[0-9a-f]{64}'),
    ("OpenCode session", r"ses_[A-Za-z0-9]{20,}"),
    ("Codex chunk id", r"Chunk ID: [0-9a-f]+"),
    ("wall time of the command", r"Wall time: [0-9.]+"),
    ("Gemini CLI call id with the millisecond", r"run_shell_command_\d{13}_"),
    ("process group of the command", r"PGID: \d+"),
    ("time of the turn", r'(turn_started_at_unix_ms|started_at)\\*": ?\d+'),
    ("installed since", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"),
]


def plain(request):
    """One request as text. Keys sorted: Codex writes its metadata from a hash map, in another order every run."""
    method, path, headers, body = request
    kept = [(k, v) for k, v in headers if k.lower() != "content-length"]
    text = json.dumps([method, path, kept, body], ensure_ascii=False, sort_keys=True)
    for name, pattern in MAY_DIFFER:
        text = re.sub(pattern, f"<{name}>", text)
    return text


def differences(one, two):
    """Where two texts differ, a little of both around it."""
    at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    if at is None and len(one) == len(two):
        return []
    at = min(len(one), len(two)) if at is None else at
    return [one[max(0, at - 60) : at + 60], two[max(0, at - 60) : at + 60]]


@pytest.mark.parametrize("name", NAMES)
def test_the_model_gets_the_same_requests_and_the_log_the_call(agents, name):
    direct = agents.run(name, through=False)
    through = agents.run(name, through=True)
    assert (direct.code, direct.probe) == (through.code, through.probe) == (0, True), through.stderr
    assert len(through.requests) == len(direct.requests)
    for ours, theirs in zip(through.requests, direct.requests, strict=True):
        assert differences(plain(ours), plain(theirs)) == []
    (action,) = [r for r in through.records if r["kind"] == "action"]
    assert any("probe.txt" in (e["target"] or "") for e in action["classification"]["effects"])
    assert action["classification"]["complete"] is True
    assert action["session"]["cwd"]["source"] == "launcher"
    assert action["origin"]["peer"]["uid"] is not None
    (outcome,) = [r for r in through.records if r["kind"] == "outcome"]
    assert outcome["action"] == action["id"]
    assert outcome["outcome"] == ("error" if name == "claude" else "unknown")
    assert [
        r["kind"] for r in through.records if r["kind"] in {"gap", "unread", "analysis_failed", "opaque_flow"}
    ] == []
    (end,) = [r for r in through.records if r["kind"] == "session" and r["event"] == "end"]
    assert (end["summary"]["calls"], end["summary"]["unanswered"]) == (1, 0)


def test_a_call_claude_code_refuses_is_reported_as_what_the_wire_says(agents):
    run = agents.run("claude", through=True, allowed=False)
    assert not run.probe
    (action,) = [r for r in run.records if r["kind"] == "action"]
    (outcome,) = [r for r in run.records if r["kind"] == "outcome"]
    assert outcome["action"] == action["id"]
    assert outcome["outcome"] in {"error", "rejected"}
