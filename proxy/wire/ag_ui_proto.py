"""AG-UI's binary stream: length-prefixed protobuf events in, Frames holding the JSON form of each event out.

Each frame is a big-endian uint32 length, then one ``Event`` whose single populated field names the event
(``_ag_ui_schema``). An arm of a later protocol version becomes an event of type ``UNKNOWN``, which consumers ignore.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proxy.exchange import Exchange, Side
from proxy.wire import Decoder, Frame
from proxy.wire._ag_ui_schema import ARMS
from proxy.wire._protobuf import NotProtobufError, fields, message

MEDIA_TYPE = "application/vnd.ag-ui.event+proto"
MAX_FRAME_BYTES = 16 * 1024 * 1024


@dataclass(slots=True)
class AgUiProtoDecoder:
    """Holds at most one unfinished frame; a longer one than MAX_FRAME_BYTES is skipped and said."""

    side: Side = Side.RESPONSE
    _held: bytearray = field(default_factory=bytearray)
    _skip: int = 0  # bytes still to come of a frame that is too long
    _long: int = 0  # what it said its length is

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        if self._skip:
            passed = min(self._skip, len(data))
            self._skip -= passed
            data = data[passed:]
            if self._skip:
                return []
            frames.append(self._over(self._long + 4))
        self._held += data
        at = 0
        while len(self._held) - at >= 4:
            size = int.from_bytes(self._held[at : at + 4], "big")
            if size > MAX_FRAME_BYTES:
                present = min(len(self._held) - at - 4, size)
                self._skip, self._long, at = size - present, size, at + 4 + present
                if self._skip:
                    break
                frames.append(self._over(size + 4))
                continue
            if len(self._held) - at - 4 < size:
                break
            frames.append(self._frame(bytes(self._held[at + 4 : at + 4 + size])))
            at += 4 + size
        del self._held[:at]
        return frames

    def close(self, *, clean: bool) -> list[Frame]:  # noqa: ARG002 - a rest is unfinished however the body ended
        rest, self._held = bytes(self._held), bytearray()
        if self._skip:
            return [self._over(self._long + 4 - self._skip)]
        return [self._error("the body ended inside a frame", rest, len(rest))] if rest else []

    def _frame(self, data: bytes) -> Frame:
        try:
            event = read_event(data)
        except (NotProtobufError, RecursionError) as error:
            return self._error(f"not an AG-UI event: {error}", data, len(data))
        return Frame(event, event=str(event["type"]), side=self.side, size_bytes=len(data) + 4)

    def _over(self, size: int) -> Frame:
        return self._error(f"frame of {self._long} bytes is over {MAX_FRAME_BYTES}", b"", size)

    def _error(self, why: str, data: bytes, size: int) -> Frame:
        return Frame(data, error=why, side=self.side, size_bytes=size)


def read_event(data: bytes) -> dict[str, Any]:
    """One ``Event`` in its JSON form: ``{"type": "TOOL_CALL_START", "toolCallId": …}``."""
    arms = [(number, raw) for number, _, raw in fields(data) if isinstance(raw, bytes)]
    if not arms:
        raise NotProtobufError("an envelope with no event in it")
    number, raw = arms[-1]
    if number not in ARMS:
        return {"type": "UNKNOWN", "arm": number}
    kind, table = ARMS[number]
    event: dict[str, Any] = {"type": kind, **message(raw, table, kind)}
    base = event.pop("baseEvent", {})
    for shaped in (_result_content(event), *map(_result_content, event.get("messages", ()))):
        shaped.pop("contentParts", None)
    return _outcome({**base, **event}) if kind == "RUN_FINISHED" else {**base, **event}


def _result_content(holder: dict[str, Any]) -> dict[str, Any]:
    """Parts ride in their own field; the JSON form has one ``content``, text or list."""
    parts = holder.get("contentParts")
    if parts:
        holder["content"] = parts
    return holder


def _outcome(event: dict[str, Any]) -> dict[str, Any]:
    """The outcome's kind and payload travel in three fields; the JSON form nests them."""
    kind = event.pop("outcome", "")
    payload: dict[str, Any] = {key: event.pop(key) for key in ("interrupts", "pendingToolCallIds") if key in event}
    return {**event, "outcome": {"type": kind, **payload}} if kind else {**event, **payload}


class _AgUiProto:
    name = "ag-ui-proto"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the media type decides
        return 90 if content_type.partition(";")[0].strip().lower() == MEDIA_TYPE else 0

    def open(self, exchange: Exchange, side: Side) -> Decoder:  # noqa: ARG002 - frames carry their own length
        return AgUiProtoDecoder(side)


FRAMING = _AgUiProto()
