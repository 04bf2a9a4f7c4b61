"""One body of one side: encoded bytes in, frames out; what could not be decoded is one sentence.

The content coding is undone first, then the first bytes settle the framing: labels are often wrong or missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from classifiers.discover import discover
from proxy.exchange import Exchange, Side
from proxy.wire import Decoder, Frame, Framing, Mark
from proxy.wire.content_coding import ContentDecoder
from proxy.wire.event_stream import PRELUDE, EventStreamDecoder, begins_stream
from proxy.wire.json_body import JsonDecoder, charset_of
from proxy.wire.ndjson import LineDecoder
from proxy.wire.sse import SseDecoder

SLICE = 64 << 10
FIRST, BEGINNING = 512, 8 << 10  # small steps while nobody knows whose frames these are: then fewer are parsed in vain
_SSE_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_JSON_START = re.compile(rb"\s*[{\[]")
_ONE_OPENS = re.compile(rb"[{\[][ \t\r]*\n")  # no line of JSON lines ends after its first brace
_MAY_OPEN = re.compile(rb"[{\[][ \t\r]*")


class BodyReader:
    """``feed`` and ``close`` give frames; ``problem``: why bytes could not be read; ``size_bytes``: as received."""

    def __init__(self, exchange: Exchange, side: Side) -> None:
        head = exchange.request if side is Side.REQUEST else exchange.response
        self._exchange = exchange
        self._side = side
        label = head.get("content-type") if head else ""
        self.content_type = label.partition(";")[0].strip().lower()
        self._charset = charset_of(label)
        self._coding = ContentDecoder(head.get("content-encoding") if head else "")
        self._decoder: Decoder | None = None
        self._start = b""
        self._plain = False
        self._begun = 0  # plain bytes looked at, up to BEGINNING
        self.size_bytes = 0
        self.problem: str | None = None
        self.watched: Callable[[], tuple[Mark, ...]] = tuple  # what must not be passed over just now

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Frames as they are asked for, in slices: what the first say decides what the rest must be looked at for."""
        self.size_bytes += len(data)
        plain = self._coding.feed(data)
        self.problem = self._coding.problem
        at = 0
        while at < len(plain):
            step = SLICE if self._begun >= BEGINNING or self.watched() else FIRST
            yield from self._read(plain[at : at + step])
            at += step
            self._begun += step

    def close(self, *, clean: bool) -> list[Frame]:
        self.problem = self._coding.close()
        if self._decoder is None and self._start and not self._plain:
            self._open(self._start, last=True)
        if self._decoder is None:
            return []
        frames = self._feed_start()
        return frames + self._decoder.close(clean=clean and self.problem is None)

    def ignore(self) -> None:
        """Only count from here on: nobody reads this body."""
        self._plain, self._decoder, self._start = True, None, b""

    @property
    def skipped(self) -> int:
        """Bytes the gate let pass unparsed."""
        return self._decoder.skipped_bytes if isinstance(self._decoder, _GATED) else 0

    @property
    def gated(self) -> bool:
        """Frames without a mark are passed over where they come in runs; a body that is one value is no run."""
        return (
            self._decoder.in_elements if isinstance(self._decoder, JsonDecoder) else isinstance(self._decoder, _GATED)
        )

    @property
    def unframed(self) -> bool:
        """Bytes came and no framing is for them: HTML, images, plain text."""
        return self._plain

    def _read(self, plain: bytes) -> list[Frame]:
        if self._plain:
            return []
        if self._decoder is not None:
            if isinstance(self._decoder, _GATED):
                self._decoder.gate = self.watched()
            return self._decoder.feed(plain)
        self._start += plain
        self._open(self._start, last=False)
        return self._feed_start()

    def _feed_start(self) -> list[Frame]:
        if self._decoder is None or not self._start:
            return []
        start, self._start = self._start, b""
        return self._decoder.feed(start)

    def _open(self, start: bytes, *, last: bool) -> None:
        text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
        framing = self._labelled()
        if not last and len(start) < 4096 and _undecided(start, text, framing):
            return
        if framing is None or framing.name == "json" or _belied(framing, text):
            sniffed = self._sniff(text)
            if sniffed is not None:
                self._decoder = sniffed
                return
        self._plain = framing is None
        self._decoder = framing.open(self._exchange, self._side) if framing else None

    def _labelled(self) -> Framing | None:
        ranked = [(f.matches(self._exchange, self._side, self.content_type), f) for f in framings()]
        rank, framing = max(ranked, key=lambda pair: pair[0])
        return framing if rank else None

    def _sniff(self, text: bytes) -> Decoder | None:
        """What the bytes say when the label is missing, wrong, or only says JSON."""
        if text.startswith(_SSE_FIELDS):
            return SseDecoder(self._side)
        if _JSON_START.match(text):
            return JsonDecoder(self._side, self._charset, elements=self._side is Side.RESPONSE)
        return EventStreamDecoder(self._side) if begins_stream(text) else None


_GATED = (SseDecoder, EventStreamDecoder, LineDecoder, JsonDecoder)


def framings() -> tuple[Framing, ...]:
    return discover("proxy.wire", "FRAMING")


def _belied(framing: Framing, text: bytes) -> bool:
    """The first bytes cannot be what the label says."""
    if framing.name == "sse":
        return bool(_JSON_START.match(text))
    return framing.name == "json-lines" and (text.startswith(_SSE_FIELDS) or bool(_ONE_OPENS.match(text)))


def _undecided(start: bytes, text: bytes, framing: Framing | None) -> bool:
    """Too few bytes to say what this is."""
    if framing is None and start[:1] == b"\0":
        return len(start) < PRELUDE
    if framing is not None and framing.name == "json-lines" and _MAY_OPEN.fullmatch(text):
        return True
    return len(text) < 6 and (not text or (text[:1] not in b"{[<" and any(f.startswith(text) for f in _SSE_FIELDS)))
