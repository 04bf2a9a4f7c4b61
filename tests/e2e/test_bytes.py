"""What goes in comes out, byte for byte, at several segmentations and codings, and is read all the same."""

import gzip
import json
import zlib

import brotli
import pytest
import zstandard


def request_at_upstream(upstream, case):
    head, _, body = upstream.requests[case][-1].partition(b"\r\n\r\n")
    return head, body


CODINGS = {
    "gzip": gzip.compress,
    "gzip in two members": lambda b: gzip.compress(b[: len(b) // 2]) + gzip.compress(b[len(b) // 2 :]),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": lambda b: zstandard.ZstdCompressor().compress(b),
}
ASK = {"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "x"}]}


@pytest.mark.parametrize("size", [1, 13, 100_000])
@pytest.mark.parametrize("name", list(CODINGS))
def test_coded_bodies_pass_unchanged_and_their_calls_are_read(live, upstream, bodies, name, size):
    case = f"enc-{name.replace(' ', '-')}-{size}"
    call = f"toolu_{zlib.crc32(case.encode()):010}"
    coding = name.split()[0]
    body = CODINGS[name](bodies.anthropic(call))
    asked = CODINGS[name](json.dumps(ASK).encode())
    answer = upstream.answer(
        case,
        body,
        content_type="text/event-stream",
        pieces=bodies.cuts(body, size),
        head=f"Content-Encoding: {coding}\r\n",
    )
    got = live.post(
        f"/up/{case}/v1/messages",
        asked,
        "Content-Type: application/json",
        f"Content-Encoding: {coding}",
        "anthropic-version: 2023-06-01",
    )
    assert got == answer
    head, received = request_at_upstream(upstream, case)
    assert received == asked
    assert head.startswith(f"POST /{case}/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:{upstream.port}\r\n".encode())
    (action,) = live.calls(call)
    assert action["call"]["arguments"] == {"command": "rm -rf /srv/größe"}


@pytest.mark.parametrize("size", [1, 3, 40, 5000])
def test_chunked_streams_keep_their_very_chunks(live, upstream, bodies, size):
    case, call = f"chunks{size}", f"toolu_ch{size:08}"
    answer = upstream.chunked(case, bodies.cuts(bodies.anthropic(call), size))
    got = live.post(
        f"/up/{case}/v1/messages", json.dumps(ASK).encode(), "Content-Type: application/json", until=b"\r\n0\r\n\r\n"
    )
    assert got == answer
    live.calls(call)


def test_a_call_is_recorded_while_its_stream_is_still_open(live, upstream, bodies):
    call = "toolu_open0001"
    stream = bodies.anthropic(call)
    at = stream.index(b"event: message_delta")
    seen = []
    upstream.cases["open"] = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
        stream[:at],
        lambda: seen.append(live.calls(call)),
        stream[at:],
        b"",
    ]
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(stream)}\r\n\r\n".encode()
    upstream.cases["open"][0] = head
    got = live.post("/up/open/v1/messages", json.dumps(ASK).encode(), "Content-Type: application/json")
    assert got == head + stream
    assert len(seen[0]) == 1


def test_a_large_body_passes_and_is_read(live, upstream, bodies):
    call = "toolu_large001"
    upstream.answer("large", bodies.anthropic(call), content_type="text/event-stream")
    ask = ASK | {"messages": [{"role": "user", "content": "y" * (3 << 20)}]}
    body = json.dumps(ask).encode()
    live.post("/up/large/v1/messages", body, "Content-Type: application/json")
    assert request_at_upstream(upstream, "large")[1] == body
    live.calls(call)
