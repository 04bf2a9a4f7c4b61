"""Bedrock InvokeModelWithResponseStream: ``chunk`` messages whose base64 holds the model's own stream events."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator

from proxy.events import Event, Unread
from proxy.exchange import Exchange
from proxy.providers._calls import fields, text
from proxy.providers._invoke import InvokeAssembly
from proxy.wire import Frame
from proxy.wire.json_text import parse

NAME = "bedrock-invoke-stream"


class StreamAssembly(InvokeAssembly):
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
