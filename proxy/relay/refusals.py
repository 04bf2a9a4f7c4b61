"""Every answer the relay gives itself: a code, its status, and one sentence; docs/refusals.md is this table.

A refusal is never a judgement about a tool call. It says that the relay cannot forward these bytes truly, or must not.
"""

from __future__ import annotations

import json

REFUSALS: dict[str, tuple[int, str]] = {
    # the request head (RFC 9112)
    "request-line": (400, "the request line is not METHOD SP target SP HTTP/1.x CRLF"),
    "bare-cr-lf-nul": (400, "the head contains a bare CR, a bare LF or a NUL"),
    "header-line": (400, "a header line is not token, colon, value; folded lines are not accepted"),
    "content-length": (400, "Content-Length is not one plain decimal number"),
    "transfer-encoding": (400, "Transfer-Encoding is something other than one chunked"),
    "length-and-chunked": (400, "both Content-Length and Transfer-Encoding are present"),
    "chunked-in-1.0": (400, "an HTTP/1.0 request cannot be chunked"),
    "host": (400, "an HTTP/1.1 request needs exactly one Host"),
    "head-too-large": (431, "the head is over 1 MiB"),
    "head-timeout": (408, "the head was not complete 30 s after its first byte"),
    "version": (505, "this listener speaks HTTP/1.1 and HTTP/1.0"),
    "http2-preface": (505, "this listener does not speak HTTP/2"),
    "connect": (501, "this listener is no forward proxy: CONNECT is not offered"),
    # a forward proxy's listener (docs/ways-in.md)
    "proxy-target": (400, "a forward proxy is asked with http://host[:port]/path or CONNECT host:port, in plain form"),
    "connect-body": (400, "a CONNECT request has no body"),
    "not-listed": (403, "this forward proxy is reachable from other machines and forwards to its listed hosts only"),
    # the request body: nothing can be answered once it was forwarded, so the connection is cut
    "chunk-size": (400, "a chunk size is not 1 to 15 hex digits"),
    "chunk-data-end": (400, "chunk data does not end in CRLF"),
    "chunk-line-too-long": (400, "a chunk size line or trailer is over 16 KiB"),
    "trailer": (400, "a trailer is not token, colon, value"),
    "trailers-too-long": (400, "the trailers are over 64 KiB"),
    # where it wants to go
    "unknown-route": (404, "no route has this name, and there is no root route"),
    "reserved-path": (404, "/o/ and /_onlooker/ belong to onlooker"),
    "absolute-form": (403, "an absolute-form target must name this listener or a route's upstream"),
    "foreign-host": (403, "a browser page asked with a Host that is not this listener's"),
    "forbidden-address": (403, "the upstream resolves to this proxy itself, or to a link-local or metadata address"),
    "not-redirected": (400, "this listener takes redirected connections only: nothing says where this one was going"),
    "redirect-loop": (508, "a rule redirects onlooker's own connections to itself; exempt its user or its mark"),
    # the upstream
    "upstream-name": (502, "the upstream's name does not resolve"),
    "upstream-connect": (502, "the upstream refused the connection"),
    "upstream-tls": (502, "the upstream's TLS handshake or certificate failed"),
    "upstream-protocol": (502, "the upstream does not agree to HTTP/1.1"),
    "upstream-proxy-connect": (502, "the parent proxy of onlooker itself cannot be reached"),
    "upstream-proxy-refused": (502, "the parent proxy refused to open a tunnel to the upstream"),
    "upstream-proxy-auth": (502, "the parent proxy asks for a user and password, or refused the ones it got"),
    "upstream-proxy-answer": (502, "the parent proxy did not answer CONNECT as HTTP/1.x"),
    "upstream-timeout": (504, "the upstream did not accept a connection within 10 s"),
    "response-head": (502, "the upstream's answer is not HTTP/1.x the relay can follow"),
}


class RefusedError(Exception):
    """Raised by the pure parts; ``code`` is a key of REFUSALS."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


_PHRASES = {
    400: b"Bad Request",
    403: b"Forbidden",
    404: b"Not Found",
    408: b"Request Timeout",
    431: b"Request Header Fields Too Large",
    501: b"Not Implemented",
    502: b"Bad Gateway",
    504: b"Gateway Timeout",
    508: b"Loop Detected",
    505: b"HTTP Version Not Supported",
}


def answer(code: str, *, body: bool = True) -> bytes:
    """The whole response; always the last on its connection. ``body`` False for a HEAD request."""
    status, sentence = REFUSALS[code]
    text = json.dumps({"error": {"type": "onlooker_refusal", "code": code, "message": sentence}}).encode() + b"\n"
    head = (
        b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nOnlooker-Refusal: %s\r\n"
        b"Connection: close\r\n\r\n" % (status, _PHRASES[status], len(text), code.encode())
    )
    return head + text if body else head
