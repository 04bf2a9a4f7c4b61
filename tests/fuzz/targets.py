"""What is fuzzed: one function a parser, given bytes; it returns, or fails because a promise of the parser is broken.

The first byte of an input says where the rest is cut in two: whole and in parts must read the same. ``seeds`` names,
for each target, the golden folders (and files in them) its corpus is made of; ``extra`` are inputs no golden case holds.
Checksums are put right before reading (odd first byte), or no mutation would ever pass them; even ones stay wrong.
``reads`` is the module whose lines the seeds must reach (``test_fuzz.py``): a target whose seeds are all refused at
the door guides nobody.
"""

import contextlib
import gzip
import re
import ssl
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import brotli
import zstandard

from proxy.exchange import Side
from proxy.relay import head, hello
from proxy.relay.chunks import BadChunkError, Chunks
from proxy.relay.refusals import REFUSALS, RefusedError
from proxy.spool import format as fmt
from proxy.wire import Frame
from proxy.wire.ag_ui_proto import AgUiProtoDecoder
from proxy.wire.content_coding import SIZE_CAP, ContentDecoder
from proxy.wire.event_stream import EventStreamDecoder
from proxy.wire.json_body import JsonDecoder
from proxy.wire.multipart import MultipartDecoder
from proxy.wire.ndjson import LineDecoder
from proxy.wire.sse import SseDecoder
from proxy.wire.websocket import WebSocketDecoder
from tests.proxy.relay.test_head import by_h11, by_httptools

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
    body, _, _ = in_two(data)
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
    if body.find(b"\r\n\r\n") == len(body) - 4:
        for other in (by_h11, by_httptools):
            assert other(body) in {None, (method, target, -1 if chunked else length)}


def response_head(data: bytes) -> None:
    body, _, _ = in_two(data)
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
    whole, first, _ = in_two(_sums(data, _spool_sums))
    found = fmt.scan(whole)
    assert found.consumed <= len(whole)
    again = fmt.scan(whole[: found.consumed])
    assert (again.entries, again.damage) == (found.entries, "")
    assert fmt.scan(first).entries == found.entries[: len(fmt.scan(first).entries)]
    assert 0 <= fmt.skip(whole, found.consumed) <= len(whole)
    for e in found.entries:
        assert fmt.entry(e.exchange, e.seq, e.mono_ns, e.kind, e.payload) in whole
        with contextlib.suppress(struct.error):  # a section shorter than its own lengths: the reader says so
            parts = fmt.split(e.kind, e.payload)
            assert parts.forwarded <= len(e.payload)


def _sums(data: bytes, right: Callable[[bytearray], None]) -> bytes:
    if not data or not data[0] & 1:
        return data
    body = bytearray(data[1:])
    right(body)
    return data[:1] + body


def _spool_sums(body: bytearray) -> None:
    at = 0
    while len(body) - at >= fmt.HEADER_BYTES:
        size, _ = fmt.PREFIX.unpack_from(body, at)
        stop = at + fmt.HEADER_BYTES + size
        if stop > len(body):
            return
        rest = bytes(body[at + fmt.PREFIX.size : at + fmt.HEADER_BYTES])
        fmt.PREFIX.pack_into(body, at, size, zlib.crc32(body[at + fmt.HEADER_BYTES : stop], zlib.crc32(rest)))
        at = stop


def _event_sums(body: bytearray) -> None:
    at = 0
    while len(body) - at >= 12:
        (total,) = struct.unpack_from(">I", body, at)
        struct.pack_into(">I", body, at + 8, zlib.crc32(body[at : at + 8]))
        if not 16 <= total <= len(body) - at:
            return
        struct.pack_into(">I", body, at + total - 4, zlib.crc32(body[at : at + total - 4]))
        at += total


def event_stream(data: bytes) -> None:
    _read_events(_sums(data, _event_sums))


def client_hello(data: bytes) -> None:
    whole, first, _ = in_two(data)
    early, late = _hello(first), _hello(whole)
    assert early is None or early == late


def _hello(data: bytes) -> object:
    try:
        return hello.client_hello(data)
    except hello.NotHelloError:
        return "none"


CODINGS = ("gzip", "deflate", "br", "zstd", "gzip, br")


def coding(data: bytes) -> None:
    """The first byte says the coding, the second the cut."""
    name = CODINGS[data[0] % len(CODINGS)] if data else ""
    whole, first, rest = in_two(data[1:])
    once, problem, plain = _decoded(name, whole)
    again, other, _ = _decoded(name, first, rest)
    assert (once, problem) == (again, other)
    assert plain <= min(SIZE_CAP, max(8 << 20, 100 * len(whole)))


def _decoded(name: str, *pieces: bytes) -> tuple[bytes, str | None, int]:
    made = ContentDecoder(name)
    out = b"".join([made.feed(p) for p in pieces])
    return out, made.close(), made.bytes_out


GATE = (re.compile(rb"tool|\\\\"),)  # as a provider's marks: an escape counts, too


