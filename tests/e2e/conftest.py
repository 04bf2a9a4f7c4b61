"""A live onlooker on free ports before a replaying upstream, and ways to wait for what it records."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proxy.config import build
from proxy.instance import Instance, read_records

DEADLINE_S = 120.0  # against hanging only: nothing here is a promise about time


class Upstream:
    """Answers ``/<case>/…`` with the case's raw bytes in its pieces, and keeps every request as it came.

    Threads and plain sockets: nothing here re-frames, so what was sent is what the relay got.
    """

    def __init__(self) -> None:
        self.cases: dict[str, list[bytes | Callable[[], bytes | None]]] = {}
        self.requests: dict[str, list[bytes]] = {}
        self._server = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(
        self, case: str, body: bytes, *, content_type: str, pieces: list[bytes] | None = None, head: str = ""
    ) -> bytes:
        """Answer with ``body`` under a Content-Length; returns the whole response."""
        start = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode()
        self.cases[case] = [start, *(pieces or [body])]
        return start + body

    def reply(self, case: str, answer: Callable[[dict[str, Any]], bytes], *, content_type: str) -> None:
        """Answer with what ``answer`` makes of the request's JSON body, until the connection closes."""
        start = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n".encode()

        def made() -> bytes:
            body = answer(json.loads(self.requests[case][-1].partition(b"\r\n\r\n")[2]))
            return start + f"Content-Length: {len(body)}\r\n\r\n".encode() + body

        self.cases[case] = [made]

    def chunked(self, case: str, pieces: list[bytes], *, content_type: str = "text/event-stream") -> bytes:
        start = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        framed = [f"{len(p):x}\r\n".encode() + p + b"\r\n" for p in pieces if p]
        self.cases[case] = [start, *framed, b"0\r\n\r\n"]
        return start + b"".join(framed) + b"0\r\n\r\n"

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client:
            rest = b""
            while True:
                request, rest = _read_request(client, rest)
                if not request:
                    return
                case = request.split(b" ", 2)[1].split(b"/")[1].split(b"?")[0].decode()
                self.requests.setdefault(case, []).append(request)
                try:
                    for piece in self.cases.get(case, [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]):
                        sent = piece() if callable(piece) else piece
                        if sent:
                            client.sendall(sent)
                except OSError:
                    return


