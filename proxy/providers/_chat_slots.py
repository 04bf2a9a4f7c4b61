"""Streamed chat fragments to calls: whose fragment is this, and when is a call new.

An index names the call when there is one. Id and name are set once; a different id or name on the same index is a new
call, an equal one is a repeat. Without an index the id tells, then the name; a bare fragment continues the last call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from classifiers.call import ExecutedBy, ToolCall
from proxy.events import CallClosed
from proxy.providers._calls import arguments, fields, ident, raw, rows, text
from proxy.wire.json_text import dump, parse

CALLS_CAP = 1024
LEGACY = "legacy_function_call"
WRAPPERS = frozenset({"parallel", "multi_tool_use.parallel", "multi_tool_use_parallel"})


@dataclass(slots=True)
class Slot:
    """One call as it grows."""

    ordinal: int
    index: Any = None
    id: Any = None
    name: str = ""
    kind: str = "function"
    parts: list[str] = field(default_factory=list)
    said: bool = False  # arguments were on the wire, be it ""
    closed: bool = False
    reopened: bool = False
    conflicts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def whole(self) -> bool:
        return bool(self.parts) and parse(self.text)[1] is None


class Slots:
    """The calls of one choice, in the order they began."""

    def __init__(self, choice: int) -> None:
        self.choice = choice
        self._slots: list[Slot] = []

    @property
    def begun(self) -> bool:
        return bool(self._slots)

    def add(self, entry: dict[str, Any], kind: str = "") -> None:
        """One ``tool_calls`` entry of a delta (or of a whole message)."""
        kind = kind or ("custom" if entry.get("type") == "custom" or "custom" in entry else "function")
        inner = fields(entry.get("custom" if kind == "custom" else "function")) or (entry if kind == LEGACY else {})
        said = inner.get("input" if kind == "custom" else "arguments")
        id_, name = ident(entry.get("id")), text(inner.get("name"))
        index = ident(entry.get("index"))
        slot = self._find(index, id_, name, said)
        if slot is None:
            if len(self._slots) >= CALLS_CAP or not (id_ or name or said):
                return
            slot = Slot(len(self._slots), index, kind=kind)
            self._slots.append(slot)
        slot.id = id_ if slot.id in (None, "") and id_ is not None else slot.id
        slot.name = slot.name or name
        if said is not None:
            self._append(slot, said)

    def close(self, *, cut: bool, known_end: bool) -> Iterator[CallClosed]:
        """All that is open. ``cut``: the last one hit a limit; not ``known_end``: only text that parses is whole."""
        open_slots = [s for s in self._slots if not s.closed]
        for slot in open_slots:
            doubtful = not known_end or (cut and slot is open_slots[-1])
            slot.closed = True
            given_up = bool(slot.parts) and self._superseded(slot)
            yield self._call(slot, complete=not (doubtful or given_up) or slot.whole())

    def _superseded(self, slot: Slot) -> bool:
        """Another call began on its index: nothing closed this one."""
        return slot.index is not None and any(s.index == slot.index for s in self._slots[slot.ordinal + 1 :])

    def close_index(self, index: Any) -> Iterator[CallClosed]:
        """The call on ``index``, which its own end event closes."""
        for slot in self._slots:
            if slot.index == index and not slot.closed:
                slot.closed = True
                yield self._call(slot, complete=not (slot.parts and self._superseded(slot)) or slot.whole())

    def cut_off(self) -> Iterator[CallClosed]:
        for slot in self._slots:
            if not slot.closed:
                slot.closed = True
                yield self._call(slot, complete=False)

    def _find(self, index: Any, id_: Any, name: str, said: Any) -> Slot | None:
        if index is not None:
            same = [s for s in self._slots if s.index == index]
            return self._on_index(same, id_, name, said) if same else self._orphan(id_, name, said)
        if id_:
            return next((s for s in reversed(self._slots) if s.id == id_), None)
        last = self._slots[-1] if self._slots else None
        return last if last is None or not _begins_another(last, name, said) else None

    def _on_index(self, same: list[Slot], id_: Any, name: str, said: Any) -> Slot | None:
        last = same[-1]
        if id_ and last.id and id_ != last.id:
            return next((s for s in same if s.id == id_), None)
        if not id_ and _begins_another(last, name, said):
            return None
        return last

    def _orphan(self, id_: Any, name: str, said: Any) -> Slot | None:
        """A bare fragment on an index nobody opened: the one call still without arguments, if there is one."""
        waiting = [s for s in self._slots if not s.parts and not s.closed]
        if id_ or name or not said or len(waiting) != 1:
            return None
        waiting[0].conflicts.append("arguments came on another index than the name")
        return waiting[0]

    def _append(self, slot: Slot, said: Any) -> None:
        piece = said if isinstance(said, str) else dump(said).decode("utf-8")
        slot.said = True
        if not piece:
            return
        slot.parts.append(piece)
        if slot.closed:
            slot.closed, slot.reopened = False, True

    def _call(self, slot: Slot, *, complete: bool) -> CallClosed:
        body = _body(slot)
        body["conflicts"] = (*body.get("conflicts", ()), *slot.conflicts)
        return CallClosed(
            ToolCall(
                name=slot.name,
                id=slot.id,
                kind=slot.kind,
                executed_by=ExecutedBy.CLIENT,
                complete=complete,
                batch=self.choice,
                ordinal=slot.ordinal,
                reopened=slot.reopened,
                extra=wrapped(slot.name, body.get("arguments")),
                **body,
            )
        )


def wrapped(name: str, value: Any) -> dict[str, Any]:
    """``extra`` of an invented parallel wrapper: the calls inside, for the classifiers."""
    uses = rows(fields(value).get("tool_uses")) if name.removeprefix("functions.") in WRAPPERS else []
    inner = [
        {"name": text(u.get("recipient_name")).removeprefix("functions."), "arguments": u.get("parameters")}
        for u in uses
    ]
    return {"inner_calls": inner} if inner else {}


def _begins_another(last: Slot, name: str, said: Any) -> bool:
    """A name without an id: another name, or the same again when the last call is already whole, is a new call."""
    if not name:
        return False
    return bool(last.name) and (name != last.name or (last.whole() and bool(said)) or last.closed)


def _body(slot: Slot) -> dict[str, Any]:
    if slot.kind == "custom":
        return raw(slot.text)
    return arguments(slot.text) if slot.said else {}
