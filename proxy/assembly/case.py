"""A case folder to its assembly: ``response.body``, ``meta.json``, maybe ``request.json`` or ``requests.jsonl``, in;
one plain dictionary out (the shape ``onlooker assemble`` prints).

``requests.jsonl`` holds several requests of one session, one object a line as in ``request.json``; a line may carry
its own ``response`` {status, content_type, body}; the folder's ``response.body`` answers the last one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from classifiers.call import Advertised, ApprovalState, ExecutedBy, Outcome, ToolCall, ToolResult
from proxy.assembly import ExchangeAssembler
from proxy.events import CallClosed, Event, ResultSeen, Unread
from proxy.exchange import Ending, Exchange, Head, Side
from proxy.wire import Frame
from proxy.wire.json_text import dump, parse

Feed = Callable[[ExchangeAssembler, bytes], Iterator[Event]]
_HOP = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_OUTCOMES = {Outcome.REJECTED: "denied", Outcome.EXPIRED: "cancelled", Outcome.TIMED_OUT: "error"}
_SIDES = {"client": Side.REQUEST, "server": Side.RESPONSE}


class BadCaseError(Exception):
    """The folder is not a case; the message says what is missing or wrong."""


def assemble_case(folder: Path, *, detect: bool = False, shared: dict[str, Any] | None = None) -> dict[str, Any]:
    """The folder's exchanges, assembled: {api, calls, results, unread}."""
    meta = _object(folder / "meta.json")
    memory: dict[str, Any] = {} if shared is None else shared
    events: list[Event] = []
    api: str | None = None
    told = _Told()
    for exchange, body in exchanges(folder, meta, None if detect else meta.get("wire_api") or meta.get("api")):
        assembler = ExchangeAssembler(exchange, memory)
        events += told.new(replay(assembler, body, exchange.request_json))
        api = assembler.api or api
    return {"api": api, **rendered(events)}


class _Told:
    """Results of earlier requests of the session: a history repeats them in order, each is printed once."""

    def __init__(self) -> None:
        self._answers: dict[str, list[str | None]] = {}

    def new(self, events: list[Event]) -> list[Event]:
        place: dict[str, int] = {}
        return [e for e in events if not (isinstance(e, ResultSeen) and self._again(e.result, place))]

    def _again(self, result: ToolResult, place: dict[str, int]) -> bool:
        if not result.final or result.source != "request":
            return False
        key = repr(result.id) if result.id not in (None, "") else f"name {result.name}"
        nth = place[key] = place.get(key, -1) + 1
        answers = self._answers.setdefault(key, [])
        if nth < len(answers) and answers[nth] == result.digest:
            return True
        answers.append(result.digest)
        return False


def replay(assembler: ExchangeAssembler, body: bytes, request: Any = None, cut: Feed | None = None) -> list[Event]:
    """One exchange through an assembler; ``cut`` feeds the response in pieces of its own choosing."""
    exchange = assembler.exchange
    head, exchange.response, exchange.request_json = exchange.response or Head(status=200), None, None
    if head.status in (0, 101):
        assembler.response_head(head) if head.status else None
        return [*assembler.frames(dialogue(body)), *assembler.end(Ending.COMPLETE)]
    sent = b"" if request is None else _text(request)
    events = assembler.request_body(sent) + assembler.request_end()
    events += assembler.response_head(head)
    events += assembler.response_body(body) if cut is None else list(cut(assembler, body))
    return events + assembler.response_end(Ending.COMPLETE)


def dialogue(body: bytes) -> list[Frame]:
    """Frames of a recorded socket or pipe: JSON lines {"dir", "data" | "line"}."""
    frames = []
    for line in body.split(b"\n"):
        entry = parse(line)[0] if line.strip() else None
        if not isinstance(entry, dict):
            continue
        data, error = entry.get("data", entry.get("line")), None
        if isinstance(data, str):
            value, error = parse(data)
            data = data if error else value
        side = _SIDES.get(str(entry.get("dir")), Side.RESPONSE)
        frames.append(Frame(data, side=side, error=error, size_bytes=len(line)))
    return frames


def rendered(events: list[Event]) -> dict[str, Any]:
    """The printed shape of what assembly yielded (docs/protocols.md)."""
    return {
        "calls": [_call(call) for call in settled(events) if call.purpose not in _NOT_TOOLS],
        "context": [_call(call) for call in settled(events) if call.purpose in _NOT_TOOLS],
        "results": [_result(e.result) for e in events if isinstance(e, ResultSeen) and _tells(e.result)],
        "unread": [
            {"content_type": e.content_type, "bytes": e.size_bytes, "reason": e.reason}
            for e in events
            if isinstance(e, Unread)
        ],
    }


def settled(events: list[Event]) -> list[ToolCall]:
    """Each call once, as last known: a reopened one replaces its earlier closing, later sights add what they report."""
    calls: list[ToolCall] = []
    for event in events:
        if isinstance(event, CallClosed):
            place = _place(calls, event.call.id, None) if event.call.reopened else None
            if place is None:
                calls.append(event.call)
            else:
                calls[place] = event.call
        elif isinstance(event, ResultSeen):
            place = _place(calls, event.result.id, event.result.name)
            if place is not None:
                calls[place] = _with_sight(calls[place], event.result)
    return calls


