"""A model's API on ``python mixed_upstream.py PORT``: JSON, chunked JSON, an event stream, a WebSocket, and broken answers.

``POST /v1/chat/completions?n=N&kind=json|chunked|sse|rst|late`` answers with one tool call ``call_N``;
``GET /v1/responses?n=N`` upgraded to a WebSocket answers the first message with one. ``rst`` resets in the middle.
"""

import asyncio
import base64
import hashlib
import json
import re
import socket
import struct
import sys

ARGUMENTS = '{"command":"ls -l /srv"}'
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def chat(number):
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "Bash", "arguments": ARGUMENTS}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**body, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()


def stream(number):
    base = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    first = {"index": 0, "id": f"call_{number}", "type": "function", "function": {"name": "Bash", "arguments": ""}}
    deltas = [{"role": "assistant", "tool_calls": [first]}]
    pieces = [ARGUMENTS[at : at + 5] for at in range(0, len(ARGUMENTS), 5)]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    chunks = [{**base, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return [b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks] + [b"data: [DONE]\n\n"]


def socket_messages(number):
    item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "Bash"}
    response = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "model": "m", "output": []}
    whole = {**item, "arguments": ARGUMENTS, "status": "completed"}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}},
        {
            "type": "response.function_call_arguments.delta",
            "output_index": 0,
            "item_id": item["id"],
            "delta": ARGUMENTS,
        },
        {
            "type": "response.function_call_arguments.done",
            "output_index": 0,
            "item_id": item["id"],
            "arguments": ARGUMENTS,
        },
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [whole]}},
    ]


def frame(payload, opcode=1):
    size = len(payload)
    head = bytes([0x80 | opcode, size]) if size < 126 else bytes([0x80 | opcode, 126]) + struct.pack("!H", size)
    return head + payload


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


async def answer(reader, writer, head):
    number = int(re.search(rb"[?&]n=(\d+)", head)[1])
    kind = (re.search(rb"kind=(\w+)", head) or [b"", b"socket"])[1]
    size = int((re.search(rb"(?i)\r\ncontent-length: *(\d+)", head) or [b"", b"0"])[1])
    await reader.readexactly(size)
    await KINDS[kind](reader, writer, head, number)


async def _json(_reader, writer, _head, number):
    body = chat(number)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


async def _late(reader, writer, head, number):
    await asyncio.sleep(0.3)
    await _json(reader, writer, head, number)


async def _chunked(_reader, writer, _head, number):
    body = chat(number)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    for at in range(0, len(body), 50):
        writer.write(chunk(body[at : at + 50]))
        await writer.drain()
    writer.write(b"0\r\n\r\n")


async def _sse(_reader, writer, _head, number):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for event in stream(number):
        writer.write(chunk(event))
        await writer.drain()
        await asyncio.sleep(0.005)
    writer.write(b"0\r\n\r\n")


async def _rst(_reader, writer, _head, number):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for event in stream(number)[:3]:
        writer.write(chunk(event))
    await asyncio.sleep(0.02)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _socket(reader, writer, head, number):
    key = re.search(rb"(?i)sec-websocket-key: *(\S+)", head)[1]
    accept = base64.b64encode(hashlib.sha1(key + _GUID).digest())
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n"
        % accept
    )
    size = (await reader.readexactly(2))[1] & 0x7F
    size = struct.unpack("!H", await reader.readexactly(2))[0] if size == 126 else size
    await reader.readexactly(4 + size)
    for message in socket_messages(number):
        writer.write(frame(json.dumps(message).encode()))
        await writer.drain()
        await asyncio.sleep(0.002)
    writer.write(frame(b"\x03\xe8", 8))
    await reader.readexactly(8)
    raise EOFError


KINDS = {b"json": _json, b"late": _late, b"chunked": _chunked, b"sse": _sse, b"rst": _rst, b"socket": _socket}


async def serve(reader, writer):
    try:
        while True:
            await answer(reader, writer, await reader.readuntil(b"\r\n\r\n"))
            await writer.drain()
    except (OSError, EOFError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