def decoder(make: Callable[[], object], *, same: bool) -> Callable[[bytes], None]:
    """``same``: cut or not, the frames are equal; else only that nothing is raised and no frame is invented from nothing.

    Of a framing that passes over what has no mark, no frame with a mark in it is ever missing.
    """

    def read(*pieces: bytes, gate: tuple[re.Pattern[bytes], ...] = ()) -> list[Frame]:
        made, frames = make(), []
        if gate:
            made.gate = gate
        for piece in pieces:
            frames += made.feed(piece)
        return frames + made.close(clean=True)

    def target(data: bytes) -> None:
        whole, first, rest = in_two(data)
        once, twice = read(whole), read(first, rest)
        assert not whole or len(once) <= len(whole)
        if same:
            assert repr(once) == repr(twice)  # a NaN equals nothing
        if hasattr(make(), "gate"):
            for pieces in ((whole,), (first, rest)):
                assert not _marked(once) - _marked(read(*pieces, gate=GATE))

    return target


def _marked(frames: list[Frame]) -> set[str]:
    return {repr((f.event, f.data)) for f in frames if f.error is None and "tool" in repr(f.data)}


sse = decoder(lambda: SseDecoder(cap=4096), same=True)
_read_events = decoder(lambda: EventStreamDecoder(Side.RESPONSE), same=True)


@dataclass(frozen=True)
class Target:
    run: Callable[[bytes], None]
    reads: str
    seeds: str = ""
    extra: tuple[bytes, ...] = ()
    words: tuple[bytes, ...] = ()  # what a mutation may put in
    fronts: tuple[bytes, ...] = (b"\x80", b"\x81")  # what stands before a seed

    def corpus(self) -> list[bytes]:
        """Small golden inputs, a cut point before each."""
        files = sorted(p for p in GOLDEN.glob(self.seeds) if p.is_file()) if self.seeds else []
        found = [p.read_bytes() for p in files]
        bodies = [one for one in (*self.extra, *sorted(found, key=len)[:100]) if len(one) <= 65536]
        return [front + one for one in bodies for front in self.fronts]


def ask(*lines: bytes, first: bytes = b"POST /v1/messages HTTP/1.1", host: bytes = b"Host: a.example") -> bytes:
    return b"\r\n".join((first, host, *lines, b"", b""))


