"""Golden exchanges as tables: ``tests/golden/exchanges/<api>.yaml`` in, bytes to replay and what must be read of them out.

A row: ``case``, maybe ``shows`` (the clause), one exchange (or ``turns``, several of one session), and the right answer:

- asked: ``ask`` (JSON) or ``ask_text``, ``method``, ``path``, ``headers``, ``ask_coding``
- answered: ``body`` (JSON), ``text``, ``sse``, ``lines``, ``aws`` [[event, payload]…], ``chunks``, ``socket`` or ``pipe`` [[side, message]…];
  ``type``, ``status``, ``coding``, ``keep`` (bytes that arrived), ``ending``
- right: ``calls`` [[id, name, arguments, {marks}]…], ``results`` [[id, outcome, {marks}]…], ``context`` [[id, name]…],
  ``unread`` [label…], ``api``; where a row has them, ``facts`` {key: value}, ``offers`` [name…], ``history`` [id…].
  Marks are fields of the call or result (``approval.state`` goes inside); unsaid ones of a call are ``by`` of the file,
  ``complete``, ``valid``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from classifiers.strict_yaml import load
from proxy.assembly import ExchangeAssembler
from proxy.assembly.shown import _tells, rendered, settled
from proxy.events import Event, Facts, HistorySeen, ResultSeen, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Head, Side
from proxy.wire import Frame

from .exchange_bytes import CODINGS, answer, written
from .wire.sockets import message

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "exchanges"
_TYPES = {
    "body": "application/json",
    "sse": "text/event-stream",
    "lines": "application/x-ndjson",
    "aws": "application/vnd.amazon.eventstream",
    "chunks": "application/vnd.amazon.eventstream",
    "proto": "application/vnd.ag-ui.event+proto",
}
_MARKS = {"by": "executed_by", "valid": "arguments_valid"}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    api: str
    row: Row
    defaults: Row

    def turns(self) -> list[Row]:
        common = {**self.defaults, **{k: v for k, v in self.row.items() if k != "turns"}}
        return [{**common, **turn} for turn in self.row.get("turns", [{}])]


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.yaml")):
        table = load(path.read_text("utf-8"), path.name).value
        for row in table["cases"]:
            yield Case(f"{path.stem}: {row['case']}", row.get("api", path.stem), row, table.get("defaults", {}))
            if path.stem == "ag-ui-sse" and "type" not in row:  # the same run in its binary form
                yield Case(f"ag-ui-proto: {row['case']}", "ag-ui-proto", _binary(row), table["defaults"])


def _binary(row: Row) -> Row:
    turns = [{**turn, "proto": turn["sse"]} for turn in row.get("turns", [row])]
    for turn in turns:
        del turn["sse"]
    return {**{k: v for k, v in row.items() if k != "sse"}, "turns": turns}


def told(case: Case, cut: Callable[[bytes], list[bytes]] | None = None) -> tuple[str | None, list[Event]]:
    """The api and the events of the case; ``cut`` takes the last turn's answer apart."""
    memory: Row = {}
    events: list[Event] = []
    apis = []
    turns = case.turns()
    for at, turn in enumerate(turns):
        assembler = ExchangeAssembler(_exchange(turn, f"x:{at}"), memory)
        events += _played(assembler, turn, cut if at == len(turns) - 1 else None)
        apis.append(assembler.api)
    return next((a for a in reversed(apis) if a), None), events


def right(case: Case) -> Row:
    """The right answer in the words of ``seen``."""
    row = case.row
    by = row.get("by", case.defaults.get("by", "client"))
    usual = {"by": by, "valid": True, "complete": True}
    said = {
        "api": None if case.api == "none" else case.api,
        "calls": [(i, n, _text(a), usual | dict(*m)) for i, n, a, *m in row.get("calls", [])],
        "context": [tuple(entry[:2]) for entry in row.get("context", [])],
        "results": [(i, o, dict(*m)) for i, o, *m in row.get("results", [])],
        "unread": row.get("unread", []),
    }
    return said | {key: row[key] for key in ("facts", "offers", "history") if key in row}


