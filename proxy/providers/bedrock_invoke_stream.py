"""Bedrock InvokeModelWithResponseStream: ``chunk`` messages whose base64 holds the model's own stream events."""

from __future__ import annotations

import binascii
import re
import sys
from base64 import b64decode
from collections.abc import Iterator

from proxy.events import Event, Unread
from proxy.exchange import Exchange
from proxy.providers._calls import fields, text
from proxy.providers._invoke import InvokeAssembly
from proxy.wire import Frame, Mark
from proxy.wire.json_text import parse

NAME = "bedrock-invoke-stream"


class ChunkMarks:
    """Marks looked for inside ``chunk`` messages; whatever is not one of the usual form counts as a mark itself."""

    def __init__(self, inside: tuple[Mark, ...]) -> None:
        self._inside = inside

    def search(self, seen: bytes | bytearray, start: int = 0, end: int = sys.maxsize, /) -> bool:
        held = _HELD.findall(seen, start, end)
        if len(held) != seen.count(_CHUNK, start, end) or len(held) != seen.count(b":event-type", start, end):
            return True
        try:
            said = b"\n".join(binascii.a2b_base64(part, strict_mode=True) for part in held)
        except binascii.Error:
            return True
        return any(mark.search(said) for mark in self._inside)


_CHUNK = b":event-type\x07\x00\x05chunk"
_HELD = re.compile(rb'\{(?:"p":"\w*",)?"bytes":"([A-Za-z0-9+/]*={0,2})"(?:,"p":"\w*")?\}')


class StreamAssembly(InvokeAssembly):
    @property
    def markers(self) -> tuple[Mark, ...]:
        inside = getattr(self._inside, "markers", ())
        return (ChunkMarks(inside),) if inside else ()

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.event != "chunk" or frame.error is not None:
            yield from super().frame(frame)
            return
        try:
            value, error = parse(b64decode(text(fields(frame.data).get("bytes")), validate=True))
        except (binascii.Error, ValueError):
            value, error = None, "chunk bytes are not base64"
        if error is not None:
            yield Unread("application/vnd.amazon.eventstream", frame.size_bytes, f"chunk: {error}")
            return
        yield from super().frame(Frame(value, side=frame.side, size_bytes=frame.size_bytes))


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        chunk = first is not None and first.event == "chunk" and "bytes" in fields(first.data)
        return 95 * exchange.request.path.endswith("/invoke-with-response-stream") or 80 * chunk

    def open(self, exchange: Exchange) -> StreamAssembly:  # noqa: ARG002 - the provider signature
        return StreamAssembly(NAME)


PROVIDER = _Provider()
