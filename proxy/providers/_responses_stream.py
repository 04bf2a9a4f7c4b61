"""State of one Responses conversation: SSE events, whole bodies, polled bodies and socket messages alike.

Deltas are keyed by ``item_id`` and only ever a preview: ``response.output_item.done`` carries the item as it is, and
``response.completed`` repeats all of them, so each item is told once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from proxy.events import Event, Facts, HistorySeen, ToolsOffered
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import fields, ident, known, rows, short, text
from proxy.providers._memory import shown_before
from proxy.providers._responses_items import call_event, is_call, is_result, output_result, own_result
from proxy.providers._responses_request import definitions, offered, request_events
from proxy.providers._usage import usage
from proxy.wire import Frame

ITEMS_CAP = 4096
_ENDS = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.done", "response.cancelled"}
)
# item type -> where its streamed text belongs
_GROWS = {"custom_tool_call": "input", "code_interpreter_call": "code"}


@dataclass(slots=True)
class _Open:
    item: dict[str, Any]
    ordinal: int
    parts: list[str] = field(default_factory=list)


class ResponsesAssembly:
    """One response after another on one exchange (or one stream of a socket)."""

    def __init__(self, api: str, stream_id: str | None = None) -> None:
        self._api = api
        self._stream = {"stream_id": stream_id} if stream_id else {}
        self._exchange: Exchange | None = None
        self._asked = False  # a request body said which tools there are
        self._batch = -1
        self._response_id: Any = None
        self._open: dict[Any, _Open] = {}
        self._told: set[Any] = set()
        self._searched: Any = None  # the provider's last tool search
        self._as_told: Counter[str] = Counter()  # what an item said: bridges give it another id when it is repeated

    def request(self, exchange: Exchange) -> Iterable[Event]:
        self._exchange = exchange
        body = fields(exchange.request_json)
        self._asked = "input" in body
        return request_events(exchange, body, self._api)

    def ask(self, exchange: Exchange, body: dict[str, Any]) -> Iterator[Event]:
        """A ``response.create`` on a socket."""
        self._exchange, self._asked = exchange, True
        yield from request_events(exchange, body, self._api)

    def frame(self, frame: Frame) -> Iterable[Event]:
        data = frame.data
        if frame.error is not None or not isinstance(data, dict):
            return ()
        if text(data.get("object")) == "response" or (frame.whole and isinstance(data.get("output"), list)):
            return self._whole(data)
        if data.get("object") == "list":  # items that were kept, read again: nothing of them happens now
            kept = [i for i in rows(data.get("data")) if is_call(text(i.get("type")))]
            return (HistorySeen(tuple(ident(i.get("call_id"), i.get("id")) for i in kept)),)
        if frame.whole and data.get("error"):
            return (Facts({"error": short(data["error"])}),)
        return self._event(text(data.get("type")) or frame.event, data)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - what is open is cut off, however it ended
        yield from self._cut_off()

    def _event(self, kind: str, data: dict[str, Any]) -> Iterator[Event]:
        if kind in ("response.created", "response.in_progress", "response.queued"):
            yield from self._begin(fields(data.get("response")))
        elif kind == "response.output_item.added":
            self._add(fields(data.get("item")), data)
        elif kind == "response.output_item.done":
            yield from self._done(fields(data.get("item")), ident(data.get("output_index")))
        elif kind in _ENDS:
            yield from self._finish(fields(data.get("response")), kind)
        elif kind.endswith(".delta") and _of_call(kind):
            self._append(data)
        elif kind.endswith(("_arguments.done", "_input.done", "_code.done")) and _of_call(kind):
            self._set(data)
        elif kind == "error":
            yield Facts({"error": short(data.get("error") or data) or "error"})

    def _whole(self, body: dict[str, Any]) -> Iterator[Event]:
        yield from self._begin(body)
        if text(body.get("status")) not in ("queued", "in_progress"):
            yield from self._finish(body, "response.completed")

    def _begin(self, body: dict[str, Any]) -> Iterator[Event]:
        if self._batch >= 0 and body.get("id") == self._response_id:
            return
        if self._batch >= 0:  # else items came without their response's beginning: a resumed stream
            yield from self._cut_off()
            self._told.clear()
            self._as_told.clear()
        self._batch += 1
        self._response_id = body.get("id")
        yield Facts(known(response_id=text(body.get("id")), model=text(body.get("model"))))
        if not self._asked and rows(body.get("tools")):
            yield offered(body)

    def _add(self, item: dict[str, Any], data: dict[str, Any]) -> None:
        if is_call(text(item.get("type"))) and len(self._open) < ITEMS_CAP:
            key = ident(item.get("id"), data.get("output_index"))
            self._open[key] = _Open(item, _index(data.get("output_index")))

    def _find(self, data: dict[str, Any]) -> _Open | None:
        return self._open.get(ident(data.get("item_id"))) or self._open.get(ident(data.get("output_index")))

    def _append(self, data: dict[str, Any]) -> None:
        found = self._find(data)
        if found is not None:
            found.parts.append(text(data.get("delta")))

    def _set(self, data: dict[str, Any]) -> None:
        found = self._find(data)
        said = next((data[k] for k in ("arguments", "input", "code") if isinstance(data.get(k), str)), None)
        if found is not None and said is not None:
            found.parts = [said]

    def _done(self, item: dict[str, Any], index: Any, *, cut: bool = False, again: bool = False) -> Iterator[Event]:
        """``again``: a repeat at the end of the response, where an item already told may have another id."""
        kind = text(item.get("type"))
        key = f"id {item['id']}" if text(item.get("id")) else f"at {index}"
        said = f"{kind} {item.get('call_id')} {item.get('name')} {item.get('arguments', item.get('input'))}"
        standing = self._open.pop(ident(item.get("id")), None) or self._open.pop(index, None)
        if key in self._told or (again and self._as_told[said] > 0 and kind == "function_call"):
            self._as_told[said] -= again  # a second ``done`` of an item uses up nothing
            return
        if not cut and self._polled_before(key):  # what was cut off may come whole when the stream is resumed
            return
        self._told.add(key)
        self._as_told[said] += 1
        if is_call(kind):
            complete = not cut and item.get("status") != "incomplete"
            ordinal = standing.ordinal if standing else _index(index)
            filled = _filled(item, standing)
            yield call_event(filled, complete=complete, batch=max(self._batch, 0), ordinal=ordinal, **self._stream)
            yield from own_result(item)
            if kind == "tool_search_call" and not text(item.get("call_id")):
                self._searched = item.get("id")
        elif is_result(kind):
            # the provider's own search and its outcome share no id: the outcome follows its call
            own = kind == "tool_search_output" and not text(item.get("call_id")) and self._searched is not None
            yield output_result({**item, "call_id": self._searched} if own else item, source="stream")
        if kind in ("tool_search_output", "mcp_list_tools", "additional_tools"):
            found = tuple(d for tool in rows(item.get("tools")) for d in definitions(tool, item.get("server_label")))
            yield ToolsOffered(found, present=False)

    def _finish(self, body: dict[str, Any], kind: str) -> Iterator[Event]:
        yield from self._begin(body) if text(body.get("id")) else ()
        for index, item in enumerate(rows(body.get("output"))):
            yield from self._done(item, index, again=True)
        yield from self._cut_off()
        reason = text(body.get("status")) or kind.removeprefix("response.")
        yield Facts(known(finish_reason=reason, usage=usage(body.get("usage")), error=short(body.get("error"))))

    def _cut_off(self) -> Iterator[Event]:
        for standing in list(self._open.values()):
            yield from self._done(_filled(standing.item, standing), standing.ordinal, cut=True)
        self._open.clear()

    def _polled_before(self, key: str) -> bool:
        """The same response fetched again shows the same items: only the first sight creates a call."""
        if self._exchange is None or self._stream:
            return False
        asked_for = self._exchange.request.path.partition("/responses/")[2].partition("/")[0]
        response = text(self._response_id) or asked_for
        if not response:
            return False
        return shown_before(self._exchange, "openai-responses", response, [key])


def _index(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _filled(item: dict[str, Any], standing: _Open | None) -> dict[str, Any]:
    """The item with streamed text where its own says nothing."""
    said = "".join(standing.parts) if standing else ""
    key = _GROWS.get(text(item.get("type")), "arguments")
    if not said or item.get(key) or text(item.get("type")) in ("shell_call", "apply_patch_call"):
        return item
    return {**item, key: said}


def _of_call(kind: str) -> bool:
    """Whether an event's name says that it is about a call's own text: other parts of an item may grow, too."""
    return "_call" in kind or "program" in kind
