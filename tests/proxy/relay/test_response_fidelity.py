"""Responses: what the upstream sends is what the client gets, to the last byte and the way it ends."""

import gzip
import random
import zlib

import brotli
import pytest
import zstandard

from .stage import ASK

NOISE = random.Random(9).randbytes(100_000)
SSE = b"".join(b'event: delta\ndata: {"n":%d}\n\n' % n for n in range(50)) + b": comment\n\ndata: [DONE]\n\n"


def ok(body=b"", headers=b"", status=b"200 OK", version=b"1.1"):
    return b"HTTP/" + version + b" " + status + b"\r\n" + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(wire, headers=b""):
    return b"HTTP/1.1 200 OK\r\n" + headers + b"Transfer-Encoding: chunked\r\n\r\n" + wire


def chunks(body, size):
    return (
        b"".join(b"%x\r\n" % len(p) + p + b"\r\n" for p in (body[i : i + size] for i in range(0, len(body), size)))
        + b"0\r\n\r\n"
    )


# kept: the upstream leaves the connection open, so the relay must know where the response ends
KEPT = {
    "plain": ok(b"hello"),
    "empty": ok(),
    "no reason phrase": ok(b"x", status=b"200 "),
    "no space after the status": ok(b"x", status=b"200"),
    "odd reason phrase": ok(b"x", status="200 Très bien \t!".encode()),
    "status 418": ok(b"short and stout", status=b"418 I'm a teapot"),
    "status 429": ok(b"{}", b"Retry-After: 7\r\nx-ratelimit-remaining: 0\r\n", b"429 Too Many Requests"),
    "status 529": ok(b"{}", status=b"529 Overloaded"),
    "status 599": ok(b"x", status=b"599 x"),
    "status 999": ok(b"x", status=b"999 x"),
    "redirect": ok(b"", b"Location: http://elsewhere.example/\r\n", b"307 Temporary Redirect"),
    "206": ok(b"par", b"Content-Range: bytes 0-2/9\r\n", b"206 Partial Content"),
    "205": ok(b"", status=b"205 Reset Content"),
    "header case, order, duplicates": ok(b"x", b"sErVer: q\r\nB: 1\r\nA: 2\r\nb: 3\r\n"),
    "no Date, no Server, no type": ok(b"x"),
    "empty and padded values": ok(b"x", b"E:\r\nS:   a \t\r\nT:\tx\r\n"),
    "bytes that are no UTF-8": ok(b"x", b"R: \xff\xfe\x80\r\n"),
    "cookies": ok(b"x", b"Set-Cookie: a=b; HttpOnly\r\nset-cookie: c=d\r\n"),
    "charset in the type": ok(b"x", b"Content-Type: text/event-stream; charset=utf-8\r\n"),
    "large head": ok(b"x", b"X-Long: " + b"v" * 900_000 + b"\r\n"),
    "1 MiB": ok(NOISE * 11),
    "Content-Length padded": b"HTTP/1.1 200 OK\r\nContent-Length:   2  \r\n\r\nok",
    "gzip": ok(gzip.compress(b"x" * 9000, mtime=0), b"Content-Encoding: gzip\r\n"),
    "gzip with the wrong label": ok(b"plain", b"Content-Encoding: gzip\r\n"),
    "corrupt gzip": ok(gzip.compress(NOISE, mtime=0)[:700], b"Content-Encoding: gzip\r\n"),
    "zstd": ok(zstandard.compress(b"x" * 9000), b"Content-Encoding: zstd\r\n"),
    "br": ok(brotli.compress(b"x" * 9000), b"Content-Encoding: br\r\n"),
    "corrupt br": ok(brotli.compress(NOISE)[:700], b"Content-Encoding: br\r\n"),
    "corrupt zstd": ok(zstandard.compress(NOISE)[:700], b"Content-Encoding: zstd\r\n"),
    "deflate, chunked, cut short": chunked(
        chunks(zlib.compress(b"x" * 9000)[:-4], 50), b"Content-Encoding: deflate\r\n"
    ),
    "zstd by label": ok(b"\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00x", b"Content-Encoding: zstd\r\n"),
    "br by label": ok(b"\x0b\x02\x80hello\x03", b"Content-Encoding: br\r\n"),
    "chunked": chunked(b"5\r\nhello\r\n0\r\n\r\n"),
    "chunked SSE": chunked(chunks(SSE, 37), b"Content-Type: text/event-stream\r\n"),
    "chunk extensions": chunked(b"5;a=b\r\nhello\r\n0;c\r\n\r\n"),
    "trailers": chunked(b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-E:\r\n\r\n"),
    "many small chunks": chunked(chunks(NOISE[:3000], 1)),
    "large chunks": chunked(chunks(NOISE * 5, 70_000)),
    "chunked in odd case": b"HTTP/1.1 200 OK\r\ntRANSFER-eNCODING: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "chunked without a space": b"HTTP/1.1 200 OK\r\nTransfer-Encoding:chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "204": b"HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n",
    "304 with a length": b'HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: "a"\r\n\r\n',
    "100 then 200": b"HTTP/1.1 100 Continue\r\n\r\n" + ok(b"x"),
    "103 then 200": b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" + ok(b"x"),
    "102, 102, 103, 200": b"HTTP/1.1 102 Processing\r\n\r\n" * 2
    + b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
    + ok(b"x"),
    "HTTP/1.0 with a length": ok(b"hello", version=b"1.0"),
    "Connection close with a length": ok(b"hello", b"Connection: close\r\n"),
}

FIN = {
    "until close": b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
    "until close, empty": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    "until close, SSE": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + SSE,
    "until close, 1 MiB": b"HTTP/1.1 200 OK\r\n\r\n" + NOISE * 11,
    "HTTP/1.0 until close": b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\nbody",
    "length then FIN": ok(b"hello"),
    "chunked then FIN": chunked(b"5\r\nhello\r\n0\r\n\r\n"),
}

BAD_HEAD = {
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
    "one bare LF": b"HTTP/1.1 200 OK\r\nA: b\nContent-Length: 1\r\n\r\nx",
    "bare CR": b"HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 1\r\n\r\nx",
    "bare CR, later a bare LF": b"HTTP/1.1 200 OK\r\nA: b\rc\nContent-Length: 1\r\n\r\nx",
    "bare CR in the status line, bare LF behind": b"HTTP/1.1 200 O\rK\nA: b\r\nContent-Length: 1\r\n\r\nx",
    "NUL": b"HTTP/1.1 200 OK\r\nA: b\0\r\nContent-Length: 1\r\n\r\nx",
    "folded line": b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 1\r\n\r\nx",
    "space before the colon": b"HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nx",
    "length and chunked": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "list of lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
    "gzip transfer coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked in HTTP/1.0": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "ICY": b"ICY 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "HTTP/2 status line": b"HTTP/2 200\r\ncontent-length: 1\r\n\r\nx",
    "two-digit status": b"HTTP/1.1 20 OK\r\nContent-Length: 1\r\n\r\nx",
    "status 099": b"HTTP/1.1 099 OK\r\nContent-Length: 1\r\n\r\nx",
    "no line ends at all": b"x" * 2000 + b"\r\n\r\n",
    "more than the length": ok(b"hello") + b"MORE",
    "more than no body": b"HTTP/1.1 204 No Content\r\n\r\nMORE",
    "a second response": ok(b"a") + ok(b"b"),
    "bad first chunk": chunked(b"0x5\r\nhello\r\n0\r\n\r\n"),
    "101 nobody asked for": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02hi",
}


@pytest.mark.parametrize("name", KEPT)
def test_a_response_arrives_as_it_was_sent(stage, name):
    assert stage.play_response(KEPT[name], end="stay") == KEPT[name]


@pytest.mark.parametrize("name", FIN)
def test_a_response_ended_by_fin_arrives_and_ends_so(stage, name):
    assert stage.play_response(FIN[name], end="fin") == FIN[name]


@pytest.mark.parametrize("name", BAD_HEAD)
def test_an_answer_that_cannot_be_followed_is_a_typed_502(stage, name):
    got = stage.play_response(BAD_HEAD[name], end="wait")
    assert got.startswith(b"HTTP/1.1 502 ")
    assert b"Onlooker-Refusal: response-head\r\n" in got


def test_a_head_request_has_no_body_whatever_the_length_says(stage):
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nContent-Type: x/y\r\n\r\n"
    ask = ASK.replace(b"GET", b"HEAD")
    assert stage.play_response(reply, ask=ask, end="stay") == reply


def test_interim_heads_pass_one_by_one(stage):
    pieces = [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", ok(b"x")]
    assert stage.play_response(b"".join(pieces), pieces=pieces, end="stay") == b"".join(pieces)


def test_the_tables_are_as_large_as_promised():
    assert len(KEPT) + len(FIN) + len(BAD_HEAD) >= 70