def told(*lines: bytes, first: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return b"\r\n".join((first, *lines, b"", b""))


ASKED = (
    b"",
    ask(b"Content-Length: 2", b"X-Api-Key: k", b"Authorization: Bearer t"),
    ask(b"Transfer-Encoding: chunked", b"Connection: close, Upgrade", b"Origin: http://b.example"),
    ask(first=b"GET /o/x/api?key=1 HTTP/1.0"),
    ask(first=b"GET / HTTP/1.1", host=b"X: y"),
    ask(first=b"PRI * HTTP/2.0"),
    ask(first=b"GET / HTTP/3"),
    ask(first=b"GET  / HTTP/1.1"),
    ask(b"Content-Length: 1", b"Content-Length: 1"),
    ask(b"Content-Length: x"),
    ask(b"Content-Length: 1", b"Transfer-Encoding: chunked"),
    ask(b"Transfer-Encoding: gzip"),
    ask(b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.0"),
    ask(b" folded"),
    ask(b"A: b\nC: d"),
)
TOLD = (
    b"",
    told(b"Transfer-Encoding: chunked", b"Set-Cookie: a=b", b"Connection: close"),
    told(b"Content-Length: 5", first=b"HTTP/1.0 204"),
    told(b"Content-Length: 1", b"Content-Length: 1"),
    told(b"Content-Length: 1", b"Transfer-Encoding: chunked"),
    told(b"Transfer-Encoding: gzip"),
    told(b"Upgrade: websocket", b"Sec-WebSocket-Protocol: a", first=b"HTTP/1.1 101 Switching Protocols"),
)
FIELDS = (
    b"Host: ", b"Content-Length: ", b"Transfer-Encoding: ", b"chunked", b"Connection: ", b"close", b"upgrade", b"Cookie: ",
    b"HTTP/1.1", b"HTTP/1.0", b"\r\n", b"\r\n\r\n", b"\n", b"\r", b"\0", b": ", b" :", b"\r\n ", b"Origin: ",
)  # fmt: skip
CHUNKED = (
    b'5;a="b"\r\nhello\r\n0\r\nTrailer: x\r\n\r\n',
    b"0\r\n\r\n",
    b"1\r\na\r\n00A\r\n0123456789\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    b"5\r\nhelloX\r\n",
    b"5 \r\nhello\r\n",
    b"0\r\nA : b\r\n\r\n",
)
SPOOLED = fmt.entry(1, 1, 1, fmt.OPEN | fmt.HEAD | fmt.BODY, b"\x02\x00{}\x00\x00\x03\x00\x00\x00abcbody") + fmt.entry(
    1, 2, 2, fmt.CONTROL, b'{"event":"closed"}'
)
EVENTS = (
    b"\xef\xbb\xbfevent: a\r\ndata: {}\r\n\r\n: c\rdata: tool\r\rdata: [DONE]\n\ndata\n\n",
    b'data: {"a"\ndata: :1}\n\nid: 1\nretry: 5\n\ndata: [tool\n\ndata: {"\xff":1}\n\n'
    b"data: " + b"x" * 5000 + b"\n\ndata: 1",
)
SQUEEZED = zlib.compressobj(wbits=-15)
SQUEEZED_TEXT = SQUEEZED.compress(b'{"tool":1}') + SQUEEZED.flush(zlib.Z_SYNC_FLUSH)[:-4]
MESSAGES = (
    b"\x81\x02{}\x88\x02\x03\xe8\x81\x02[x\x81\x01t",
    b"\x01\x01[\x80\x01]",
    b"\x81\x82aaaa\x1a\x1c\x89\0\x8a\0",
    b"\x82\x7e\x00\x7e" + b"b" * 126,
    b"\xc1" + bytes([len(SQUEEZED_TEXT)]) + SQUEEZED_TEXT + b"\xc1\x02\xff\xff",
    b"\x81\x7f" + (1 << 40).to_bytes(8, "big") + b"more",
    b"\xf1\0more",
    b"\x82\x02{x",
)
PARTS = (
    b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nvalue\r\n--b\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n--b--\r\n',
    b"preamble\r\n--b\r\n\r\n--b--",
    b"--b\r\nContent-Type: application/json\r\n\r\n{\r\n--b",
)
PLAIN = b'data: {"tool":"shell","arguments":"ls"}\n\n' * 8
CODED = (
    b"\0\x80" + gzip.compress(PLAIN, mtime=0) + gzip.compress(b"more", mtime=0) + b"\0\0",
    b"\1\x80" + zlib.compress(PLAIN),
    b"\1\x80" + zlib.compress(PLAIN)[2:-4],
    b"\2\x80" + brotli.compress(PLAIN),
    b"\3\x80" + zstandard.compress(PLAIN) * 2,
    b"\4\x80" + brotli.compress(gzip.compress(PLAIN, mtime=0)),
    b"\0\x80" + gzip.compress(PLAIN, mtime=0)[:-9] + b"damaged",
)


def _hellos() -> tuple[bytes, ...]:
    """What a real client says first, whole and in two records."""
    made, out = ssl.create_default_context(), ssl.MemoryBIO()
    made.set_alpn_protocols(["h2", "http/1.1"])
    with contextlib.suppress(ssl.SSLWantReadError):
        made.wrap_bio(ssl.MemoryBIO(), out, server_hostname="a.example").do_handshake()
    said = out.read()
    parts = said[5:105], said[105:]
    return said, b"".join(b"\x16\3\1" + len(p).to_bytes(2, "big") + p for p in parts)


def _lines() -> LineDecoder:
    return LineDecoder(Side.RESPONSE, cap=4096)


TARGETS = {
    "request-head": Target(request_head, "proxy.relay.head:request", "", ASKED, FIELDS),
    "response-head": Target(response_head, "proxy.relay.head:response", "", TOLD, FIELDS),
    "chunks": Target(chunked, "proxy.relay.chunks", "", CHUNKED, (b"0\r\n\r\n", b"\r\n", b"1\r\n", b";a=b\r\n")),
    "client-hello": Target(client_hello, "proxy.relay.hello", "", _hellos()),
    "spool": Target(spool, "proxy.spool.format", "", (SPOOLED,)),
    "sse": Target(
        sse, "proxy.wire.sse", "anthropic-messages/*/response.body", EVENTS, (b"\n\n", b"\r\n\r\n", b"data: ")
    ),
    "json": Target(
        decoder(lambda: JsonDecoder(Side.RESPONSE), same=True), "proxy.wire.json_body", "gemini*/*/response.body"
    ),
    "ndjson": Target(
        decoder(_lines, same=True), "proxy.wire.ndjson", "ollama/*/response.body", (b"x" * 5000 + b"\n{}\n[",)
    ),
    "event-stream": Target(event_stream, "proxy.wire.event_stream", "bedrock-*/*/response.body"),
    "websocket": Target(
        decoder(lambda: WebSocketDecoder(Side.RESPONSE), same=True), "proxy.wire.websocket:_take", "", MESSAGES
    ),
    "websocket-deflate": Target(
        decoder(lambda: WebSocketDecoder(Side.RESPONSE, deflate=True), same=True), "proxy.wire.websocket", "", MESSAGES
    ),
    "multipart": Target(
        decoder(lambda: MultipartDecoder(Side.REQUEST, "b"), same=True),
        "proxy.wire.multipart",
        "",
        PARTS,
        (b"\r\n--b\r\n", b"--b--", b"Content-Type: application/json\r\n\r\n", b"Content-Disposition: form-data; name="),
    ),
    "protobuf": Target(
        decoder(AgUiProtoDecoder, same=True),
        "proxy.wire.ag_ui_proto",
        "ag-ui-proto/*/response.body",
        (b"\0\0\0\0\0\0\0\1\xff\0\0", b"\x7f\xff\xff\xffmore"),
    ),
    "content-coding": Target(coding, "proxy.wire.content_coding", "", CODED, fronts=(b"",)),
}
