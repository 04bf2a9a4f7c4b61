"""A ToolCall API behind the real relay: calls are one action each, their lives are told by outcomes."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

from tests.ports import free_port

from .instance import of_kind, records_until, running, serving

SERVER = Path(__file__).with_name("toolcall_api.py").read_text("utf-8")


def conversation(listen):
    host, _, port = listen.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=120)

    def ask(action, **body):
        connection.request(
            "POST", f"/api/v1/llm/{action}", json.dumps(body), {"content-type": "application/json", "x-api-key": "k"}
        )
        return connection.getresponse().read()

    ask("create-thread", title="t")
    for kind in ("plain", "approval", "client", "lapse"):
        ask(
            "send-message",
            conversationKey="conv-1",
            userMessage={"role": "ROLE_USER", "content": [{"type": "CONTENT_PART_TYPE_TEXT", "content": kind}]},
        )
    for _ in range(3):
        ask("conversation-state", conversationKey="conv-1")
    ask("decide-tool-call", toolCallId="tc-approval", approved=False, approvedBy="someone")
    ask("submit-client-tool-results-sync", results=[{"toolCallId": "tc-client", "resultJson": {"opened": True}}])
    for call in ("tc-plain", "tc-approval", "tc-client", "tc-lapse"):
        ask("get-tool-call", toolCallId=call)
    ask("mcp-call-tool", serverId="srv-fs", name="write_file", argumentsJson={"path": "/srv/b"})
    connection.close()


def _the_direct_call_is_answered(found):
    last = {a["id"] for a in of_kind(found, "action") if a["call"]["name"] == "write_file"}
    return any(line["action"] in last for line in of_kind(found, "outcome"))


def test_polling_deciding_and_answering_through_the_relay(tmp_path):
    port, state = free_port(), tmp_path / "state"
    with running(SERVER, str(port), port=port), serving(state, "--route", f"/=http://127.0.0.1:{port}") as instance:
        conversation(instance["listen"])
        found = records_until(state, _the_direct_call_is_answered)
    actions = {a["call"]["id"]: a for a in of_kind(found, "action")}
    assert [(a["call"]["id"], a["call"]["name"], a["call"]["executed_by"]) for a in of_kind(found, "action")] == [
        ("tc-plain", "run_sql", "unknown"),
        ("tc-approval", "drop_table", "unknown"),
        ("tc-client", "open_page", "client"),
        ("tc-lapse", "send_mail", "unknown"),
        (None, "write_file", "mcp_server"),
    ]
    lives = {call: [] for call in actions}
    for line in of_kind(found, "outcome"):
        call = next(i for i, a in actions.items() if a["id"] == line["action"])
        lives[call].append((line["status"], line["outcome"], line["approval"]["state"], line["asserted_by"]))
    assert lives["tc-plain"] == [("EXECUTING", "unknown", "none", "response"), ("COMPLETED", "ok", "none", "response")]
    assert lives["tc-approval"] == [
        (None, "rejected", "rejected", "request"),
        ("FAILED", "rejected", "rejected", "response"),
    ]
    assert lives["tc-client"][0] == (None, "unknown", "none", "request")
    assert lives["tc-lapse"] == [("TIMED_OUT", "expired", "expired", "response")]
    assert lives[None] == [(None, "unknown", "none", "response")]
    assert not of_kind(found, "unread")
