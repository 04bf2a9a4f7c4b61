"""JSON lines: bytes in, one Frame per line out. NDJSON replies and JSON-RPC over stdio are cut the same way."""

from __future__ import annotations

from proxy.exchange import Exchange, Side
from proxy.wire import Frame, Mark
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
    """``gate``: when set, runs of whole lines in which none of its patterns is found are counted and dropped."""

    def __init__(self, side: Side, cap: int = LINE_CAP) -> None:
        self._side = side
        self.gate: tuple[Mark, ...] = ()
        self.skipped_bytes = 0
        self._cap = cap
        self._parts: list[bytes] = []
        self._size = 0  # of the line that has no end yet; its bytes are kept up to the cap

    def feed(self, data: bytes) -> list[Frame]:
        if self.gate and self._size <= self._cap:
            data = self._without_run(data)
        first, newline, rest = data.partition(b"\n")
        self._keep(first)
        if not newline:
            return []
        frames = self._take(1)
        lines = rest.split(b"\n")
        self._keep(lines.pop())
        return frames + [f for line in lines for f in self._line(line)]

    def close(self, *, clean: bool) -> list[Frame]:
        size = self._size
        frames = self._take(0)
        if clean or not frames or frames[0].error is None or size > self._cap:
            return frames
        return [Frame(frames[0].data, error="line cut off", side=self._side, size_bytes=size)]

    def _without_run(self, data: bytes) -> bytes:
        """What is left when the whole lines, the one begun before among them, are dropped for want of a pattern."""
        cut = data.rfind(b"\n") + 1
        if not cut:
            return data
        run = b"".join((*self._parts, data[:cut]))
        if any(pattern.search(run) for pattern in self.gate):
            return data
        self.skipped_bytes += len(run)
        self._parts, self._size = [], 0
        return data[cut:]

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._cap:
            self._parts.clear()
        else:
            self._parts.append(piece)

    def _take(self, end: int) -> list[Frame]:
        line, size = b"".join(self._parts), self._size
        self._parts, self._size = [], 0
        return self._line(line, end) if size <= self._cap else [self._over(size + end)]

    def _over(self, size: int) -> Frame:
        return Frame("", error="line over the cap", side=self._side, size_bytes=size)

    def _line(self, line: bytes, end: int = 1) -> list[Frame]:
        """``end``: the bytes of its line end."""
        if len(line) > self._cap:
            return [self._over(len(line) + end)]
        text = line.strip(b" \t\r\xef\xbb\xbf")
        if not text:
            return []
        value, error = parse(text)
        data = text.decode("utf-8", "replace") if error else value
        return [Frame(data, error=error and f"JSON: {error}", side=self._side, size_bytes=len(line) + end)]


class _Lines:
    name = "json-lines"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the framing signature
        return 50 if content_type in TYPES else 0

    def open(self, exchange: Exchange, side: Side) -> LineDecoder:  # noqa: ARG002 - the framing signature
        return LineDecoder(side)


FRAMING = _Lines()
