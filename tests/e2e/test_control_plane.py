"""Hooks and the admin API against a live instance: what they say is recorded, and takes effect from then on."""

import json
import time
import urllib.error
import urllib.request

import pytest

OBJECTIVE = """\
objective: 1
id: tidy
statement: Tidy the build folder.
declared_by: {kind: human, id: dev@shop.example, via: admin-api, at: "2026-11-30T08:00:00Z"}
scope:
  effects:
    - {domain: filesystem, action: [read, delete], target: ["/home/dev/shop/build/**"]}
"""
ASK = {"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "x"}]}


def send(live, method, path, body=b"", token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(f"http://{live.instance.control}{path}", body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def reported(live, what, token, wanted):
    """The ids of /api/v1/<what>, once ``wanted`` is among them: the analyzer reports twice a second."""
    until = time.monotonic() + 120
    while True:
        ids = [one["id"] for one in send(live, "GET", f"/api/v1/{what}", token=token)[1][what]]
        if wanted in ids or time.monotonic() > until:
            return ids
        time.sleep(0.05)


@pytest.fixture
def token(live):
    return live.instance.config.token_file.read_text().strip()


def call(live, bodies, call_id, command, session):
    case = call_id.replace("_", "-")
    live.upstream.answer(
        case, bodies.anthropic(call_id, arguments={"command": command}), content_type="text/event-stream"
    )
    live.post(
        f"/up/{case}/v1/messages",
        json.dumps(ASK).encode(),
        "Content-Type: application/json",
        f"X-Session-Id: {session}",
    )
    (action,) = live.calls(call_id)
    return action


def test_a_hook_is_answered_neutrally_and_joins_the_models_call(live, upstream, bodies):
    upstream.answer(
        "hook", bodies.anthropic("toolu_hooked01", arguments={"command": "ls"}), content_type="text/event-stream"
    )
    headers = (
        "Content-Type: application/json",
        "User-Agent: claude-cli/2.1.197",
        "X-Claude-Code-Session-Id: hook-session",
    )
    live.post("/up/hook/v1/messages", json.dumps(ASK).encode(), *headers)
    (action,) = live.calls("toolu_hooked01")
    body = {
        "session_id": "hook-session",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "toolu_hooked01",
        "cwd": "/home/dev",
    }
    assert send(live, "POST", "/hooks/claude-code", json.dumps(body).encode()) == (200, {})
    (sighting,) = live.wait(lambda r: r["kind"] == "sighting" and r["action"] == action["id"])
    assert (sighting["leg"], sighting["matched_by"], sighting["strength"]) == ("hook", "id", "strong")
    done = body | {"hook_event_name": "PostToolUseFailure", "error": "exit 2"}
    send(live, "POST", "/hooks/claude-code", json.dumps(done).encode())
    (outcome,) = live.wait(lambda r: r["kind"] == "outcome" and r["action"] == action["id"])
    assert (outcome["outcome"], outcome["reported_by"]) == ("error", "hook")


def test_an_objective_bound_by_the_admin_is_in_force_from_then_on_with_an_operators_trust(
    live, upstream, bodies, token
):
    before = call(live, bodies, "toolu_bind0001", "rm -rf /home/dev/shop/build/a", "bound-session")
    assert before["objective"]["id"] is None
    assert send(live, "PUT", "/api/v1/objectives/tidy", OBJECTIVE.encode(), token)[0] == 202
    live.wait(lambda r: r["kind"] == "policy_loaded" and any(o["id"] == "tidy" for o in r["objectives"]))
    assert send(live, "PUT", "/api/v1/objectives/tidy/bindings", b'{"session": "bound-session"}', token)[0] == 202
    live.wait(lambda r: r["kind"] == "attestation")
    inside = call(live, bodies, "toolu_bind0002", "rm -rf /home/dev/shop/build/a", "bound-session")
    outside = call(live, bodies, "toolu_bind0003", "rm -rf /home/dev/shop/src", "bound-session")
    other = call(live, bodies, "toolu_bind0004", "rm -rf /home/dev/shop/src", "another-session")
    assert (inside["objective"]["verdict"], inside["objective"]["trust"]) == ("consistent", "operator")
    assert outside["objective"]["verdict"] == "outside_scope"
    assert other["objective"]["id"] is None
    (changed,) = live.wait(
        lambda r: r["kind"] == "session" and r["event"] == "changed" and r["session"]["id"] == "bound-session"
    )
    assert changed["objective"]["id"] == "tidy"
    assert reported(live, "objectives", token, "tidy") == ["tidy"]


def test_records_and_sessions_can_be_asked_for(live, bodies, token):
    action = call(live, bodies, "toolu_api00001", "pwd", "api-session")
    status, found = send(live, "GET", "/api/v1/records?kind=action&session=api-session", token=token)
    assert (status, [r["id"] for r in found["records"]]) == (200, [action["id"]])
    assert send(live, "GET", f"/api/v1/records/{action['id']}", token=token)[1]["call"]["name"] == "Bash"
    assert "api-session" in reported(live, "sessions", token, "api-session")
    assert send(live, "GET", "/api/v1/records/none:1", token=token)[0] == 404
