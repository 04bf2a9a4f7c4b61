"""What is fuzzed: one function a parser, given bytes; it returns, or fails because a promise of the parser is broken.

The first byte of an input says where the rest is cut in two: whole and in parts must read the same. ``SEEDS`` names,
for each target, the golden folders (and files in them) its corpus is made of; ``extra`` are inputs no golden case holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proxy.exchange import Side
from proxy.relay import head
from proxy.relay.chunks import BadChunkError, Chunks
from proxy.relay.refusals import REFUSALS, RefusedError
from proxy.spool import format as fmt
from proxy.wire.ag_ui_proto import AgUiProtoDecoder
from proxy.wire.event_stream import EventStreamDecoder
from proxy.wire.json_body import JsonDecoder
from proxy.wire.sse import SseDecoder
from proxy.wire.websocket import WebSocketDecoder

GOLDEN = Path(__file__).parents[1] / "golden"


def _is(promise) -> None:
    assert promise


def in_two(data: bytes) -> tuple[bytes, bytes, bytes]:
    """(all, its first part, the rest)."""
    if not data:
        return b"", b"", b""
    body = data[1:]
    at = data[0] * len(body) // 256
    return body, body[:at], body[at:]


def request_head(data: bytes) -> None:
    _, _, body = in_two(data)
    try:
        method, target, keep, length, chunked, _, _, low = head.request(body)
    except RefusedError as error:
        _is(error.code in REFUSALS)
        return
    assert body.startswith(method + b" " + target + b" HTTP/1.")
    assert (low, type(keep)) == (body.lower(), bool)
    assert not (chunked and length)
    lines = body.split(b"\r\n")
    assert b"\n" not in b"".join(lines)
    assert sum(line.lower().startswith(b"host:") for line in lines) <= 1


def response_head(data: bytes) -> None:
    _, _, body = in_two(data)
    try:
        status, _, length, chunked, _, _ = head.response(body)
    except RefusedError as error:
        _is(error.code == "response-head")
        return
    assert 100 <= status <= 999
    assert not (chunked and length >= 0)


def chunked(data: bytes) -> None:
    whole, first, rest = in_two(data)
    assert _chunked(whole) == _chunked(first, rest)


def _chunked(*pieces: bytes) -> tuple[int, bytes] | None:
    """(where the body ended in all of it, or -1; its data), or None when the framing is bad."""
    state, seen, out = Chunks(), 0, []
    for piece in pieces:
        try:
            stop = state.feed(piece, 0, out)
        except BadChunkError:
            return None
        if stop >= 0:
            return seen + stop, b"".join(out)
        seen += len(piece)
    return -1, b"".join(out)


def spool(data: bytes) -> None:
    whole, first, _ = in_two(data)
    found = fmt.scan(whole)
    assert found.consumed <= len(whole)
    again = fmt.scan(whole[: found.consumed])
    assert (again.entries, again.damage) == (found.entries, "")
    assert fmt.scan(first).entries == found.entries[: len(fmt.scan(first).entries)]
    assert 0 <= fmt.skip(whole, found.consumed) <= len(whole)
    for e in found.entries:
        assert fmt.entry(e.exchange, e.seq, e.mono_ns, e.kind, e.payload) in whole


def decoder(make: Callable[[], object], *, same: bool) -> Callable[[bytes], None]:
    """``same``: cut or not, the frames are equal; else only that nothing is raised and no frame is invented from nothing."""

    def read(*pieces: bytes) -> list[object]:
        made, frames = make(), []
        for piece in pieces:
            frames += made.feed(piece)
        return frames + made.close(clean=True)

    def target(data: bytes) -> None:
        whole, first, rest = in_two(data)
        once, twice = read(whole), read(first, rest)
        assert not whole or len(once) <= len(whole)
        if same:
            assert repr(once) == repr(twice)  # a NaN equals nothing

    return target


@dataclass(frozen=True)
class Target:
    run: Callable[[bytes], None]
    seeds: str
    extra: tuple[bytes, ...] = ()

    def corpus(self) -> list[bytes]:
        """Small golden inputs, a cut point before each."""
        files = sorted(p for p in GOLDEN.glob(self.seeds) if p.is_file()) if self.seeds else []
        found = [p.read_bytes() for p in files]
        return [b"\x80" + one for one in (*self.extra, *sorted(found, key=len)[:100]) if len(one) <= 65536]


ASK = b"POST /v1/messages HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\nX-Api-Key: k\r\n\r\n"
TOLD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n"
CHUNKED = b'5;a="b"\r\nhello\r\n0\r\nTrailer: x\r\n\r\n'
SPOOLED = fmt.entry(1, 1, 1, fmt.OPEN | fmt.HEAD | fmt.BODY, b"\x02\x00{}\x00\x00\x03\x00\x00\x00abcbody") + fmt.entry(
    1, 2, 2, fmt.CONTROL, b'{"event":"closed"}'
)

TARGETS = {
    "request-head": Target(request_head, "", (b"", ASK)),
    "response-head": Target(response_head, "", (b"", TOLD)),
    "chunks": Target(chunked, "", (CHUNKED, b"0\r\n\r\n")),
    "spool": Target(spool, "", (SPOOLED,)),
    "sse": Target(decoder(SseDecoder, same=True), "anthropic-messages/*/response.body"),
    "json": Target(decoder(lambda: JsonDecoder(Side.RESPONSE), same=True), "gemini*/*/response.body"),
    "event-stream": Target(decoder(lambda: EventStreamDecoder(Side.RESPONSE), same=True), "bedrock-*/*/response.body"),
    "websocket": Target(
        decoder(lambda: WebSocketDecoder(Side.RESPONSE), same=True),
        "",
        (b"\x81\x02{}\x88\x02\x03\xe8", b"\x01\x01[\x80\x01]"),
    ),
    "protobuf": Target(decoder(AgUiProtoDecoder, same=True), "ag-ui-proto/*/response.body"),
}
