"""The calls of one session: which were seen, which are answered, and to which a reported result belongs.

In: closed calls with the id of their action line, results as reported. Out: the call a result answers, once.
Ids are not unique (some providers reuse them every round, some send none): the key is the place a call has among the
calls of the same id, or of the same name where there is no id. Bounded: the oldest calls are forgotten and counted.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import orjson

from classifiers.call import ApprovalState, ToolCall, ToolResult

MAX_CALLS = 4000

Key = tuple[str, str]


@dataclass(slots=True)
class KnownCall:
    """``answer`` is the digest of the reported result, "" for one without content, None while unanswered."""

    action: str
    id: str | int | None
    name: str
    digest: str
    leg: str
    at: float  # wall seconds; shifted when the clock steps
    executed_by: str
    complete: bool = True
    run_id: str | None = None
    answer: str | None = None
    status: str | None = None
    approval: str = ApprovalState.NONE
    outcome: str | None = None
    surface: str = "unknown"
    legs: set[str] = field(default_factory=set)
    mono_ns: int = 0  # of the capture; 0 where there is none (imports)


@dataclass(slots=True)
class CallTable:
    calls: OrderedDict[int, KnownCall] = field(default_factory=OrderedDict)
    keys: dict[int, Key] = field(default_factory=dict)
    by_key: dict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    count: int = 0
    evicted: int = 0

    def add(self, known: KnownCall, key: Key | None = None) -> None:
        """``key``: the id another leg uses for the same call, when it is not the call's own."""
        key = call_key(known.id, known.name) if key is None else key
        self.calls[self.count], self.keys[self.count] = known, key
        self.by_key[key].append(self.count)
        self.count += 1
        while len(self.calls) > MAX_CALLS:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        number, _ = self.calls.popitem(last=False)
        key = self.keys.pop(number)
        self.by_key[key].remove(number)
        if not self.by_key[key]:
            del self.by_key[key]
        self.evicted += 1

    def named(self, id: str | int | None, name: str | None = None) -> list[KnownCall]:  # noqa: A002 - the wire's word
        """Calls of this id (or, without an id, of this name), oldest first."""
        return [self.calls[n] for n in self.by_key.get(call_key(id, name or ""), ())]

    def latest(self, id: str | int | None, name: str | None = None) -> KnownCall | None:  # noqa: A002 - the wire's word
        found = self.named(id, name)
        return found[-1] if found else None

    def open(self) -> list[KnownCall]:
        return [c for c in self.calls.values() if c.complete and c.answer is None]

    def answers(self, result: ToolResult, nth: int) -> KnownCall | None:
        """The call this final result answers, or None: unknown call, or a result already attached.

        ``nth``: how many results of the same id (or name) came before it in the same request: a re-sent history
        repeats old answers in order, so the nth belongs to the nth call.
        """
        found = self.named(result.id, result.name)
        if not found and result.name:  # some clients give an id to a call the model sent without one
            found = self.named(None, result.name)
        if not found:
            return None
        digest = result.digest or ""
        if result.asserted_by != "request":  # answers in a stream come once, in order
            return next((c for c in found if c.answer is None), None)
        if nth < len(found):
            call = found[nth]
            if call.answer is None:
                return call
            if call.answer == digest:
                return None
        if any(c.answer == digest for c in found):  # a compacted history moved the old answers forward
            return None
        return next((c for c in found if c.answer is None), None)


def call_key(id: str | int | None, name: str) -> Key:  # noqa: A002 - the wire's word
    return ("name", name) if id is None or id == "" else (type(id).__name__, str(id))


def arguments_digest(call: ToolCall) -> str:
    """sha256 of the arguments' value, key order and spacing aside: two legs write the same value differently."""
    value: Any = call.arguments if call.arguments_valid is not False and call.arguments is not None else None
    if value is None:
        return sha256(call.arguments_text.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        return sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
    except (TypeError, ValueError):  # integers beyond 64 bits, lone surrogates: the text still identifies it
        return sha256(call.arguments_text.encode("utf-8", "surrogatepass")).hexdigest()
