"""An upstream of its own process: ``python upstream.py PORT``. Answers each head with the path as body, twenty times over.

``/sse…``: a chunked event stream; a request to ``/tick`` sends one event to all of them. ``/slow/…``: an answer in two halves. ``/v1/chat/completions?n=…``: a tool call.
"""

import asyncio
import json
import sys


def chat(number):
    """A chat completion with one tool call, its id made of the path's number."""
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "Bash", "arguments": '{"command":"ls"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "m"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    raw = json.dumps(body).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(raw) + raw


class Answer(asyncio.Protocol):
    streams: set = set()  # noqa: RUF012 - one process, one set

    def connection_made(self, transport):
        self.transport = transport
        self.held = b""

    def data_received(self, data):
        self.held += data
        while b"\r\n\r\n" in self.held:
            head, _, rest = self.held.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r")[0] or 0)
            if len(rest) < size:
                return
            self.held = rest[size:]
            self.answer(head.split(b" ")[1])

    def answer(self, path):
        write = self.transport.write
        if path.startswith(b"/sse"):
            write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n: hello\r\n"
            )
            Answer.streams.add(self.transport)
            return
        if path.startswith(b"/tick"):
            for one in Answer.streams:
                one.write(b"E\r\ndata: event-1\n\r\n")
        if path.startswith(b"/v1/chat/completions"):
            write(chat(path.rpartition(b"=")[2].decode()))
            return
        body = path * 20
        reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        if path.startswith(b"/slow"):
            write(reply[:-10])
            asyncio.get_running_loop().call_later(0.05, write, reply[-10:])
        else:
            write(reply)

    def connection_lost(self, _):
        Answer.streams.discard(self.transport)


async def main():
    server = await asyncio.get_running_loop().create_server(Answer, "127.0.0.1", int(sys.argv[1]), backlog=4096)
    await server.serve_forever()


asyncio.run(main())
