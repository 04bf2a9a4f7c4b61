"""Bedrock InvokeModel: a model's own body behind one path. The body's shape picks the reader inside.

Anthropic, Nova (Converse shapes) and chat-completion models are read; others carry no tool calls we know of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from proxy.events import Event, Facts
from proxy.exchange import Ending, Exchange
from proxy.providers import Assembly
from proxy.providers._calls import fields, short
from proxy.providers._converse import EVENTS, ConverseAssembly
from proxy.providers.anthropic_messages import AnthropicAssembly
from proxy.providers.openai_chat import ChatAssembly
from proxy.wire import Frame


class InvokeAssembly:
    def __init__(self, api: str) -> None:
        self._api = api
        self._exchange: Exchange | None = None
        self._inside: Assembly | None = None

    def request(self, exchange: Exchange) -> Iterable[Event]:
        self._exchange = exchange
        body = fields(exchange.request_json)
        if "anthropic_version" in body:
            self._inside = AnthropicAssembly(self._api)
        elif "inferenceConfig" in body or "toolConfig" in body or "schemaVersion" in body:
            self._inside = ConverseAssembly(self._api)
        elif "messages" in body:
            self._inside = ChatAssembly(self._api)
        return () if self._inside is None else self._inside.request(exchange)

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.event.startswith("exception:"):
            yield Facts({"error": f"{frame.event.removeprefix('exception:')}: {short(frame.data) or ''}"[:200]})
            return
        if self._inside is None:
            self._inside = _by_answer(fields(frame.data), self._api)
        yield from self._inside.frame(frame)

    def close(self, ending: Ending) -> Iterable[Event]:
        return () if self._inside is None else self._inside.close(ending)


def _by_answer(data: dict[str, Any], api: str) -> Assembly:
    if "output" in data or EVENTS & data.keys():
        return ConverseAssembly(api)
    return ChatAssembly(api) if "choices" in data else AnthropicAssembly(api)