def _with_sight(call: ToolCall, sight: ToolResult) -> ToolCall:
    """Who ran it is known from whoever answered; status and approval only from the side that reports, never a claim."""
    said, told = sight.extra, sight.asserted_by == "response"
    decided = told and sight.approval.state is not ApprovalState.NONE
    return replace(
        call,
        executed_by=ExecutedBy(said.get("executed_by", call.executed_by)),
        advertised=Advertised(said.get("advertised", call.advertised)),
        server=call.server or said.get("server"),
        status=sight.status if told and sight.status is not None else call.status,
        end_reason=sight.end_reason if told and sight.end_reason else call.end_reason,
        approval=sight.approval if decided else call.approval,
    )


def _place(calls: list[ToolCall], call_id: str | int | None, name: str | None) -> int | None:
    back = range(len(calls) - 1, -1, -1)
    return next((at for at in back if calls[at].id == call_id and name in (None, calls[at].name)), None)


def _tells(result: ToolResult) -> bool:
    """A result, or a refusal: that is decided before any result, and the call may never get one."""
    return result.final or result.outcome is Outcome.REJECTED


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments_text if call.arguments_valid is False else call.arguments,
        "arguments_text": call.arguments_text,
        "arguments_valid": call.arguments_valid,
        "executed_by": call.executed_by.value,
        "advertised": call.advertised.value,
        "complete": call.complete,
        "kind": call.kind,
        "status": call.status,
        "end_reason": call.end_reason,
        "approval": call.approval.state.value,
        "server": call.server,
        "caller": call.caller,
        "purpose": call.purpose,
    }


def _result(result: ToolResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "name": result.name,
        "outcome": _OUTCOMES.get(result.outcome, result.outcome.value if result.outcome in _SAID else "unknown"),
        "source": "request" if result.source == "request" else "stream",
    }


# Reads of context and questions to a model or a person: recorded as their own kinds, not tool calls.
_NOT_TOOLS = frozenset({"context", "question"})
_SAID = frozenset({Outcome.OK, Outcome.ERROR, Outcome.CANCELLED})


def exchanges(folder: Path, meta: dict[str, Any], declared: str | None) -> Iterator[tuple[Exchange, bytes]]:
    requests = _requests(folder)
    for at, request in enumerate(requests):
        own = request.get("response")
        reply: dict[str, Any] = own if isinstance(own, dict) else meta if at == len(requests) - 1 else {}
        body = reply.get("body", b"") if reply is not meta else _body(folder, needed=True)
        head = _response_head(reply)
        endpoint = str(meta.get("endpoint") or "")
        path = str(request.get("path") or (endpoint if endpoint.startswith("/") else ""))
        yield (
            Exchange(
                id=f"{folder.name}:{at}",
                request=Head(
                    method=str(request.get("method") or "POST"),
                    target=path + _query(request.get("query")),
                    headers=_headers(request.get("headers")),
                ),
                response=head,
                upstream=str(meta.get("provider_host") or ""),
                request_json=request.get("body"),
                declared_api=declared if isinstance(declared, str) and _known(declared) else None,
            ),
            body if isinstance(body, bytes) else _text(body),
        )


def _requests(folder: Path) -> list[dict[str, Any]]:
    several, single = folder / "requests.jsonl", folder / "request.json"
    if several.is_file():
        parsed = [json.loads(line) for line in several.read_text("utf-8").split("\n") if line.strip()]
        return [r for r in parsed if isinstance(r, dict)] or [{}]
    return [_object(single)] if single.is_file() else [{}]


def _response_head(reply: dict[str, Any]) -> Head:
    headers = dict(_headers(reply.get("response_headers") or reply.get("headers")))
    kept = {k: v for k, v in headers.items() if k not in _HOP}
    if reply.get("content_type"):
        kept["content-type"] = str(reply["content_type"])
    status = reply.get("status", 200)
    return Head(status=status if isinstance(status, int) else 200, headers=tuple(kept.items()))


def _headers(values: Any) -> tuple[tuple[str, str], ...]:
    pairs = values.items() if isinstance(values, dict) else values if isinstance(values, list) else ()
    return tuple((str(k).lower(), str(v)) for k, v in pairs)


def _query(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [(k, v) for k, values in value.items() for v in (values if isinstance(values, list) else [values])]
        return "?" + urlencode(pairs) if pairs else ""
    return "?" + value.removeprefix("?") if isinstance(value, str) and value else ""


def _body(folder: Path, *, needed: bool) -> bytes:
    path = folder / "response.body"
    if not path.is_file():
        if needed:
            raise BadCaseError(f"{path}: no such file; a case folder needs response.body and meta.json")
        return b""
    return path.read_bytes()


def _text(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else dump(body)


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadCaseError(f"{path}: no such file; a case folder needs response.body and meta.json") from None
    except ValueError as error:
        raise BadCaseError(f"{path}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadCaseError(f"{path}: a {type(value).__name__}; expected an object")
    return value


def _known(api: str) -> bool:
    from proxy.assembly.choose import providers  # noqa: PLC0415 - importing providers costs; only a declared api needs it

    return any(p.name == api for p in providers())
