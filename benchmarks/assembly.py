"""Assembly speed: ``python -m benchmarks.assembly`` prints processor time per exchange and MB/s, best of several runs."""

from __future__ import annotations

import gc
import gzip
import json
import os
import struct
import time
import tracemalloc
from base64 import b64encode
from binascii import crc32

from proxy.assembly import ExchangeAssembler
from proxy.events import CallClosed
from proxy.exchange import Exchange, Head

SSE = (("content-type", "text/event-stream"),)
AWS, LINES, AG_UI = "application/vnd.amazon.eventstream", "application/x-ndjson", "application/vnd.ag-ui.event+proto"
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


def chat_text(words):
    """A chat completion of ``words`` text chunks."""
    said = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "system_fingerprint": "fp"}
    one = {"index": 0, "delta": {"content": "word "}, "logprobs": None, "finish_reason": None}
    chunks = [{**said, "choices": [one]}] * words
    last = {**said, "choices": [{**one, "delta": {}, "finish_reason": "stop"}]}
    return b"".join(b"data: %s\n\n" % json.dumps(c).encode() for c in [*chunks, last]) + b"data: [DONE]\n\n"


def responses_text(words):
    """A Responses reply of ``words`` text deltas."""
    begun = {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}
    delta = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0}
    deltas = [{**delta, "delta": "word ", "logprobs": [], "sequence_number": n} for n in range(words)]
    return sse(begun, *deltas, {"type": "response.completed", "response": {"id": "r", "output": []}})


def gemini_text(words):
    """A generateContent stream of ``words`` text parts, CRLF as that server sends it."""
    part = {"candidates": [{"content": {"parts": [{"text": "word " * 4}], "role": "model"}, "index": 0}]}
    chunks = [{**part, "modelVersion": "m", "responseId": "g"}] * words
    return b"".join(b"data: %s\r\n\r\n" % json.dumps(c).encode() for c in chunks)


def header(name, value):
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()


def aws(kind, data):
    """One event of an AWS event stream."""
    said = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    heads = b"".join(header(name, value) for name, value in said.items())
    payload = json.dumps(data, separators=(",", ":")).encode()
    start = struct.pack(">II", 16 + len(heads) + len(payload), len(heads))
    start += struct.pack(">I", crc32(start)) + heads + payload
    return start + struct.pack(">I", crc32(start))


def padding(n):
    return "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"[: n * 7 % 36]


def converse_text(words):
    """A ConverseStream reply of ``words`` text deltas, padded as that server does."""
    delta = {"contentBlockIndex": 0, "delta": {"text": "word "}}
    deltas = [aws("contentBlockDelta", {**delta, "p": padding(n)}) for n in range(words)]
    ends = [aws("contentBlockStop", {"contentBlockIndex": 0}), aws("messageStop", {"stopReason": "end_turn"})]
    return b"".join([aws("messageStart", {"role": "assistant"}), *deltas, *ends])


def invoke_text(words):
    """An InvokeModelWithResponseStream reply: the Anthropic stream of ``words`` deltas, each event in base64."""
    events = [line[6:] for line in stream(words, 0).split(b"\n") if line.startswith(b"data: ")]
    return b"".join(aws("chunk", {"bytes": b64encode(e).decode(), "p": padding(n)}) for n, e in enumerate(events))


def ollama_text(words):
    """An Ollama chat reply of ``words`` lines."""
    line = {"model": "m", "created_at": "2026-11-30T10:00:00.000000Z"}
    said = [{**line, "message": {"role": "assistant", "content": "word "}, "done": False}] * words
    return b"".join(json.dumps(x).encode() + b"\n" for x in [*said, {**line, "message": {}, "done": True}])


def gemini_array(words):
    """A generateContent stream without ``alt=sse``: one array."""
    part = {"candidates": [{"content": {"parts": [{"text": "word " * 4}], "role": "model"}, "index": 0}]}
    return json.dumps([{**part, "modelVersion": "m", "responseId": "g"}] * words).encode()


def ag_ui_binary(words):
    """An AG-UI run in protobuf: ``words`` TEXT_MESSAGE_CONTENT events of 5 letters."""
    inner = b"\x12\x02m1" + b"\x1a\x05word "
    event = b"\x0a" + bytes([len(inner)]) + inner
    return struct.pack(">I", len(event)) + event if words == 1 else ag_ui_binary(1) * words


def socket_text(words):
    """What the server says on a Responses socket: the same events, one message each, not compressed."""
    lines = [line[6:] for line in responses_text(words).split(b"\n") if line.startswith(b"data: ")]
    return b"".join(
        bytes([0x81, 126]) + struct.pack(">H", len(m)) + m if len(m) > 125 else bytes([0x81, len(m)]) + m for m in lines
    )


