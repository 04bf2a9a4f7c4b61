"""A model that every client here understands: asks for one shell command, then says it is done. Keeps what it was sent.

Threads and http.server: no dependency, real sockets. ``Mock.requests`` are (method, path, headers, decoded body).
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import zstandard

CALL = "call_probe_0001"
SHELLS = ("Bash", "bash", "terminal", "exec_command", "shell", "shell_command", "run_shell_command")


class Mock:
    def __init__(
        self, command: str, function: str | None = None, script: Sequence[dict[str, str]] = (), text: str = "done"
    ) -> None:
        """``function``: ask for this declared tool with ``{"city": "Oslo"}`` instead of a shell command.

        ``script``: instead of the one command, these steps one after another, by the tools the client offers:
        ``{run}``, ``{read}``, ``{write, content}``, ``{edit, old, new}``. ``text``: what a chat without tools is told.
        """
        self.command, self.function, self.script, self.text = command, function, script, text
        self.requests: list[tuple[str, str, list[tuple[str, str]], Any]] = []
        mock = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None: ...

            def _answer(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = _decoded(raw, self.headers.get("Content-Encoding", ""))
                mock.requests.append((self.command, self.path, list(self.headers.items()), body))
                status, kind, data = mock.reply(self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_GET = do_POST = do_HEAD = _answer  # noqa: N815 - http.server's names

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, path: str, body: Any) -> tuple[int, str, bytes]:
        path = path.partition("?")[0]
        if not isinstance(body, dict):
            return 200, "application/json", b'{"object":"list","data":[],"models":[]}'
        for end, build in (
            (("/messages"), self._messages),
            (("/responses"), self._responses),
            (("/chat/completions"), self._chat),
        ):
            if path.endswith(end):
                return build(body)
        if "enerateContent" in path:
            return self._gemini(body, streamed="stream" in path)
        return 200, "application/json", b'{"input_tokens":10,"totalTokens":10}'

    def _want(
        self, names: list[str], body: dict[str, Any], answered: tuple[str, ...]
    ) -> tuple[str, dict[str, Any]] | None:
        text = json.dumps(body)
        done = sum(text.count(a) for a in answered)
        if self.script:
            if len(self.requests) > 10 * len(self.script):
                return None  # a client that goes round in circles
            return _step(self.script[done], names) if done < len(self.script) else None
        if done:
            return None
        if self.function in names:
            return str(self.function), {"city": "Oslo"}
        name = next((n for n in SHELLS if n in names), None)
        if name is None:
            return None
        return _shell(name, self.command)

    def _call_id(self, body: dict[str, Any]) -> str:
        """The first call's id is always the same; later ones are told apart by how much was said before."""
        said = len(body.get("messages") or body.get("input") or ())
        return f"{CALL}_{said}" if self.script else CALL

    def _messages(self, body: dict[str, Any]) -> tuple[int, str, bytes]:
        want = self._want([t.get("name") for t in body.get("tools") or []], body, ('"tool_result"',))
        block = (
            {"type": "text", "text": "done"}
            if want is None
            else {"type": "tool_use", "id": f"toolu_{self._call_id(body)}", "name": want[0], "input": want[1]}
        )
        reason = "end_turn" if want is None else "tool_use"
        usage = {"input_tokens": 5, "output_tokens": 9}
        message = {
            "id": f"msg_{self._call_id(body)}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "stop_sequence": None,
        }
        if not body.get("stream"):
            return (
                200,
                "application/json",
                json.dumps(message | {"content": [block], "stop_reason": reason, "usage": usage}).encode(),
            )
        delta = (
            {"type": "text_delta", "text": "done"}
            if want is None
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        empty = {"text": ""} if want is None else {"input": {}}
        return (
            200,
            "text/event-stream",
            _sse(
                [
                    {
                        "type": "message_start",
                        "message": message | {"content": [], "stop_reason": None, "usage": usage},
                    },
                    {"type": "content_block_start", "index": 0, "content_block": block | empty},
                    {"type": "content_block_delta", "index": 0, "delta": delta},
                    {"type": "content_block_stop", "index": 0},
                    {
                        "type": "message_delta",
                        "delta": {"stop_reason": reason, "stop_sequence": None},
                        "usage": {"output_tokens": 9},
                    },
                    {"type": "message_stop"},
                ]
            ),
        )

    def _responses(self, body: dict[str, Any]) -> tuple[int, str, bytes]:
        names = [t.get("name") or t.get("type") for t in body.get("tools") or []]
        want = self._want(names, body, ("_call_output",))
        if want is None:
            text = {"type": "output_text", "text": "done", "annotations": []}
            item: dict[str, Any] = {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        else:
            item = {
                "type": "function_call",
                "id": "fc_1",
                "call_id": self._call_id(body),
                "name": want[0],
                "arguments": json.dumps(want[1]),
                "status": "completed",
            }
        usage = {
            "input_tokens": 5,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 10,
        }
        base = {
            "id": f"resp_{self._call_id(body)}",
            "object": "response",
            "created_at": 1,
            "model": body.get("model"),
            "tools": [],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
        }
        whole = base | {"status": "completed", "output": [item], "usage": usage}
        if not body.get("stream"):
            return 200, "application/json", json.dumps(whole).encode()
        begun = item | ({"arguments": ""} if want else {"content": []}) | {"status": "in_progress"}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": base | {"status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": begun},
        ]
        if want:
            events += [
                {
                    "type": "response.function_call_arguments.delta",
                    "item_id": "fc_1",
                    "output_index": 0,
                    "delta": item["arguments"],
                },
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "fc_1",
                    "output_index": 0,
                    "arguments": item["arguments"],
                    "name": want[0],
                },
            ]
        events += [
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        return 200, "text/event-stream", _sse([e | {"sequence_number": n} for n, e in enumerate(events)])

    def _chat(self, body: dict[str, Any]) -> tuple[int, str, bytes]:
        names = [(t.get("function") or {}).get("name") for t in body.get("tools") or []]
        want = self._want(names, body, ('"role": "tool"',))
        call = (
            None
            if want is None
            else {
                "id": self._call_id(body),
                "type": "function",
                "function": {"name": want[0], "arguments": json.dumps(want[1])},
            }
        )
        reason = "stop" if call is None else "tool_calls"
        base = {"id": f"chatcmpl-{self._call_id(body)}", "created": 1, "model": body.get("model")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        text = "done" if names else self.text
        if not body.get("stream"):
            message = (
                {"role": "assistant", "content": text}
                if call is None
                else {"role": "assistant", "content": None, "tool_calls": [call]}
            )
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return (
                200,
                "application/json",
                json.dumps(base | {"object": "chat.completion", "choices": [choice], "usage": usage}).encode(),
            )
        deltas: list[tuple[dict[str, Any], str | None]] = [
            ({"role": "assistant", "content": text if call is None else None}, None)
        ]
        if call:
            deltas.append(({"tool_calls": [{"index": 0, **call}]}, None))
        deltas.append(({}, reason))
        chunks = [
            base | {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d, "finish_reason": f}]}
            for d, f in deltas
        ]
        return (
            200,
            "text/event-stream",
            b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks) + b"data: [DONE]\n\n",
        )

    def _gemini(self, body: dict[str, Any], *, streamed: bool) -> tuple[int, str, bytes]:
        names = [f.get("name") for t in body.get("tools") or [] for f in t.get("functionDeclarations") or []]
        want = self._want(names, body, ("functionResponse",))
        text = json.dumps(body)
        router = json.dumps(
            {
                "reasoning": "x",
                "model_choice": "flash",
                "next_speaker": "user",
                "complexity_reasoning": "x",
                "complexity_score": 1,
            }
        )
        part = (
            {"functionCall": {"name": want[0], "args": want[1]}}
            if want
            else {"text": router if "ponseSchema" in text or "ponseJsonSchema" in text else "done"}
        )
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        whole = json.dumps({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r1"})
        return (
            (200, "text/event-stream", f"data: {whole}\r\n\r\n".encode())
            if streamed
            else (200, "application/json", whole.encode())
        )


def _shell(name: str, command: str) -> tuple[str, dict[str, Any]]:
    if name == "exec_command":
        return name, {"cmd": command}
    if name == "terminal":  # OpenHands refuses arguments it did not declare
        return name, {"command": command}
    if name == "shell":
        return name, {"command": ["bash", "-lc", command]}
    return name, {"command": command, "description": "a step"}


# What each step is called by the clients, and the names of its arguments; the first tool offered is asked for.
TOOLS: dict[str, dict[str, tuple[str, ...]]] = {
    "read": {"Read": ("file_path",), "read": ("filePath",), "read_file": ("file_path",)},
    "write": {
        "Write": ("file_path", "content"),
        "write": ("filePath", "content"),
        "write_file": ("file_path", "content"),
    },
    "edit": {
        "Edit": ("file_path", "old_string", "new_string"),
        "edit": ("filePath", "oldString", "newString"),
        "replace": ("file_path", "old_string", "new_string"),
    },
}
FIELDS = {"read": ("read",), "write": ("write", "content"), "edit": ("edit", "old", "new")}


def _step(step: dict[str, str], names: list[str]) -> tuple[str, dict[str, Any]] | None:
    """One step as a call of a tool this client offers; a client that has only a shell gets a command."""
    shell = next((n for n in SHELLS if n in names), None)
    if shell is None:
        return None
    kind = next(iter(step))
    if kind == "call":  # as it is, whatever is offered
        return step["call"], json.loads(step["arguments"])
    if kind != "run":
        tool = next((t for t in TOOLS[kind] if t in names), None)
        if tool is not None:
            given = dict(zip(TOOLS[kind][tool], (step[f] for f in FIELDS[kind]), strict=True))
            return tool, given | ({"instruction": "as asked"} if tool == "replace" else {})
    return _shell(shell, _AS_COMMAND[kind](step))


_AS_COMMAND: dict[str, Callable[[dict[str, str]], str]] = {
    "run": lambda s: s["run"],
    "read": lambda s: f"cat {s['read']}",
    "write": lambda s: f"cat > {s['write']} <<'EOF'\n{s['content']}EOF",
    "edit": lambda s: f"sed -i 's/{s['old']}/{s['new']}/' {s['edit']}",
}


def _sse(events: list[dict[str, Any]]) -> bytes:
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def _decoded(raw: bytes, coding: str) -> Any:
    if coding == "zstd":
        raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    elif coding == "gzip":
        raw = gzip.decompress(raw)
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