def seen(case: Case, api: str | None, events: list[Event]) -> Row:
    """What was told, in as much detail as the right answer has."""
    row = case.row
    calls, shown = settled(events), rendered(events)
    actions = [c for c in calls if c.purpose not in ("context", "question")]
    results = [e.result for e in events if isinstance(e, ResultSeen) and _tells(e.result)]
    usual = {"by": 0, "valid": 0, "complete": 0}
    said = {
        "api": api,
        "calls": [
            (c.id, c.name, _text(shown["calls"][at]["arguments"]), _marks(c, usual | _marked(row, "calls", at)))
            for at, c in enumerate(actions)
        ],
        "context": [(c["id"], c["name"]) for c in shown["context"]],
        "results": [
            (r.id, shown["results"][at]["outcome"], _marks(r, _marked(row, "results", at)))
            for at, r in enumerate(results)
        ],
        "unread": [e.label for e in events if isinstance(e, Unread)],
    }
    facts = {k: v for e in events if isinstance(e, Facts) for k, v in e.values.items()}
    offers = [d.name for e in events if isinstance(e, ToolsOffered) for d in e.definitions]
    history = [i for e in events if isinstance(e, HistorySeen) for i in e.call_ids]
    more = {"facts": {k: facts.get(k) for k in row.get("facts", {})}, "offers": offers, "history": history}
    return said | {key: value for key, value in more.items() if key in row}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _marked(row: Row, kind: str, at: int) -> Row:
    """The marks the right answer has for its ``at``th call or result."""
    rows = row.get(kind, [])
    length = 4 if kind == "calls" else 3
    return rows[at][-1] if at < len(rows) and len(rows[at]) == length else {}


def _marks(value: Any, wanted: Row) -> Row:
    return {mark: _plain(_inside(value, _MARKS.get(mark, mark))) for mark in wanted}


def _inside(value: Any, path: str) -> Any:
    name, _, rest = path.partition(".")
    found = value.get(name) if isinstance(value, dict) else getattr(value, name)
    return _inside(found, rest) if rest else found


def _plain(value: Any) -> Any:
    """Enumerations and tuples as JSON has them."""
    return json.loads(json.dumps(value, default=asdict))


def _exchange(turn: Row, name: str) -> Exchange:
    headers = {"content-type": "application/json", **turn.get("headers", {})}
    if "ask_coding" in turn:
        headers["content-encoding"] = turn["ask_coding"].split()[0]
    head = Head(turn.get("method", "POST"), turn.get("path", "/"), headers=tuple(headers.items()))
    return Exchange(name, head, pipe="pipe" in turn, upstream=turn.get("upstream", ""))


def _played(assembler: ExchangeAssembler, turn: Row, cut: Callable[[bytes], list[bytes]] | None) -> list[Event]:
    if "pipe" in turn:
        return [*assembler.frames(_dialogue(turn["pipe"])), *assembler.response_end()]
    asked = (
        turn["ask_text"].encode() if "ask_text" in turn else json.dumps(turn["ask"]).encode() if "ask" in turn else b""
    )
    if "ask_coding" in turn:
        asked = CODINGS[turn["ask_coding"]](asked)
    pieces = cut(asked) if cut is not None and not answer(turn) else [asked]
    events = [e for piece in pieces for e in assembler.request_body(piece)] + assembler.request_end()
    events += assembler.response_head(_head(turn))
    if "socket" in turn:
        return events + _socket(assembler, turn["socket"], whole=cut is None) + assembler.response_end()
    body = answer(turn)
    for piece in [body] if cut is None else cut(body):
        events += assembler.response_body(piece)
    return events + assembler.response_end(Ending(turn.get("ending", "complete")))


def _head(turn: Row) -> Head:
    kind = turn.get("type", next((v for k, v in _TYPES.items() if k in turn), ""))
    headers = [("content-type", kind)] if kind else []
    if "coding" in turn:
        headers.append(("content-encoding", turn["coding"].split()[0]))
    headers += list(turn.get("answer_headers", {}).items())
    return Head(status=101 if "socket" in turn else turn.get("status", 200), headers=tuple(headers))


def answer_of(case: Case) -> bytes:
    """The bytes that are cut: the last turn's answer."""
    return answer(case.turns()[-1])


def _dialogue(lines: list[list[Any]]) -> list[Frame]:
    sides = {"client": Side.REQUEST, "server": Side.RESPONSE}
    return [Frame(data, side=sides[side], size_bytes=len(written(data))) for side, data in lines]


def _socket(assembler: ExchangeAssembler, lines: list[list[Any]], *, whole: bool) -> list[Event]:
    events: list[Event] = []
    for side, data in lines:
        sent = message(written(data), masked=side == "client")
        for piece in [sent] if whole else [sent[i : i + 1] for i in range(len(sent))]:
            events += assembler.socket(Side.REQUEST if side == "client" else Side.RESPONSE, piece)
    return events
