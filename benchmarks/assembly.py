"""Assembly speed: ``python -m benchmarks.assembly`` prints milliseconds per exchange and MB/s, best of several runs."""

from __future__ import annotations

import gzip
import json
import time

from proxy.assembly import ExchangeAssembler
from proxy.events import CallClosed
from proxy.exchange import Exchange, Head

SSE = (("content-type", "text/event-stream"),)
PIECE = 16 << 10


def history(count=200, size=1 << 20):
    """A request of ``size`` bytes: ``count`` messages, half of them tool calls, half their results; 25 tools."""
    filler = "The quick brown fox — 狐狸 — jumps over the lazy dog. " * 400
    text = filler[: size // count]
    messages = []
    for i in range(count // 2):
        call = {"type": "tool_use", "id": f"toolu_{i}", "name": "Bash", "input": {"command": f"ls {i}"}}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": text[: len(text) // 2]}, call]})
        told = {"type": "tool_result", "tool_use_id": f"toolu_{i}", "content": text, "is_error": False}
        messages.append({"role": "user", "content": [told]})
    messages[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    schema = {"type": "object", "properties": {f"p{i}": {"type": "string", "description": "d" * 40} for i in range(10)}}
    tools = [{"name": f"tool_{i}", "description": "what it does " * 40, "input_schema": schema} for i in range(25)]
    body = {"model": "m", "max_tokens": 1, "messages": messages, "tools": tools}
    return json.dumps(body, ensure_ascii=False).encode()


def sse(*events):
    return b"".join(b"event: %s\ndata: %s\n\n" % (e["type"].encode(), json.dumps(e).encode()) for e in events)


def stream(words, calls):
    """An Anthropic reply: ``words`` text deltas, then ``calls`` calls of 40 argument deltas."""
    start = {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}
    events = [start, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]
    events += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
        for _ in range(words)
    ]
    events.append({"type": "content_block_stop", "index": 0})
    for n in range(1, calls + 1):
        block = {"type": "tool_use", "id": f"t{n}", "name": "run", "input": {}}
        events.append({"type": "content_block_start", "index": n, "content_block": block})
        parts = ['{"command": "', *["x" * 12] * 38, '"}']
        events += [
            {"type": "content_block_delta", "index": n, "delta": {"type": "input_json_delta", "partial_json": p}}
            for p in parts
        ]
        events.append({"type": "content_block_stop", "index": n})
    events += [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]
    return sse(*events)


def assemble(request, reply, encoding=""):
    headers = (("anthropic-version", "2023-06-01"), ("content-type", "application/json"))
    assembler = ExchangeAssembler(Exchange("x", Head("POST", "/v1/messages", headers=headers)))
    events = assembler.request_body(request) + assembler.request_end()
    assembler.response_head(Head(status=200, headers=(*SSE, ("content-encoding", encoding))))
    for at in range(0, len(reply), PIECE):
        events += assembler.response_body(reply[at : at + PIECE])
    return events + assembler.response_end()


def measure(name, request, reply, encoding="", runs=7):
    best = 1e9
    for _ in range(runs):
        began = time.perf_counter()
        events = assemble(request, reply, encoding)
        best = min(best, time.perf_counter() - began)
    calls = sum(isinstance(e, CallClosed) for e in events)
    size = len(request) + len(reply)
    print(f"{name:46} {size / 1e6:8.3f} MB {best * 1e3:9.2f} ms {size / 1e6 / best:8.1f} MB/s  {calls} calls")


def main():
    small = b'{"model":"m","max_tokens":1,"messages":[]}'
    measure("1 MiB request, 200 messages, short reply", history(), stream(1, 1))
    measure("200-event stream with one call", small, stream(155, 1))
    measure("20,000-event stream of text", small, stream(20_000, 0), runs=3)
    measure("20,000-event stream with 100 calls", small, stream(16_000, 100), runs=3)
    body = stream(20_000, 1)
    measure("the same in gzip", small, gzip.compress(body), "gzip", runs=3)


if __name__ == "__main__":
    main()
