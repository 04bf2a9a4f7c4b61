"""One JSON body: bytes in, one whole Frame at the end; a response that is an array gives each element as it closes.

Gemini without ``alt=sse`` streams one array piece by piece, so elements must not wait for the end of the body.
Bodies that turn out to be several JSON values in a row, one per line, are read as lines.
"""

from __future__ import annotations

import re

from proxy.exchange import Exchange, Side
from proxy.wire import Frame, Mark
from proxy.wire.json_text import NOT_UTF_8, parse

BODY_CAP = 64 << 20
QUIET_FROM = 1 << 20  # bodies above this are looked through for a mark of tool traffic before they are parsed
MARKS = (b"tool", b"unction", b"call", b"Call", b"jsonrpc", b"messages", b"input", b"contents", b"\\u")
_WHOLE = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Up to the next structural byte, whole strings stepped over; a quote is found when its string has no end yet.
_DEEP = re.compile(rb'(?:[^"{}\[\]]++|%b)*+(["{}\[\]])' % _WHOLE, re.DOTALL)
_SHALLOW = re.compile(rb'(?:[^"{}\[\],]++|%b)*+(["{}\[\],])' % _WHOLE, re.DOTALL)
_IN_STRING = re.compile(rb'["\\]')


class JsonDecoder:
    """``charset`` is what Content-Type says; ``elements`` asks for an array's elements one by one.

    ``gate``: when set, elements that closed together are counted and dropped if none of its patterns is in them.
    """

    def __init__(self, side: Side, charset: str = "utf-8", *, elements: bool = True) -> None:
        self._side = side
        self._charset = charset
        self._elements = elements
        self._buffer = bytearray()
        self._array: _Elements | None = None
        self._lost = 0
        self.gate: tuple[Mark, ...] = ()
        self.skipped_bytes = 0

    def feed(self, data: bytes) -> list[Frame]:
        if self._array is not None:
            return self._frames(self._array.feed(data))
        if self._lost or len(self._buffer) + len(data) > BODY_CAP:
            self._lost += len(data)
            return []
        self._buffer += data
        if self._elements and self._charset == "utf-8":
            head = bytes(self._buffer[:64]).lstrip(b"\xef\xbb\xbf \t\r\n")
            self._elements = head[:1] in (b"", b"[")
            if head[:1] == b"[":
                self._array = _Elements()
                rest = bytes(self._buffer)
                self._buffer.clear()
                return self._frames(self._array.feed(rest[rest.index(b"[") :]))
        return []

    def close(self, *, clean: bool) -> list[Frame]:
        if self._array is not None:
            rest = self._array.rest()
            return [] if rest is None else [self._bad("array stopped before its end", rest)]
        if self._lost:
            return [self._bad("body over the cap", bytes(self._buffer[:1024]), len(self._buffer) + self._lost)]
        body = bytes(self._buffer)
        self._buffer.clear()
        if not body.strip():
            return []
        if len(body) >= QUIET_FROM and not any(mark in body for mark in MARKS):
            self.skipped_bytes = len(body)
            return []
        value, error = parse(_as_utf8(body, self._charset))
        if error == NOT_UTF_8:  # clients put U+FFFD there and go on
            value, error = parse(body.decode("utf-8", "replace"))
        if error is None:
            return [Frame(value, whole=True, side=self._side, size_bytes=len(body))]
        lines = [(parse(line), len(line)) for line in body.split(b"\n") if line.strip()]
        if len(lines) > 1 and all(e is None for (_, e), _ in lines):
            return [Frame(v, side=self._side, size_bytes=n) for (v, _), n in lines]
        reason = f"JSON: {error}" if clean else "JSON body cut off"
        return [self._bad(reason, body)]

    @property
    def in_elements(self) -> bool:
        return self._array is not None

    def _frames(self, elements: list[bytes]) -> list[Frame]:
        if self.gate and elements:
            run = b"\n".join(elements)
            if not any(mark.search(run) for mark in self.gate):
                self.skipped_bytes += len(run)
                return []
        return [_element(raw, self._side) for raw in elements]

    def _bad(self, reason: str, body: bytes, size: int | None = None) -> Frame:
        text = body.decode("utf-8", "replace")
        return Frame(text, error=reason, side=self._side, size_bytes=len(body) if size is None else size)


