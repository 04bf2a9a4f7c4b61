"""A small API of the ToolCall kind, for tests: threads, messages whose calls move on as they are polled, approvals.

Run as a program with a port. State is in memory; each ``conversation-state`` moves every call one step along its path.
"""

from __future__ import annotations

import http.server
import json
import sys
from typing import Any

STATUS = "TOOL_EXECUTION_STATUS_"
# What a message asks for -> the fields each further look at the call adds.
PATHS: dict[str, list[dict[str, Any]]] = {
    "plain": [
        {"status": "PENDING"},
        {"status": "EXECUTING"},
        {"status": "COMPLETED", "resultJson": {"rows": 3}, "executionDuration": "1.5s"},
    ],
    "approval": [{"status": "REQUIRES_CONFIRMATION", "requiresApprovalAt": "2099-01-01T00:00:00Z"}],
    "client": [{"status": "PENDING", "isClientTool": True, "clientToolDeadlineAt": "2099-01-01T00:00:00Z"}],
    "lapse": [
        {"status": "REQUIRES_CONFIRMATION", "requiresApprovalAt": "2020-01-01T00:00:00Z"},
        {"status": "TIMED_OUT", "endReason": "approval timeout"},
    ],
}
TOOLS = {"plain": "run_sql", "approval": "drop_table", "client": "open_page", "lapse": "send_mail"}


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    calls: dict[str, dict[str, Any]] = {}  # noqa: RUF012 - one server, one state
    kinds: dict[str, list[dict[str, Any]]] = {}  # noqa: RUF012 - as above

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        action = self.path.rpartition("/")[2]
        answer = getattr(self, action.replace("-", "_"))(body)
        kind = "text/event-stream" if isinstance(answer, list) else "application/json"
        raw = _events(answer) if isinstance(answer, list) else json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass

    def create_thread(self, _body: dict[str, Any]) -> dict[str, Any]:
        return {"thread": {"threadId": "th-1"}}

    def send_message(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        kind = body["userMessage"]["content"][0]["content"]
        call = {"id": f"tc-{kind}", "name": TOOLS[kind], "argumentsJson": {"for": kind}}
        self.kinds[call["id"]] = [dict(step) for step in PATHS[kind]]
        self.calls[call["id"]] = call
        return [{"toolCallStarted": {"toolCall": self._step(call["id"])}}]

    def conversation_state(self, body: dict[str, Any]) -> dict[str, Any]:
        shown = [self._step(call_id) for call_id in self.calls]
        return {
            "messageHistory": [{"role": "ROLE_ASSISTANT", "generatedBy": "run-1", "toolCalls": shown}],
            "conversationKey": body["conversationKey"],
        }

    def get_tool_call(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"toolCall": self.calls[body["toolCallId"]]}

    def decide_tool_call(self, body: dict[str, Any]) -> dict[str, Any]:
        more = (
            {"status": STATUS + "FAILED", "endReason": "approval rejected"}
            if not body["approved"]
            else {"status": STATUS + "EXECUTING"}
        )
        self.calls[body["toolCallId"]] |= {
            **more,
            "approvedAt": "2030-01-01T00:00:00Z",
            "approvedBy": body["approvedBy"],
        }
        return {"ok": True}

    def submit_client_tool_results_sync(self, body: dict[str, Any]) -> dict[str, Any]:
        for result in body["results"]:
            self.calls[result["toolCallId"]] |= {"status": STATUS + "COMPLETED", "resultJson": result["resultJson"]}
        return {"ok": True}

    def mcp_call_tool(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"resultJson": {"echo": body["argumentsJson"]}}

    def _step(self, call_id: str) -> dict[str, Any]:
        steps = self.kinds[call_id]
        if steps:
            step = steps.pop(0)
            self.calls[call_id] |= {**step, "status": STATUS + step["status"]}
        return self.calls[call_id]


def _events(envelopes: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: " + json.dumps(envelope).encode() + b"\n\n" for envelope in envelopes)


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Api).serve_forever()
