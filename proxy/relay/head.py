"""A whole message head to what the relay must know to follow it. Pure; regular expressions only, no per-header work.

In: the bytes up to and including the empty line. Out: a plain tuple (a dataclass costs 0.4 us here, and this runs twice
per exchange). Raises RefusedError with a code of ``refusals.py``; which bytes it refuses is 02-relay rule 7.
"""

from __future__ import annotations

import re

from proxy.relay.refusals import RefusedError

MAX_HEAD_BYTES = 1 << 20
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb"++) ([^\0-\x20\x7f]++) HTTP/1\.([01])\r\n").match
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n\0]*+)?\r\n").match
# a CR without its LF too: where CR and LF alternate, what is between them must be nothing
_BAD_LINE = re.compile(rb"\r(?!\n(?:" + _TOKEN + rb"++:|\r\n|\Z))").search
_OTHER_VERSION = re.compile(rb"[^\0-\x20\x7f]++ [^\0-\x20\x7f]++ HTTP/(?!1\.[01]\r)[0-9]++(?:\.[0-9]++)?\r\n").match
_NO_CONTROL = bytes(b for b in range(256) if b not in b"\r\n\0")

SECRET_HEADERS = frozenset((
    b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key", b"cookie", b"proxy-authorization",
    b"x-amz-security-token", b"sec-websocket-protocol", b"set-cookie",
))  # fmt: skip
_REQUEST_FIELDS = re.compile(
    rb"\n(?=[acdhopstx])(host|connection|content-length|transfer-encoding|origin|sec-fetch-site|"
    + b"|".join(sorted(SECRET_HEADERS - {b"set-cookie"}))
    + rb"):[ \t]*+([^\r]*+)"
).findall
_RESPONSE_FIELDS = re.compile(
    rb"\n(?=[cst])(connection|content-length|transfer-encoding|set-cookie|sec-websocket-protocol):[ \t]*+([^\r]*+)"
).findall

ORIGIN = 1  # Origin or Sec-Fetch-Site is there: a browser page asks
UPGRADE = 2  # Connection names Upgrade
# method, target, keep-alive, length (0: no body), chunked, secret headers' names, ORIGIN | UPGRADE, head in lower case
Request = tuple[bytes, bytes, bool, int, bool, list[bytes], int, bytes]
# status, keep-alive, length (-1: until close), chunked, names of secret headers, head in lower case
Response = tuple[int, bool, int, bool, list[bytes], bytes]


def request(head: bytes) -> Request:
    """Facts of a request head."""
    controls = head.translate(None, _NO_CONTROL)
    if controls != b"\r\n" * (len(controls) >> 1):
        raise RefusedError("bare-cr-lf-nul")
    line = _REQUEST_LINE(head)
    if line is None:
        raise RefusedError(_line_refusal(head))
    if _BAD_LINE(head):
        raise RefusedError("header-line" if head.count(b"\r\n") == len(controls) >> 1 else "bare-cr-lf-nul")
    method, target, minor = line.groups()
    keep, chunked, length, hosts, flags = minor == b"1", False, -1, 0, 0
    secrets: list[bytes] = []
    low = head.lower()
    for name, value in _REQUEST_FIELDS(low):
        if name == b"host":
            hosts += 1
        elif name == b"connection":
            if b"close" in value:
                keep = False
            if b"upgrade" in value:
                flags |= UPGRADE
        elif name == b"content-length":
            if length >= 0:
                raise RefusedError("content-length")
            length = _length(value)
        elif name in SECRET_HEADERS:
            secrets.append(name)
        elif name == b"transfer-encoding":
            # exactly so: an upstream that knows no other spelling would read another body than we do
            if chunked or head[low.find(b"\ntransfer-encoding:") + 19 :].split(b"\r", 1)[0].strip(b" \t") != b"chunked":
                raise RefusedError("transfer-encoding")
            chunked = True
        else:
            flags |= ORIGIN
    if chunked:
        if length >= 0:
            raise RefusedError("length-and-chunked")
        if minor == b"0":
            raise RefusedError("chunked-in-1.0")
    if hosts != 1 and (minor == b"1" or hosts):
        raise RefusedError("host")
    return method, target, keep, max(length, 0), chunked, secrets, flags, low


def response(head: bytes) -> Response:
    """Facts of a response head, interim ones too."""
    controls = head.translate(None, _NO_CONTROL)
    line = _STATUS_LINE(head)
    if line is None or controls != b"\r\n" * (len(controls) >> 1) or _BAD_LINE(head):
        raise RefusedError("response-head")
    minor, status = line.groups()
    keep, chunked, length = minor == b"1", False, -1
    secrets: list[bytes] = []
    low = head.lower()
    for name, value in _RESPONSE_FIELDS(low):
        if name == b"content-length":
            if length >= 0:
                raise RefusedError("response-head")
            length = _length(value, "response-head")
        elif name == b"connection":
            if b"close" in value:
                keep = False
        elif name == b"transfer-encoding":
            if chunked or value.rstrip(b" \t") != b"chunked":
                raise RefusedError("response-head")
            chunked = True
        else:
            secrets.append(name)
    if chunked and (length >= 0 or minor == b"0"):
        raise RefusedError("response-head")
    return int(status), keep, length, chunked, secrets, low


def _length(value: bytes, code: str = "content-length") -> int:
    value = value.rstrip(b" \t")
    if not value.isdigit() or len(value) > 18:
        raise RefusedError(code)
    return int(value)


def _line_refusal(head: bytes) -> str:
    if head.startswith(b"PRI * HTTP/2.0\r\n"):
        return "http2-preface"
    return "version" if _OTHER_VERSION(head) else "request-line"
