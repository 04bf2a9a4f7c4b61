"""OpenAI Chat Completions and everybody who speaks it: deltas or whole messages to calls.

Azure, OpenRouter, DeepSeek, xAI, vLLM, Ollama's /v1, Gemini's and Anthropic's compatible endpoints differ in small
ways that are all handled here; ``groq-chat`` and ``mistral-chat`` are dialects for their names only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from classifiers.call import ExecutedBy, Outcome, ToolCall
from proxy.events import CallClosed, Event, Facts, HistorySeen, ResultSeen
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import fields, given, ident, patterns, result, rows, short, text
from proxy.providers._chat_request import request_events
from proxy.providers._chat_slots import LEGACY, Slots
from proxy.providers._memory import shown_before
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "openai-chat"
CHOICES_CAP = 128
_CUT = frozenset({"length", "max_tokens", "content_filter", "error"})


TEXT_ONLY = patterns(
    rb"_call", rb"executed_tools", rb'"error"', rb'"usage"\s*:\s*\{', rb'"finish_reason"\s*:\s*"', rb"\\u"
)
NAMES = patterns(rb'"id"', rb'"model"')
WITH_CALLS = (*TEXT_ONLY, *patterns(rb"\[DONE\]"))


class ChatAssembly:
    """State of one response body: calls per choice, executed tools already told."""

    def __init__(self, api: str = NAME) -> None:
        self._api = api
        self._choices: dict[int, Slots] = {}
        self._told: dict[tuple[int, int], str] = {}
        self._results: set[tuple[int, int]] = set()
        self._facts: dict[str, Any] = {}
        self._exchange: Exchange | None = None

    @property
    def markers(self) -> tuple[re.Pattern[bytes], ...]:
        """``[DONE]`` ends nothing while no call has begun; who answers is learnt once."""
        marks = WITH_CALLS if any(slots.begun for slots in self._choices.values()) else TEXT_ONLY
        return marks if "response_id" in self._facts else (*marks, *NAMES)

    def request(self, exchange: Exchange) -> Iterable[Event]:
        self._exchange = exchange
        return request_events(fields(exchange.request_json), self._api)

    def frame(self, frame: Frame) -> Iterable[Event]:
        return (event for event in self._read(frame) if not self._fetched_before(event))

    def _read(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if data == "[DONE]":
            yield from self._close_all(known_end=False)
        if frame.error is not None or not isinstance(data, dict):
            return
        if data.get("object") == "list":
            yield _kept(data)
            return
        yield from self._learn(data)
        for at, choice in enumerate(rows(data.get("choices"))[:CHOICES_CAP]):
            yield from self._choice(choice, at)

    def close(self, ending: Ending) -> Iterator[Event]:
        if ending is Ending.COMPLETE:
            yield from self._close_all(known_end=False)
        for slots in self._choices.values():
            yield from slots.cut_off()

    def _fetched_before(self, event: Event) -> bool:
        """A stored completion fetched again shows calls that were told when it was made."""
        made = text(self._facts.get("response_id"))
        if not made or self._exchange is None or not isinstance(event, CallClosed):
            return False
        return shown_before(self._exchange, NAME, made, [f"{event.call.batch}:{event.call.ordinal}"])

    def _learn(self, data: dict[str, Any]) -> Iterator[Event]:
        said = {"response_id": data.get("id"), "model": data.get("model")}
        facts: dict[str, Any] = {k: v for k, v in said.items() if isinstance(v, str) and v}
        counts = usage(data.get("usage") or fields(data.get("x_groq")).get("usage"))
        facts |= {"usage": counts} if counts else {}
        facts |= {"error": short(data["error"])} if data.get("error") else {}
        fresh = {k: v for k, v in facts.items() if self._facts.get(k) != v}
        if fresh:
            self._facts |= fresh
            yield Facts(fresh)

    def _choice(self, choice: dict[str, Any], at: int) -> Iterator[Event]:
        index = choice.get("index")
        number = index if isinstance(index, int) else at
        slots = self._choices.setdefault(number, Slots(number))
        said = fields(choice.get("delta")) or fields(choice.get("message"))  # both at once say the same thing twice
        made = said.get("tool_calls")
        for entry in rows([made] if isinstance(made, dict) else made):  # some hosts send the one call itself
            slots.add(entry)
        legacy = fields(said.get("function_call"))
        if text(legacy.get("name")) or text(legacy.get("arguments")):  # an empty one is on every message of some hosts
            slots.add({**legacy, "index": LEGACY}, LEGACY)
        for order, tool in enumerate(rows(said.get("executed_tools"))):
            yield from self._executed(tool, number, order)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            yield Facts({"finish_reason": reason})
            yield from slots.close(cut=reason in _CUT, known_end=True)

    def _executed(self, tool: dict[str, Any], choice: int, order: int) -> Iterator[Event]:
        """Groq runs these itself and shows them with their output, possibly again in a later chunk."""
        index = tool.get("index")
        key = (choice, index if isinstance(index, int) else order)
        said = tool.get("arguments")
        if key not in self._told and (said or tool.get("output")):
            self._told[key] = text(said)
            yield CallClosed(
                ToolCall(
                    name=text(tool.get("name")) or text(tool.get("type")),
                    kind="groq_executed_tool",
                    executed_by=ExecutedBy.PROVIDER,
                    batch=choice,
                    ordinal=key[1],
                    **({} if said is None else given(said)),
                )
            )
        if tool.get("output") is not None and key not in self._results:
            self._results.add(key)
            name = text(tool.get("name")) or text(tool.get("type"))
            yield ResultSeen(result(None, tool["output"], Outcome.UNKNOWN, name=name, reported_by="provider"))

    def _close_all(self, *, known_end: bool) -> Iterator[Event]:
        for slots in self._choices.values():
            yield from slots.close(cut=False, known_end=known_end)


def _kept(listed: dict[str, Any]) -> HistorySeen:
    """Stored completions, or the messages of one, read again: nothing of them happens now."""
    said = rows(listed.get("data"))
    messages = [*said, *(fields(c.get("message")) for one in said for c in rows(one.get("choices")))]
    return HistorySeen(tuple(ident(c.get("id")) for m in messages for c in rows(m.get("tool_calls"))))


class ChatProvider:
    """``host``: names this dialect by where it lives; ``mark``: a key only its bodies carry."""

    markers = WITH_CALLS
    reads_ahead = True

    def __init__(self, name: str, dialect_of: str | None = None, host: str = "", mark: str = "") -> None:
        self.name = name
        self.dialect_of = dialect_of
        self._host = host
        self._mark = mark

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        rank = claim(fields(exchange.request_json), exchange, first)
        if self.dialect_of is None or not rank:
            return rank
        ours = self._host in exchange.upstream or (
            first is not None and isinstance(first.data, dict) and bool(self._mark) and self._mark in first.data
        )
        return rank + 1 if ours else 0

    def open(self, exchange: Exchange) -> ChatAssembly:  # noqa: ARG002 - the provider signature
        return ChatAssembly(self.dialect_of or self.name)


def _stored(exchange: Exchange, data: dict[str, Any]) -> bool:
    """A list under ``/chat/completions``: stored completions, or the messages of one."""
    listed = data.get("object") == "list" and isinstance(data.get("data"), list)
    return listed and exchange.request.method == "GET" and "/chat/completions" in exchange.request.path


def claim(body: dict[str, Any], exchange: Exchange, first: Frame | None) -> int:
    """Rank by the response's shape, then the request's; the path breaks ties."""
    rank = 0
    if first is not None and isinstance(first.data, dict):
        data = first.data
        shaped = any("delta" in c or "message" in c for c in rows(data.get("choices")))
        named = text(data.get("object")).startswith("chat.completion") or _stored(exchange, data)
        rank += 50 * (shaped or named)
    path = exchange.request.path
    if isinstance(body.get("messages"), list):
        nested = any("function" in t for t in rows(body.get("tools"))) or "functions" in body
        rank += 15 * path.endswith("/chat/completions") + 5 * nested
    return rank


PROVIDER = ChatProvider(NAME)
