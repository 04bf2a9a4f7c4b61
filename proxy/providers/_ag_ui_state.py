"""What one AG-UI exchange knows while it is read, and the calls it yields: state in, ToolCall values out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from classifiers.call import Advertised, Definition, ExecutedBy, ObservedAt, ToolCall
from proxy.exchange import Exchange
from proxy.providers._ag_ui_calls import CallBook, OpenCall
from proxy.providers._ag_ui_input import thread_memory
from proxy.providers._calls import hashed
from proxy.providers._reading import arguments_of_text, trimmed


@dataclass(slots=True)
class RunState:
    exchange: Exchange
    book: CallBook = field(default_factory=CallBook)
    offered: dict[str, Definition] | None = None  # None: no tool list was seen
    thread: str | None = None
    run: str | None = None
    batch: int = 0
    rejected: bool = False  # the official client has aborted by now
    closed: dict[str, str] = field(default_factory=dict)  # calls of this run, closed: id -> name
    answered: dict[str, str] = field(default_factory=dict)  # id -> digest, whole exchange

    def memory(self) -> dict[str, Any]:
        return thread_memory(self.exchange, self.thread)

    def lists(self, name: str | None) -> bool:
        """Whether the client's tool list has this tool."""
        return self.offered is not None and name in self.offered

    def name_of(self, call_id: str) -> str | None:
        known = self.book.calls.get(call_id)
        found = known.name if known else self.memory()["calls"].get(call_id, {}).get("name")
        return found if isinstance(found, str) else None

    def closed_call(self, call: OpenCall, *, complete: bool) -> ToolCall:
        """The call as it stands; asking marks it closed, so each closing is asked for once."""
        text = "".join(call.text)
        again = call.closings > (1 if complete else 0)
        reopened, extra = (True, {}) if again else self._seen_before(call, text)
        if complete:
            self.closed[call.id] = call.name
        if call.other_names:
            extra["other_names"] = list(call.other_names)
        fields = arguments_of_text(text)
        doubled = fields.pop("conflicts", ())
        return ToolCall(
            name=call.name,
            id=call.id,
            **fields,
            executed_by=self._executor(call),
            advertised=self._advertised(call),
            definition=self.offered.get(call.name) if self.offered else None,
            complete=complete,
            batch=call.batch,
            ordinal=call.ordinal,
            parent_message=call.parent,
            run_id=self.run,
            thread_id=self.thread,
            subagent_id=call.owner,
            observed_at=ObservedAt.AGUI_EVENT,
            client_would_reject=self.rejected or bool(self.book.violations) or not complete,
            reopened=reopened,
            conflicts=(*call.conflicts, *doubled),
            extra=extra,
        )

    def _executor(self, call: OpenCall) -> ExecutedBy:
        if call.id in self.answered:
            return ExecutedBy.AGENT
        return ExecutedBy.CLIENT if self.lists(call.name) else ExecutedBy.UNKNOWN

    def _advertised(self, call: OpenCall) -> Advertised:
        if self.lists(call.name):
            return Advertised.YES
        return Advertised.NOT_NEEDED if call.id in self.answered else Advertised.UNKNOWN

    def _seen_before(self, call: OpenCall, text: str) -> tuple[bool, dict[str, Any]]:
        """Whether an earlier run of the thread closed this very call (servers re-emit it after an approval)."""
        memory, digest = self.memory(), hashed(text)
        before = memory["calls"].pop(call.id, None)
        trimmed(memory["calls"])[call.id] = {
            "name": call.name,
            "digest": digest,
            "run": self.run,
            "offered": None if self.offered is None else call.name in self.offered,
        }
        if before is None:
            return False, {}
        same = (before["name"], before["digest"]) == (call.name, digest)
        if same and call.id not in memory["answered"]:
            return True, {}
        self.answered.pop(call.id, None)
        memory["answered"].pop(call.id, None)
        return False, {"id_reused": True}
