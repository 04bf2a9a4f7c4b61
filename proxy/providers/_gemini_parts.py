"""Gemini content parts to calls and results, for generateContent and Live alike; and what a request says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from classifiers.call import Definition, ExecutedBy, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, HistorySeen, ResultSeen, ToolsOffered
from proxy.providers import _history
from proxy.providers._calls import Told, definition, fields, given, ident, result, rows, text
from proxy.providers._gemini_args import PartialArgs

_CODE_OUTCOMES = {
    "OUTCOME_OK": Outcome.OK,
    "OUTCOME_FAILED": Outcome.ERROR,
    "OUTCOME_DEADLINE_EXCEEDED": Outcome.TIMED_OUT,
}


class Parts:
    """The calls of one candidate, in order. At most one streamed call is open at a time."""

    def __init__(self, batch: int = 0) -> None:
        self._batch = batch
        self._count = 0
        self._open: tuple[dict[str, Any], int, PartialArgs] | None = None
        self._code_id: Any = None
        self._told = Told()  # some servers repeat the part with the finish

    def part(self, part: dict[str, Any]) -> Iterator[Event]:
        part = spelled(part)
        for key, read in (
            ("functionCall", self._function),
            ("executableCode", self._code),
            ("codeExecutionResult", self._code_result),
            ("toolCall", self._tool),
            ("toolResponse", self._tool_result),
        ):
            if isinstance(part.get(key), dict):
                yield from read(part[key])

    def close(self, *, complete: bool) -> Iterator[Event]:
        """A streamed call that is still open."""
        if self._open is not None:
            call, ordinal, partial = self._open
            self._open = None
            body = given(partial.value) | {"conflicts": (partial.problem,) if partial.problem else ()}
            yield self._call(call, "function", ExecutedBy.CLIENT, body, ordinal, complete=complete)

    def _function(self, call: dict[str, Any]) -> Iterator[Event]:
        named, more = bool(text(call.get("name"))), call.get("willContinue") is True
        if named:
            yield from self.close(complete=False)
        if named and (more or "partialArgs" in call):
            self._open = (call, self._next(), PartialArgs())
        if self._open is not None:
            self._open[2].add(call.get("partialArgs"))
            if not more:
                yield from self.close(complete=True)
        elif named:
            body = given(call.get("args") if call.get("args") is not None else {})
            if not self._told.again(call.get("id"), call.get("name"), body["arguments_text"]):
                yield self._call(call, "function", ExecutedBy.CLIENT, body, self._next())

    def _code(self, code: dict[str, Any]) -> Iterator[Event]:
        self._code_id = code.get("id")
        body = given({k: code.get(k) for k in ("language", "code")})
        call = {"id": code.get("id"), "name": "code_execution"}
        yield self._call(call, "executable_code", ExecutedBy.PROVIDER, body, self._next())

    def _code_result(self, said: dict[str, Any]) -> Iterator[Event]:
        outcome = _CODE_OUTCOMES.get(text(said.get("outcome")), Outcome.UNKNOWN)
        id_ = said.get("id", self._code_id)
        yield ResultSeen(result(id_, said.get("output"), outcome, name="code_execution", reported_by="provider"))

    def _tool(self, call: dict[str, Any]) -> Iterator[Event]:
        body = {} if call.get("args") is None else given(call["args"])
        shown = {"id": call.get("id"), "name": text(call.get("toolType"))}
        yield self._call(shown, "tool_call", ExecutedBy.PROVIDER, body, self._next())

    def _tool_result(self, said: dict[str, Any]) -> Iterator[Event]:
        name = text(said.get("toolType")) or None
        yield ResultSeen(result(said.get("id"), said.get("response"), name=name, reported_by="provider"))

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    def _call(
        self,
        call: dict[str, Any],
        kind: str,
        where: ExecutedBy,
        body: dict[str, Any],
        ordinal: int,
        *,
        complete: bool = True,
    ) -> CallClosed:
        return CallClosed(
            ToolCall(
                name=text(call.get("name")),
                id=ident(call.get("id")) or None,
                kind=kind,
                executed_by=where,
                complete=complete,
                batch=self._batch,
                ordinal=ordinal,
                **body,
            )
        )


def spelled(part: dict[str, Any]) -> dict[str, Any]:
    """A part in protobuf-JSON's camelCase; servers and clients may write snake_case as well."""
    if not any("_" in key for key in part):
        return part
    return {_SPELLINGS.get(key, key): value for key, value in part.items()}


_SPELLINGS = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "tool_call": "toolCall",
    "tool_response": "toolResponse",
}


def _parts_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [spelled(part) for part in rows(content.get("parts"))]


def offered(body: dict[str, Any]) -> ToolsOffered:
    tools = body.get("tools")
    settings = fields(body.get("toolConfig") or body.get("tool_config"))
    calling = fields(settings.get("functionCallingConfig") or settings.get("function_calling_config"))
    allowed = calling.get("allowedFunctionNames") or calling.get("allowed_function_names") or []
    forced = None
    if text(calling.get("mode")).upper() == "ANY":
        forced = allowed[0] if isinstance(allowed, list) and len(allowed) == 1 and text(allowed[0]) else "*"
    found = tuple(d for tool in rows(tools) for d in _definitions(tool))
    return ToolsOffered(found, present=isinstance(tools, list), forced=forced)


def _definitions(tool: dict[str, Any]) -> Iterator[Definition]:
    for key, value in tool.items():
        if key in ("functionDeclarations", "function_declarations"):
            for said in rows(value):
                schema = next((said[k] for k in _SCHEMAS if isinstance(said.get(k), dict)), None)
                if text(said.get("name")):
                    yield definition(said["name"], said.get("description"), schema)
        else:
            yield definition(key, None, None, {"type": "built-in"})


_SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters")


def history(contents: list[Any]) -> Iterator[Event]:
    """HistorySeen, then every function response, paired with the call it answers."""
    hashes = _history.chain(contents)
    calls = [fields(p.get("functionCall")) for c in rows(contents) for p in _parts_of(c) if "functionCall" in p]
    yield HistorySeen(call_ids=tuple(ident(c.get("id")) for c in calls), prefix_hashes=hashes)
    turn: dict[str, Any] = {}
    for content in rows(contents):
        if content.get("role") == "model":
            turn = content
        else:
            said = [fields(p["functionResponse"]) for p in _parts_of(content) if "functionResponse" in p]
            yield from (ResultSeen(r) for r in responses(said, turn, source="request"))


def responses(said: list[dict[str, Any]], turn: dict[str, Any], *, source: str) -> Iterator[ToolResult]:
    """Function responses; without ids they pair by order among the same name inside the turn (``extra.ordinal``)."""
    calls = [fields(p["functionCall"]) for p in _parts_of(turn) if isinstance(p.get("functionCall"), dict)]
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, call in enumerate(calls):
        waiting[text(call.get("name"))].append(place)
    by_id = {c["id"]: i for i, c in enumerate(calls) if text(c.get("id"))}
    for one in said:
        name, content = text(one.get("name")), one.get("response")
        ordinal: int | None = by_id.get(text(one.get("id")))
        if ordinal is None and waiting[name]:
            ordinal = waiting[name].pop(0)
        failed = isinstance(content, dict) and content.get("error") not in (None, "")
        yield result(
            one.get("id"),
            content,
            Outcome.ERROR if failed else Outcome.UNKNOWN,
            name=name or None,
            source=source,
            asserted_by="request",
            reported_by="harness",
            extra={} if ordinal is None else {"ordinal": ordinal},
        )
