"""The calls of one AG-UI stream: START, ARGS, END and CHUNK events in, calls that closed out.

Interleaving is normal; a START for a closed id reopens it and its text grows (AG-UI 1.0, tool call events). Chunks are
expanded per lane: one lane per subagent, at most one call open in each, closed by whatever else happens in that lane.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_CALLS = 50_000


@dataclass(slots=True)
class OpenCall:
    id: str
    name: str
    parent: str | None
    owner: str | None  # subagentRunId
    batch: int
    ordinal: int
    text: list[str] = field(default_factory=list)
    is_open: bool = True
    closings: int = 0
    conflicts: list[str] = field(default_factory=list)
    other_names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CallBook:
    """``violations``: what the official client aborts on; ``unread``: what was lost. The run reads and clears both."""

    calls: dict[str, OpenCall] = field(default_factory=dict)
    lanes: dict[str | None, str] = field(default_factory=dict)  # lane -> id of its call open by chunks
    violations: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    _ordinals: dict[int, int] = field(default_factory=dict)

    def start(self, event: dict[str, Any], batch: int) -> None:
        call_id = _text(event, "toolCallId")
        if call_id is None:
            self._refuse("a tool call starts without an id", unread=True)
            return
        known = self.calls.get(call_id)
        if known is None:
            self._new(call_id, event, batch)
            return
        if known.is_open:
            self._refuse(f"TOOL_CALL_START while {call_id} is open")
        known.is_open = True
        known.batch = batch
        self._disagreements(known, event)

    def args(self, event: dict[str, Any]) -> None:
        call = self.calls.get(_text(event, "toolCallId") or "")
        delta = event.get("delta")
        if call is None or not call.is_open:
            self._refuse("arguments for a call that is not open", unread=True)
        elif isinstance(delta, str):
            call.text.append(delta)
        else:
            self._refuse("arguments that are not text", unread=delta is not None)

    def end(self, event: dict[str, Any]) -> Iterator[OpenCall]:
        call = self.calls.get(_text(event, "toolCallId") or "")
        if call is None or not call.is_open:
            self._refuse("TOOL_CALL_END for a call that is not open")
            return
        yield from self._close(call)

    def chunk(self, event: dict[str, Any], batch: int) -> Iterator[OpenCall]:
        """One chunk: continues its lane's call or opens another, closing what the lane held."""
        call_id, lane = _text(event, "toolCallId"), _text(event, "subagentRunId")
        holder = self._lane_of(call_id, lane)
        if holder is _NO_LANE:
            self._refuse("a chunk without an id continues nothing", unread=True)
            return
        assert holder is None or isinstance(holder, str)
        held = self.lanes.get(holder)
        if held is not None and call_id in (None, held):
            call = self.calls[held]
            if self._disagreements(call, event):
                self._refuse(f"a chunk contradicts the opening of {held}")
        else:
            yield from self.close_lane(holder)
            assert call_id is not None
            if _text(event, "toolCallName") is None:
                self._refuse("a first chunk without a name")
            self.start(event, batch)
            self.lanes[holder] = call_id
            call = self.calls[call_id]
        if isinstance(event.get("delta"), str):
            call.text.append(event["delta"])

    def close_lane(self, lane: str | None) -> Iterator[OpenCall]:
        """What another event in this lane closes; the close is complete, as the official expansion's END is."""
        held = self.lanes.pop(lane, None)
        if held is not None and self.calls[held].is_open:
            yield from self._close(self.calls[held])

    def close_lanes(self) -> Iterator[OpenCall]:
        for lane in list(self.lanes):
            yield from self.close_lane(lane)

    def still_open(self) -> Iterator[OpenCall]:
        """Calls that will never close, each once."""
        self.lanes.clear()
        for call in self.calls.values():
            if call.is_open:
                call.is_open = False
                yield call

    def forget(self) -> None:
        """A run is over: nothing of it can be reopened."""
        self.calls.clear()
        self.lanes.clear()

    def _close(self, call: OpenCall) -> Iterator[OpenCall]:
        call.is_open = False
        call.closings += 1
        yield call

    def _new(self, call_id: str, event: dict[str, Any], batch: int) -> None:
        if len(self.calls) >= MAX_CALLS:
            self._drop_oldest_closed()
        ordinal = self._ordinals.get(batch, 0)
        self._ordinals[batch] = ordinal + 1
        name = _text(event, "toolCallName") or ""
        parent, owner = _text(event, "parentMessageId") or None, _text(event, "subagentRunId")
        self.calls[call_id] = OpenCall(call_id, name, parent, owner, batch, ordinal)

    def _drop_oldest_closed(self) -> None:
        closed = next((key for key, call in self.calls.items() if not call.is_open), None)
        del self.calls[closed if closed is not None else next(iter(self.calls))]
        self.lanes = {lane: held for lane, held in self.lanes.items() if held in self.calls}

    def _disagreements(self, call: OpenCall, event: dict[str, Any]) -> bool:
        """Keep both readings where a later opening names another tool, parent or owner."""
        before = len(call.conflicts)
        for key, what, value in (
            ("toolCallName", "name", call.name),
            ("parentMessageId", "parent", call.parent or ""),
            ("subagentRunId", "owner", call.owner or ""),
        ):
            other = _text(event, key)
            if other is None or other == value or (what == "parent" and not value):
                continue  # a parent named only later adds to the opening, it does not contradict it
            call.conflicts.append(f"{what}: {value} | {other}")
            if what == "name":
                call.other_names.append(other)
        return len(call.conflicts) > before

    def _lane_of(self, call_id: str | None, tag: str | None) -> str | object | None:
        if call_id is not None:
            lane = next((lane for lane, held in self.lanes.items() if held == call_id), _NO_LANE)
            return tag if lane is _NO_LANE else lane
        if tag in self.lanes:
            return tag
        if tag is None and self.lanes:
            if len(self.lanes) > 1:
                self._refuse("a chunk without an id while several calls are open")
            return next(reversed(self.lanes))
        return _NO_LANE

    def _refuse(self, why: str, *, unread: bool = False) -> None:
        self.violations.append(why)
        if unread:
            self.unread.append(why)


_NO_LANE = object()


def _text(event: dict[str, Any], key: str) -> str | None:
    value = event.get(key)
    return value if isinstance(value, str) else None
