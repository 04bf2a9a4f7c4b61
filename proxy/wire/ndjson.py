"""JSON lines: bytes in, one Frame per line out. NDJSON replies and JSON-RPC over stdio are cut the same way."""

from __future__ import annotations

from proxy.exchange import Exchange, Side
from proxy.wire import Frame
from proxy.wire.json_text import parse

LINE_CAP = 64 << 20
TYPES = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonlines",
        "application/json-lines",
    }
)


class LineDecoder:
    def __init__(self, side: Side) -> None:
        self._side = side
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Frame]:
        first, newline, rest = data.partition(b"\n")
        self._parts.append(first)
        self._size += len(first)
        if not newline:
            return self._too_long()
        lines = [b"".join(self._parts), *rest.split(b"\n")]
        self._parts = [lines.pop()]
        self._size = len(self._parts[0])
        return [f for line in lines for f in self._line(line)]

    def close(self, *, clean: bool) -> list[Frame]:
        rest = b"".join(self._parts)
        self._parts = []
        frames = self._line(rest)
        if clean or not frames or frames[0].error is None:
            return frames
        return [Frame(frames[0].data, error="line cut off", side=self._side, size_bytes=len(rest))]

    def _too_long(self) -> list[Frame]:
        if self._size <= LINE_CAP:
            return []
        size, self._parts, self._size = self._size, [], 0
        return [Frame("", error="line over the cap", side=self._side, size_bytes=size)]

    def _line(self, line: bytes) -> list[Frame]:
        text = line.strip(b" \t\r\xef\xbb\xbf")
        if not text:
            return []
        value, error = parse(text)
        data = text.decode("utf-8", "replace") if error else value
        return [Frame(data, error=error and f"JSON: {error}", side=self._side, size_bytes=len(line) + 1)]


class _Lines:
    name = "json-lines"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the framing signature
        return 50 if content_type in TYPES else 0

    def open(self, exchange: Exchange, side: Side) -> LineDecoder:  # noqa: ARG002 - the framing signature
        return LineDecoder(side)


FRAMING = _Lines()