def images(count=4, size=1 << 20):
    """A request of ``size`` bytes whose results are screenshots, which do not compress."""
    messages = []
    for i in range(count):
        data = b64encode(os.urandom(size // count * 3 // 4)).decode()
        shot = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        call = {"type": "tool_use", "id": f"toolu_{i}", "name": "computer", "input": {"action": "screenshot"}}
        messages.append({"role": "assistant", "content": [call]})
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{i}", "content": [shot]}]}
        )
    return json.dumps({"model": "m", "max_tokens": 1, "messages": messages}).encode()


def on_a_socket(said):
    """All events of a Responses socket on which the server says ``said``."""
    head = Head("GET", "/v1/responses", headers=(("upgrade", "websocket"),))
    one = ExchangeAssembler(Exchange("x", head))
    events = one.request_end() + one.response_head(Head(status=101, headers=(("upgrade", "websocket"),)))
    for at in range(0, len(said), PIECE):
        events += one.response_body(said[at : at + PIECE])
    return events + one.response_end()


def assemble(request, reply, encoding="", path="/v1/messages", *, wait=False, kind=SSE):
    """All events of one exchange; the reply comes in pieces as a relay reads them."""
    assembler = Fed(request, reply, encoding, path, wait=wait, kind=kind)
    return assembler.early + assembler.last.response_end()


class Fed:
    """An exchange whose reply has not ended. ``wait``: its request is made small before the reply begins."""

    def __init__(self, request, reply, encoding="", path="/v1/messages", *, wait=False, kind=SSE):
        headers = (("anthropic-version", "2023-06-01"),) if path == "/v1/messages" else ()
        head = Head("POST", path, headers=(*headers, ("content-type", "application/json")))
        self.last = ExchangeAssembler(Exchange("x", head))
        self.early = self.last.request_body(request) + self.last.request_end()
        if wait:
            self.last.forget_request()
        self.last.response_head(Head(status=200, headers=(*kind, ("content-encoding", encoding))))
        for at in range(0, len(reply), PIECE):
            self.early += self.last.response_body(reply[at : at + PIECE])


def measure(name, request, reply, *, encoding="", runs=7, path="/v1/messages", wait=False, kind=""):
    best = 1e9
    kind = (("content-type", kind),) if kind else SSE
    for _ in range(runs):
        began = time.process_time()
        events = assemble(request, reply, encoding, path, wait=wait, kind=kind) if path else on_a_socket(reply)
        best = min(best, time.process_time() - began)
    calls = sum(isinstance(e, CallClosed) for e in events)
    size = len(request) + len(reply)
    print(f"{name:46} {size / 1e6:8.3f} MB {best * 1e3:9.2f} ms {size / 1e6 / best:8.1f} MB/s  {calls} calls")


def main():
    small = b'{"model":"m","max_tokens":1,"messages":[]}'
    measure("1 MiB request, 200 messages, short reply", history(), stream(1, 1))
    measure("the same, waiting for its reply", history(), stream(1, 1), wait=True)
    measure("the same of 2,000 messages, waiting", history(2_000), stream(1, 1), wait=True)
    measure("200-event stream with one call", small, stream(155, 1))
    measure("20,000-event stream of text", small, stream(20_000, 0), runs=25)
    chat, asked = b'{"model":"m","messages":[]}', b'{"model":"m","input":"x"}'
    measure("the same, chat completions", chat, chat_text(20_000), runs=25, path="/v1/chat/completions")
    measure("the same, responses", asked, responses_text(20_000), runs=25, path="/v1/responses")
    gemini = "/v1beta/models/m:streamGenerateContent"
    measure("the same, gemini", b'{"contents":[]}', gemini_text(20_000), runs=25, path=gemini)
    bedrock = "/model/m/converse-stream"
    measure("the same, AWS event stream", chat, converse_text(20_000), runs=9, path=bedrock, kind=AWS)
    claude = b'{"anthropic_version":"bedrock-2023-05-31","max_tokens":1,"messages":[]}'
    bedrock = "/model/m/invoke-with-response-stream"
    measure("the same, events in base64 in it", claude, invoke_text(20_000), runs=9, path=bedrock, kind=AWS)
    measure("the same, JSON lines (Ollama)", chat, ollama_text(20_000), runs=9, path="/api/chat", kind=LINES)
    measure(
        "the same, one array (Gemini)", b'{"contents":[]}', gemini_array(20_000), path=gemini, kind="application/json"
    )
    measure("the same, WebSocket (Responses)", b"", socket_text(20_000), runs=9, path="")
    measure("the same, AG-UI protobuf", b'{"messages":[]}', ag_ui_binary(20_000), path="/agui", kind=AG_UI)
    measure("20,000-event stream with 100 calls", small, stream(16_000, 100), runs=7)
    body = stream(20_000, 1)
    measure("the same in gzip", small, gzip.compress(body), encoding="gzip", runs=3)
    remembered()


OPEN = 50


def kept(make):
    """KiB held by ``OPEN`` open exchanges, each."""
    make()  # what is loaded and cached once
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    held = [forgotten(make()) for _ in range(OPEN)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return size / len(held) / 1024


def forgotten(one):
    """What stays of an exchange when its events and its request have been dealt with."""
    one.last.forget_request()
    return one.last


def remembered():
    """Memory of an exchange that is still open, its bytes given and forgotten (the promise: 256 KiB and its open call)."""
    small, text = b'{"model":"m","max_tokens":1,"messages":[]}', stream(2_000, 0)
    rows = {
        "only begun": lambda: Fed(small, b""),
        "after a stream of 2,000 text events": lambda: Fed(small, text),
        "after 50 closed calls": lambda: Fed(small, stream(200, 50)),
        "in a call with 1 KiB of arguments so far": lambda: Fed(small, stream(200, 2)[:-700]),
        "in an event of 16 KiB that has no end yet": lambda: Fed(small, text + b"data: " + b"x" * (16 << 10)),
        "after a 1 MiB request of 200 messages": lambda: Fed(history(), text),
        "a 1 MiB request that has no answer yet": lambda: Fed(history(), b""),
        "the same of 2,000 messages": lambda: Fed(history(2_000), b""),
        "the same of four images": lambda: Fed(images(), b""),
    }
    for name, make in rows.items():
        print(f"{'open exchange, ' + name:58} {kept(make):8.1f} KiB")


if __name__ == "__main__":
    main()