def _read_request(client: socket.socket, data: bytes) -> tuple[bytes, bytes]:
    while b"\r\n\r\n" not in data:
        more = client.recv(65536)
        if not more:
            return b"", b""
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    length = next((int(x.split(b":")[1]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length:")), 0)
    if b"transfer-encoding: chunked" in head.lower():
        while not rest.endswith(b"0\r\n\r\n"):
            rest += client.recv(65536)
        return head + b"\r\n\r\n" + rest, b""
    while len(rest) < length:
        rest += client.recv(65536)
    return head + b"\r\n\r\n" + rest[:length], rest[length:]


class Live:
    """A running instance and its records."""

    def __init__(self, instance: Instance, upstream: Upstream) -> None:
        self.instance, self.upstream = instance, upstream
        self.base = instance.base
        self.address = (instance.listen.rpartition(":")[0], int(instance.listen.rpartition(":")[2]))

    def records(self) -> list[dict[str, Any]]:
        return read_records(Path(self.instance.config.state))

    def wait(self, want: Callable[[dict[str, Any]], Any], count: int = 1) -> list[dict[str, Any]]:
        """The records that ``want`` holds of, once there are ``count``; fails with what there is instead."""
        until = time.monotonic() + DEADLINE_S
        while True:
            found = [r for r in self.records() if want(r)]
            if len(found) >= count:
                return found
            if time.monotonic() > until:
                kinds = [
                    (r["kind"], (r.get("call") or {}).get("id"), r.get("unread"), r.get("failure"))
                    for r in self.records()
                ]
                raise AssertionError(f"{len(found)} of {count} records; the log has {kinds[-20:]}")
            time.sleep(0.02)

    def calls(self, *ids: str) -> list[dict[str, Any]]:
        return self.wait(lambda r: r["kind"] == "action" and r["call"]["id"] in ids, len(ids))

    def raw(self, data: bytes, until: bytes | None = None) -> bytes:
        """Send bytes, read until the peer closes (or ``until`` was seen)."""
        with socket.create_connection(self.address, DEADLINE_S) as client:
            client.sendall(data)
            got = b""
            while until is None or until not in got:
                piece = client.recv(65536)
                if not piece:
                    break
                got += piece
            return got

    def post(self, target: str, body: bytes, *headers: str, until: bytes | None = None) -> bytes:
        head = [
            f"POST {target} HTTP/1.1",
            "Host: x",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *headers,
            "",
            "",
        ]
        return self.raw("\r\n".join(head).encode() + body, until)


@contextmanager
def running(folder: Path, upstream: Upstream, **flags: Any) -> Iterator[Live]:
    routes = {"up": {"url": upstream.url, "agui": False}, "/": {"url": upstream.url, "agui": True}}
    settings = {"state": str(folder / "state"), "listen": "127.0.0.1:0", "control": "127.0.0.1:0", "routes": routes}
    with Instance.start(build(None, {**settings, **flags})) as instance:
        yield Live(instance, upstream)


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    made = Upstream()
    yield made
    made.close()


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory, upstream: Upstream) -> Iterator[Live]:
    """One instance for the tests that leave its processes alone."""
    with running(tmp_path_factory.mktemp("live"), upstream) as made:
        yield made


@pytest.fixture
def own_live(tmp_path: Path, upstream: Upstream) -> Callable[..., Any]:
    """An instance of the test's own."""
    return lambda **flags: running(tmp_path, upstream, **flags)


def sse(events: list[dict[str, Any]], *, named: bool = True) -> bytes:
    name = (lambda e: f"event: {e['type']}\n") if named else (lambda _e: "")
    return b"".join(f"{name(e)}data: {json.dumps(e, ensure_ascii=False)}\n\n".encode() for e in events)


def anthropic_stream(call_id: str, name: str = "Bash", arguments: dict[str, Any] | None = None) -> bytes:
    text = json.dumps({"command": "rm -rf /srv/größe"} if arguments is None else arguments, ensure_ascii=False)
    usage = {"input_tokens": 3, "output_tokens": 1}
    message = {"id": f"msg_{call_id}", "type": "message", "role": "assistant", "model": "m-1", "content": []}
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    halves = (text[: len(text) // 2], text[len(text) // 2 :])
    return sse(
        [
            {
                "type": "message_start",
                "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage},
            },
            {"type": "content_block_start", "index": 0, "content_block": block},
            *(
                {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": h}}
                for h in halves
            ),
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use", "stop_sequence": None},
                "usage": {"output_tokens": 9},
            },
            {"type": "message_stop"},
        ]
    )


def openai_stream(call_id: str, name: str = "run", arguments: dict[str, Any] | None = None) -> bytes:
    text = json.dumps({"command": "ls -la"} if arguments is None else arguments)

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {
            "id": f"chatcmpl-{call_id}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m-1",
            "choices": [choice],
        }

    def part(function: dict[str, Any], **more: Any) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": 0, "function": function, **more}]})

    events = [
        chunk({"role": "assistant", "content": None}),
        part({"name": name, "arguments": ""}, id=call_id, type="function"),
        part({"arguments": text[:5]}),
        part({"arguments": text[5:]}),
        chunk({}, "tool_calls"),
    ]
    return sse(events, named=False) + b"data: [DONE]\n\n"


def cuts(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


@pytest.fixture(scope="session")
def bodies() -> Any:
    """The builders above, for tests (a folder without packages cannot import its conftest)."""

    class Bodies:
        sse = staticmethod(sse)
        anthropic = staticmethod(anthropic_stream)
        openai = staticmethod(openai_stream)
        cuts = staticmethod(cuts)

    return Bodies
