"""One MCP conversation: JSON-RPC messages of both sides in, calls, results, tool lists and facts out.

The *request* is the call (MCP, "Tools"): ``tools/call`` by the client, and, as kinds of their own, ``resources/read``
and ``prompts/get`` (context), ``sampling/createMessage`` (the server asks for a model) and ``elicitation/create`` (it
asks a person). Holds for the eras 2024-11-05 to 2026-07-28: sessions, batches, several-step requests
(``input_required`` and its retry are one call), tasks, cancellation. What a session's other connections need is kept
in ``exchange.shared``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from classifiers.call import Definition, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, Facts, ResultSeen, ToolsOffered
from proxy.exchange import Exchange, Side
from proxy.providers._calls import hashed, text
from proxy.providers._mcp_words import (
    KINDS,
    META,
    TASK_ENDS,
    arguments_in,
    error_text,
    is_id,
    key_of,
    name_of,
    named,
    outcome_of,
    person_said,
    task_in,
)
from proxy.providers._memory import slot
from proxy.providers._reading import advertised, arguments_of_value, content_facts, trimmed

MAX_TOOLS = 512


@dataclass(slots=True)
class McpTalk:
    """``session``: what joins connections (a session id, or a process); None: requests stand alone (2026-07-28)."""

    exchange: Exchange
    session: str | None = None
    place: str = ""  # what stands for the server while there is no session: upstream and path, or a name
    fallback_server: str | None = None
    _own: dict[str, Any] = field(default_factory=dict)
    _ordinal: int = 0

    def handle(self, message: Any, side: Side) -> Iterator[Event]:
        """One message, or a batch; ``side`` REQUEST is the client speaking."""
        for item in message if isinstance(message, list) else (message,):
            if not isinstance(item, dict):
                continue
            method = item.get("method")
            if isinstance(method, str):
                params = item.get("params") if isinstance(item.get("params"), dict) else {}
                assert isinstance(params, dict)
                yield from self._asked(method, params, item.get("id"), side)
            elif "result" in item or "error" in item:
                yield from self._answered(item, side)

    def book(self) -> dict[str, Any]:
        """What is known of this server or session, kept across exchanges."""
        return slot(self.exchange, "mcp", self.session or self.place or self.exchange.id)

    def move_to(self, session: str) -> None:
        """The server gave the conversation its id: what was learned so far belongs to it."""
        if self.session != session:
            self.session = session
            self.book().setdefault("pending", {}).update(self._own.pop("pending", {}))

    def _pending(self) -> dict[str, Any]:
        """Requests without an answer yet. Ids repeat between stateless requests, so only a session shares them."""
        holder = self.book() if self.session else self._own
        found = holder.setdefault("pending", {})
        assert isinstance(found, dict)
        return trimmed(found, 1024)

    def _server(self) -> str | None:
        known = self.book().get("server")
        return known if isinstance(known, str) else self.fallback_server

    # what is asked

    def _asked(self, method: str, params: dict[str, Any], ident: Any, side: Side) -> Iterator[Event]:
        yield from self._facts(method, params)
        if not is_id(ident):
            notice = _NOTICES.get(method)
            if notice is not None:
                yield from notice(self, params, side)
            return
        waiting: dict[str, Any] = {"method": method, "id": ident}
        if method in KINDS:
            yield from self._call(method, params, ident, side, waiting)
        elif method.startswith("tasks/"):
            waiting["task"] = text(params.get("taskId"))
        self._pending()[key_of(side, ident)] = waiting

    def _call(
        self, method: str, params: dict[str, Any], ident: Any, side: Side, waiting: dict[str, Any]
    ) -> Iterator[Event]:
        name = name_of(method, params)
        waiting |= {"name": name, "arguments": hashed(params.get("arguments"))}
        before = self._continues(params)
        if before is not None:
            waiting["id"] = before["id"]
            yield from self._given(before["id"], params.get("inputResponses"))
            return
        kind = KINDS[method]
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        assert isinstance(meta, dict)
        extra: dict[str, Any] = {"continuation": True} if "inputResponses" in params or "requestState" in params else {}
        use = next((v for k, v in meta.items() if k.lower().endswith(("tooluseid", "tool_use_id"))), None)
        if isinstance(use, str):
            extra["tool_use_id"] = use
        if isinstance(params.get("task"), dict):
            extra["task"] = True
        yield CallClosed(
            ToolCall(
                name=name,
                id=ident,
                **arguments_of_value(arguments_in(method, params)),
                kind=kind.kind,
                purpose=kind.purpose,
                executed_by=kind.executed_by,
                definition=self._definition(name) if method == "tools/call" else None,
                server=self._server(),
                ordinal=self._next(),
                observed_at=ObservedAt.MCP_REQUEST,
                asserted_by=side.value,
                extra=extra,
            )
        )

    def _next(self) -> int:
        self._ordinal += 1
        return self._ordinal - 1

    def _continues(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """The call this request goes on with: it echoes a state the server gave, or answers what that asked."""
        state, responses = params.get("requestState"), params.get("inputResponses")
        asked = self.book().get("asked", {})
        keys = [hashed(state)] if state is not None else []
        if isinstance(responses, dict):
            keys.append(_question_key(params.get("name"), hashed(params.get("arguments")), responses))
        found = next((asked[key] for key in keys if key in asked), None)
        return found if isinstance(found, dict) else None

    def _given(self, call_id: Any, responses: Any) -> Iterator[Event]:
        """What the client answered to the questions of an unfinished call."""
        for key, answer in responses.items() if isinstance(responses, dict) else ():
            yield ResultSeen(
                ToolResult(
                    id=f"{call_id}:{key}",
                    outcome=person_said(answer),
                    source="request",
                    asserted_by="request",
                    reported_by="harness",
                    **content_facts(answer),
                )
            )

    def _facts(self, method: str, params: dict[str, Any]) -> Iterator[Event]:
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        assert isinstance(meta, dict)
        client = params.get("clientInfo") if method == "initialize" else meta.get(META + "clientInfo")
        found: dict[str, Any] = {}
        if isinstance(client, dict) and isinstance(client.get("name"), str):
            found["agent"] = {"name": client["name"], "version": client.get("version")}
        version = params.get("protocolVersion") if method == "initialize" else meta.get(META + "protocolVersion")
        if isinstance(version, str):
            found["mcp_protocol_version"] = version
        if isinstance(meta.get("traceparent"), str):
            found["traceparent"] = meta["traceparent"]
        if found:
            yield Facts(found)

    # what is answered

    def _answered(self, message: dict[str, Any], side: Side) -> Iterator[Event]:
        other = Side.REQUEST if side is Side.RESPONSE else Side.RESPONSE
        waiting = self._pending().pop(key_of(other, message.get("id")), None)
        if waiting is None:
            return
        result, error = message.get("result"), message.get("error")
        if isinstance(result, dict):
            yield from self._learn(waiting["method"], result)
        method = waiting["method"]
        if method in KINDS:
            yield from self._result(waiting, result, error, side)
        elif method in ("tasks/get", "tasks/result", "tasks/cancel"):
            yield from self._task(waiting, result, error)

    def _learn(self, method: str, result: dict[str, Any]) -> Iterator[Event]:
        """What a result tells beside its content: who the server is, what tools it has."""
        meta = result.get("_meta") if isinstance(result.get("_meta"), dict) else {}
        assert isinstance(meta, dict)
        info = result.get("serverInfo", meta.get(META + "serverInfo"))
        if isinstance(info, dict) and isinstance(info.get("name"), str):
            self.book()["server"] = info["name"]
        if method == "initialize" and isinstance(result.get("protocolVersion"), str):
            yield Facts({"mcp_protocol_version": result["protocolVersion"]})
        if method == "tools/list" and isinstance(result.get("tools"), list):
            tools = [tool for tool in result["tools"] if isinstance(tool, dict)]
            kept = self.book().setdefault("tools", {})
            for tool in tools:
                if isinstance(tool.get("name"), str):
                    kept[tool["name"]] = {k: tool.get(k) for k in ("name", "description", "inputSchema", "annotations")}
            trimmed(kept, MAX_TOOLS)
            found = [advertised(tool, "inputSchema") for tool in tools]
            yield ToolsOffered(tuple(d for d in found if d is not None))

    def _definition(self, name: str) -> Definition | None:
        tool = self.book().get("tools", {}).get(name)
        return advertised(tool, "inputSchema") if isinstance(tool, dict) else None

    def _result(self, waiting: dict[str, Any], result: Any, error: Any, side: Side) -> Iterator[Event]:
        if error is None and isinstance(result, dict):
            if result.get("resultType") == "input_required":
                yield from self._input_required(waiting, result)
                return
            handle = task_in(result)
            if handle is not None:
                trimmed(self.book().setdefault("tasks", {}))[handle["taskId"]] = waiting
                yield self._sight(waiting, {"task": handle["taskId"], "task_status": handle.get("status")})
                return
        yield self._final(waiting, result, error, side)

    def _final(self, waiting: dict[str, Any], result: Any, error: Any, side: Side) -> Event:
        kind = KINDS[waiting["method"]]
        server = self._server()
        content = result.get("content", result) if isinstance(result, dict) else result
        return ResultSeen(
            ToolResult(
                id=waiting["id"],
                name=waiting.get("name"),
                outcome=outcome_of(waiting["method"], result, error),
                source="reply",
                asserted_by=side.value,
                reported_by=kind.reported_by,
                error=error_text(error),
                extra={**({"code": error.get("code")} if isinstance(error, dict) else {}), **named(server)},
                **content_facts(content if error is None else error),
            )
        )

    def _sight(self, waiting: dict[str, Any], extra: dict[str, Any], outcome: Outcome = Outcome.UNKNOWN) -> Event:
        return ResultSeen(
            ToolResult(
                id=waiting["id"],
                name=waiting.get("name"),
                outcome=outcome,
                final=False,
                source="reply",
                reported_by="tool_server",
                extra=extra,
            )
        )

    def _input_required(self, waiting: dict[str, Any], result: dict[str, Any]) -> Iterator[Event]:
        """The call is not over: remember how its retry will name it, and record what is asked of the client."""
        yield self._sight(waiting, {"result_type": "input_required"})
        requests = result.get("inputRequests") if isinstance(result.get("inputRequests"), dict) else {}
        assert isinstance(requests, dict)
        asked = self.book().setdefault("asked", {})
        if result.get("requestState") is not None:
            asked[hashed(result["requestState"])] = {"id": waiting["id"]}
        asked[_question_key(waiting.get("name"), waiting.get("arguments"), requests)] = {"id": waiting["id"]}
        trimmed(asked, 1024)
        for key, item in requests.items():
            method = item.get("method") if isinstance(item, dict) else None
            if not isinstance(method, str) or method not in KINDS:
                continue
            params = item.get("params") if isinstance(item.get("params"), dict) else {}
            kind = KINDS[method]
            yield CallClosed(
                ToolCall(
                    name=name_of(method, params),
                    id=f"{waiting['id']}:{key}",
                    **arguments_of_value(arguments_in(method, params)),
                    kind=kind.kind,
                    purpose=kind.purpose,
                    executed_by=kind.executed_by,
                    server=self._server(),
                    ordinal=self._next(),
                    observed_at=ObservedAt.MCP_REQUEST,
                    extra={"for_call": waiting["id"]},
                )
            )

    # tasks, cancellation

    def _task(self, waiting: dict[str, Any], result: Any, error: Any) -> Iterator[Event]:
        call = self.book().get("tasks", {}).get(waiting.get("task"))
        if not isinstance(call, dict):
            return
        status = text(result.get("status")) or None if isinstance(result, dict) else None
        inner = result.get("result", result.get("error")) if isinstance(result, dict) and status else None
        if waiting["method"] == "tasks/result" or inner is not None or status in TASK_ENDS:
            yield from self._task_over(call, waiting, status, result if inner is None else inner, error)
        elif status is not None:
            yield self._sight(call, {"task": waiting["task"], "task_status": status})

    def _task_over(
        self, call: dict[str, Any], waiting: dict[str, Any], status: Any, result: Any, error: Any
    ) -> Iterator[Event]:
        """``completed`` alone says the result can be fetched; failure and cancellation are final as they stand."""
        if status == "completed" and isinstance(result, dict) and result.get("status") == "completed":
            yield self._sight(call, {"task": waiting["task"], "task_status": status})
            return
        del self.book()["tasks"][waiting["task"]]
        final = self._final(call, result, error, Side.RESPONSE)
        assert isinstance(final, ResultSeen)
        if status in TASK_ENDS and TASK_ENDS[status] is not None:
            yield self._ended(call, status)
        else:
            yield final

    def _ended(self, call: dict[str, Any], status: str) -> Event:
        return ResultSeen(
            ToolResult(
                id=call["id"],
                name=call.get("name"),
                outcome=TASK_ENDS[status] or Outcome.UNKNOWN,
                source="reply",
                reported_by="tool_server",
                end_reason=f"task {status}",
            )
        )

    def cancelled(self, params: dict[str, Any], side: Side) -> Iterator[Event]:
        """The asker gives up; the other side may still answer, so this is a sight and not the result."""
        waiting = self._pending().get(key_of(side, params.get("requestId")))
        if waiting is not None and waiting["method"] in KINDS:
            reason = params.get("reason")
            yield ResultSeen(
                ToolResult(
                    id=waiting["id"],
                    name=waiting.get("name"),
                    outcome=Outcome.CANCELLED,
                    final=False,
                    source="request",
                    asserted_by=side.value,
                    reported_by="harness" if side is Side.REQUEST else "tool_server",
                    end_reason=reason[:200] if isinstance(reason, str) else None,
                )
            )

    def task_status(self, params: dict[str, Any], side: Side) -> Iterator[Event]:  # noqa: ARG002 - a notice's signature
        call = self.book().get("tasks", {}).get(text(params.get("taskId")))
        if isinstance(call, dict):
            yield self._sight(call, {"task": params["taskId"], "task_status": params.get("status")})


_NOTICES: dict[str, Callable[[McpTalk, dict[str, Any], Side], Iterator[Event]]] = {
    "notifications/cancelled": McpTalk.cancelled,
    "notifications/tasks/status": McpTalk.task_status,
}


def _question_key(name: Any, arguments: Any, keyed: dict[str, Any]) -> str:
    """How a retry without a state is known again: same tool, same arguments, answers to exactly what was asked."""
    return f"input:{hashed([name, arguments, sorted(keyed)])}"