class _Elements:
    """Cuts ``[a, b, …]`` at its own commas. Only quotes, backslashes and brackets are looked at."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0
        self._depth = 0
        self._string = False
        self._start = 0
        self._done = False

    def feed(self, data: bytes) -> list[bytes]:
        self._buffer += data
        found: list[bytes] = []
        while not self._done:
            if self._string and not self._end_string():
                break
            match = (_DEEP if self._depth > 1 else _SHALLOW).match(self._buffer, self._at)
            if match is None:
                self._at = len(self._buffer)
                break
            self._at = match.end()
            self._step(match[1], match.end() - 1, found)
        del self._buffer[: self._start]
        self._at -= self._start
        self._start = 0
        return found

    def rest(self) -> bytes | None:
        """What an array that never closed still held, None when it closed."""
        return None if self._done else bytes(self._buffer)

    def _end_string(self) -> bool:
        """Step over the rest of a string that was cut; False when its end has not come."""
        while (match := _IN_STRING.search(self._buffer, self._at)) is not None:
            here = match.start()
            if match.group() == b'"':
                self._at, self._string = here + 1, False
                return True
            if here + 1 >= len(self._buffer):
                self._at = here
                return False
            self._at = here + 2
        self._at = len(self._buffer)
        return False

    def _step(self, mark: bytes, here: int, found: list[bytes]) -> None:
        if mark == b'"':
            self._string = True
        elif mark in b"{[":
            self._depth += 1
            if self._depth == 1:
                self._start = here + 1
        elif mark == b"," and self._depth == 1:
            self._emit(here, found)
        elif mark in b"}]":
            self._depth -= 1
            if self._depth == 0:
                self._emit(here, found)
                self._done = True
            elif self._depth == 1:  # the element is whole: do not wait for the comma
                self._emit(here + 1, found)

    def _emit(self, end: int, found: list[bytes]) -> None:
        piece = bytes(self._buffer[self._start : end]).strip(b" \t\r\n,")
        self._start = end
        if piece:
            found.append(piece)


def _element(raw: bytes, side: Side) -> Frame:
    value, error = parse(raw)
    if error is None:
        return Frame(value, event="element", side=side, size_bytes=len(raw))
    return Frame(raw.decode("utf-8", "replace"), "element", error=f"JSON: {error}", side=side, size_bytes=len(raw))


def _as_utf8(body: bytes, charset: str) -> bytes:
    """UTF-8 bytes without BOM; JSON is UTF-8 unless the label or a BOM says otherwise."""
    marks = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    charset = next((name for mark, name in marks if body.startswith(mark)), charset)
    body = body.removeprefix(b"\xef\xbb\xbf")
    if charset == "utf-8":
        return body
    try:
        return body.decode(charset, "replace").encode("utf-8", "replace")
    except LookupError:
        return body


def charset_of(content_type: str) -> str:
    """The charset parameter, ``utf-8`` when there is none."""
    for part in content_type.split(";")[1:]:
        key, _, value = part.strip().partition("=")
        if key.lower() == "charset" and value:
            name = value.strip("\"' ").lower()
            return "utf-8" if name in ("utf8", "us-ascii", "ascii") else name
    return "utf-8"


class _Json:
    name = "json"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the framing signature
        return 40 if content_type == "application/json" or content_type.endswith("+json") else 0

    def open(self, exchange: Exchange, side: Side) -> JsonDecoder:
        head = exchange.request if side is Side.REQUEST else exchange.response
        charset = charset_of(head.get("content-type")) if head else "utf-8"
        return JsonDecoder(side, charset, elements=side is Side.RESPONSE)


FRAMING = _Json()
