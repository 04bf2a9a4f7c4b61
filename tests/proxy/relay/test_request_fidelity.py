"""Requests: what the client sends is what the upstream gets, apart from target prefix and Host value."""

import gzip
import os
import random
import zlib

import brotli
import pytest
import zstandard

from .stage import OK

H = b"Host: @HOST@\r\n"
NOISE = random.Random(7).randbytes(100_000)


def get(headers=b"", target=b"/", method=b"GET", version=b"1.1"):
    return method + b" " + target + b" HTTP/" + version + b"\r\n" + H + headers + b"\r\n"


def post(body, headers=b"", method=b"POST"):
    return method + b" /p HTTP/1.1\r\n" + H + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(wire, headers=b""):
    return b"POST /c HTTP/1.1\r\n" + H + headers + b"Transfer-Encoding: chunked\r\n\r\n" + wire


SAME = {
    "plain": get(),
    "header case kept": get(b"X-CaSe-KEPT: Yes\r\nx-lower: a\r\nX-UPPER: B\r\n"),
    "header order kept": get(b"B: 1\r\nA: 2\r\nC: 3\r\nA: 4\r\n"),
    "duplicate headers": get(b"X-D: 1\r\nX-D: 1\r\nX-D: 2\r\n"),
    "empty value": get(b"X-Empty:\r\nX-Empty-Sp: \r\n"),
    "spaces around a value": get(b"X-Sp:    a  b   \r\n"),
    "tabs around a value": get(b"X-Tab:\t\ta\tb\t\r\n"),
    "no space after the colon": get(b"X-Tight:1\r\n"),
    "value bytes that are no UTF-8": get(b"X-Raw: \xff\xfe\x80\xc3\x28\r\n"),
    "value in UTF-8": get("X-Name: zażółć 日本\r\n".encode()),
    "control bytes in a value": get(b"X-Ctl: \x01\x02\x1b[31m\x7f\r\n"),
    "every token character in a name": get(b"!#$%&'*+-.^_`|~09azAZ: v\r\n"),
    "long value": get(b"X-Long: " + b"v" * 60_000 + b"\r\n"),
    "head near 1 MiB": get(b"X-Long: " + b"v" * 1_000_000 + b"\r\n"),
    "five hundred headers": get(b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(500))),
    "Host in odd case": b"GET / HTTP/1.1\r\nhOST: @HOST@\r\n\r\n",
    "Host without a space": b"GET / HTTP/1.1\r\nHost:@HOST@\r\n\r\n",
    "Host after other headers": b"GET / HTTP/1.1\r\nA: 1\r\nHost: @HOST@\r\nB: 2\r\n\r\n",
    "Host last": b"GET / HTTP/1.1\r\nX-Host: not.example\r\nHost: @HOST@\r\n\r\n",
    "names that contain host": get(b"X-Forwarded-Host: a.example\r\nHostname: b.example\r\n"),
    "unknown method": get(method=b"BREW"),
    "lower-case method": get(method=b"get"),
    "odd method": get(method=b"M-SEARCH"),
    "PATCH": post(b'{"a":1}', method=b"PATCH"),
    "DELETE with a body": post(b"gone", method=b"DELETE"),
    "GET with a body": post(b"why not", method=b"GET"),
    "OPTIONS star": get(target=b"*", method=b"OPTIONS"),
    "OPTIONS path": get(target=b"/x", method=b"OPTIONS"),
    "CORS preflight": get(
        b"Origin: http://localhost:3000\r\nAccess-Control-Request-Method: POST\r\n", method=b"OPTIONS"
    ).replace(b"@HOST@", b"@HOST@"),
    "Content-Length 0": post(b""),
    "small body": post(b"hello"),
    "binary body": post(bytes(range(256))),
    "1 MiB body": post(NOISE * 11),
    "gzip body": post(gzip.compress(b"x" * 5000, mtime=0), b"Content-Encoding: gzip\r\n"),
    "br body": post(brotli.compress(b"x" * 5000), b"Content-Encoding: br\r\n"),
    "zstd body": post(zstandard.compress(b"x" * 5000), b"Content-Encoding: zstd\r\n"),
    "two codings": post(brotli.compress(gzip.compress(b"x" * 5000)), b"Content-Encoding: gzip, br\r\n"),
    "corrupt br body": post(brotli.compress(NOISE)[:500] + b"\0" * 20, b"Content-Encoding: br\r\n"),
    "corrupt zstd body": post(zstandard.compress(NOISE)[:500] + b"\0" * 20, b"Content-Encoding: zstd\r\n"),
    "Expect, the body sent at once": post(b"hello", b"Expect: 100-continue\r\n"),
    "Expect of something else": post(b"hello", b"Expect: teapot\r\n"),
    "head of 1 MiB to the byte": get(b"X: " + b"v" * ((1 << 20) - 42) + b"\r\n"),
    "corrupt gzip body": post(gzip.compress(NOISE, mtime=0)[:500] + b"\0" * 20, b"Content-Encoding: gzip\r\n"),
    "deflate body": post(zlib.compress(b"y" * 5000), b"Content-Encoding: deflate\r\n"),
    "body that looks like a request": post(b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"),
    "body of CRLFs": post(b"\r\n\r\n\r\n\r\n"),
    "Content-Length with spaces": b"POST / HTTP/1.1\r\n" + H + b"Content-Length:  5 \r\n\r\nhello",
    "Content-Length with zeros in front": b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 0005\r\n\r\nhello",
    "one chunk": chunked(b"5\r\nhello\r\n0\r\n\r\n"),
    "empty chunked": chunked(b"0\r\n\r\n"),
    "chunk extensions": chunked(b"5;name=value\r\nhello\r\n0;last\r\n\r\n"),
    "quoted chunk extension": chunked(b'5;a="b;c"\r\nhello\r\n0\r\n\r\n'),
    "upper-case chunk size": chunked(b"A\r\n0123456789\r\n0\r\n\r\n"),
    "chunk size with zeros in front": chunked(b"0005\r\nhello\r\n000\r\n\r\n"),
    "chunks of one byte": chunked(b"1\r\nx\r\n" * 500 + b"0\r\n\r\n"),
    "chunk of CRLFs": chunked(b"4\r\n\r\n\r\n\r\n0\r\n\r\n"),
    "large chunks": chunked((b"%x\r\n" % len(NOISE) + NOISE + b"\r\n") * 5 + b"0\r\n\r\n"),
    "trailers": chunked(b"5\r\nhello\r\n0\r\nX-Sum: abc\r\nX-Two:\r\n\r\n", b"Trailer: X-Sum\r\n"),
    "TE trailers": get(b"TE: trailers\r\nConnection: TE\r\n"),
    "Connection keep-alive": get(b"Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n"),
    "Connection close": get(b"Connection: close\r\n"),
    "HTTP/1.0": get(version=b"1.0"),
    "HTTP/1.0 without Host": b"GET / HTTP/1.0\r\n\r\n",
    "HTTP/1.0 keep-alive": get(b"Connection: keep-alive\r\n", version=b"1.0"),
    "HTTP/1.0 with a body": b"POST / HTTP/1.0\r\n" + H + b"Content-Length: 3\r\n\r\nabc",
    "Upgrade nobody takes": get(b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"),
    "h2c upgrade nobody takes": get(
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    ),
    "Proxy-Connection": get(b"Proxy-Connection: keep-alive\r\n"),
    "Via and Forwarded": get(b"Via: 1.1 a\r\nForwarded: for=1.2.3.4\r\nX-Forwarded-For: 1.2.3.4\r\n"),
    "credentials": get(b"Authorization: Bearer s3cret\r\nX-Api-Key: k\r\nCookie: a=b; c=d\r\nCookie: e=f\r\n"),
    "double slash": get(target=b"//a//b"),
    "dot segments": get(target=b"/a/../b/./c"),
    "percent sequences": get(target=b"/%2e%2e/%00/%zz/%"),
    "raw UTF-8 path": get(target="/zażółć/日本".encode()),
    "bytes that are no UTF-8 in the path": get(target=b"/\xff\xfe"),
    "query only": get(target=b"/?"),
    "odd query": get(target=b"/a?b=c&b=d&&=e?f=#g"),
    "secret in the query": get(target=b"/a?key=s3cret&sig=abc&alt=sse"),
    "path parameters": get(target=b"/a;b=c/d:e@f"),
    "quotes, brackets, braces": get(target=b"/a\"b'c<d>[e]{f}|g\\h^i`j"),
    "long target": get(target=b"/" + b"p" * 30_000),
    "Google style method in the path": get(target=b"/v1beta/models/g-1:streamGenerateContent?alt=sse"),
    "a path that begins like a route": get(target=b"/apis/x"),
    "a path that ends like a route": get(target=b"/x/api"),
    "route name in other case": get(target=b"/API/x"),
    "route name percent-encoded": get(target=b"/%61pi/x"),
    "multipart body": post(
        b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\n\0\1\2\r\n--b--\r\n',
        b"Content-Type: multipart/form-data; boundary=b\r\n",
    ),
    "1 MiB base64 line": post(b"A" * (1 << 20)),
    "random body": post(os.urandom(5000)),
}

EDITED = {
    "prefix taken off": (get(target=b"/api/v1/m?x=1"), get(target=b"/v9/v1/m?x=1")),
    "prefix alone": (get(target=b"/api"), get(target=b"/v9")),
    "prefix and slash": (get(target=b"/api/"), get(target=b"/v9/")),
    "prefix and query": (get(target=b"/api?a=b"), get(target=b"/v9?a=b")),
    "prefix and double slash": (get(target=b"/api//x"), get(target=b"/v9//x")),
    "prefix twice": (get(target=b"/api/api/x"), get(target=b"/v9/api/x")),
    "objective and prefix": (get(target=b"/o/task-1/api/x"), get(target=b"/v9/x")),
    "objective and root": (get(target=b"/o/task-1/x"), get(target=b"/x")),
    "objective alone": (get(target=b"/o/task-1/"), get(target=b"/")),
    "prefix with a body": (post(b"abc").replace(b"/p ", b"/api/p "), post(b"abc").replace(b"/p ", b"/v9/p ")),
    "absolute form of the upstream": (get(target=b"http://@UP@/x?y"), get(target=b"/x?y")),
    "absolute form of this listener": (get(target=b"http://127.0.0.1:@PORT@/api/x"), get(target=b"/v9/x")),
    "OPTIONS of the server in absolute form": (
        get(target=b"http://@UP@", method=b"OPTIONS"),
        get(target=b"*", method=b"OPTIONS"),
    ),
    "OPTIONS of a path in absolute form": (
        get(target=b"http://@UP@/", method=b"OPTIONS"),
        get(target=b"/", method=b"OPTIONS"),
    ),
    "absolute form without a path": (get(target=b"http://localhost:@PORT@"), get(target=b"/")),
}


@pytest.mark.parametrize("name", SAME)
def test_a_request_arrives_as_it_was_sent(stage, name):
    raw = SAME[name]
    got, answer = stage.play_request(raw, raw)
    assert got == stage.at_upstream(raw)
    assert answer == OK


@pytest.mark.parametrize("name", EDITED)
def test_only_the_declared_edits_are_made(stage, name):
    sent, expected = EDITED[name]
    sent = sent.replace(b"@UP@", stage.host).replace(b"@PORT@", b"%d" % stage.rig.port)
    got, answer = stage.play_request(sent, expected)
    assert got == stage.at_upstream(expected)
    assert answer == OK


def test_the_tables_are_as_large_as_promised():
    assert len(SAME) + len(EDITED) >= 80
