"""Gemini generateContent: SSE chunks, one JSON array streamed in pieces, or a whole body; Vertex and Code Assist too.

A ``functionCall`` part is a complete call unless it says ``willContinue``. Most have no id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from proxy.events import Event, Facts
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import fields, known, patterns, rows, short, text
from proxy.providers._gemini_parts import Parts, history, offered
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "gemini"
CANDIDATES_CAP = 64
_MODEL = re.compile(r"/models/([^/:]+)")


MARKERS = patterns(
    rb"functionCall", rb"executableCode", rb"codeExecution", rb"tool", rb"finishReason", rb"error", rb"\\u"
)
UNNAMED = (*MARKERS, *patterns(rb"responseId", rb"modelVersion", rb"usageMetadata"))


class GeminiAssembly:
    def __init__(self) -> None:
        self._candidates: dict[int, Parts] = {}
        self._facts: dict[str, Any] = {}

    @property
    def markers(self) -> tuple[re.Pattern[bytes], ...]:
        """Who answers and at what cost is learnt once; the last frame says the final counts."""
        return MARKERS if "response_id" in self._facts else UNNAMED

    def request(self, exchange: Exchange) -> Iterator[Event]:
        outer = fields(exchange.request_json)
        body = request_of(outer)
        path = _MODEL.search(exchange.request.path)
        session = text(body.get("session_id")) or text(outer.get("session_id"))
        model = text(outer.get("model")) or (path.group(1) if path else "")
        yield Facts(known(protocol=NAME, model=model, session_ids=known(session_id=session)))
        yield offered(body)
        contents = body.get("contents")
        if isinstance(contents, list) and not exchange.request.path.endswith(":countTokens"):
            yield from history(contents)

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.error is not None or not isinstance(frame.data, dict):
            return
        data = answer_of(frame.data)
        yield from self._learn(data)
        for at, candidate in enumerate(rows(data.get("candidates"))[:CANDIDATES_CAP]):
            index = candidate.get("index")
            number = index if isinstance(index, int) else at
            parts = self._candidates.setdefault(number, Parts(number))
            for part in rows(fields(candidate.get("content")).get("parts")):
                yield from parts.part(part)
            reason = text(candidate.get("finishReason") or candidate.get("finish_reason"))
            if reason:
                failed = {"error": short(candidate.get("finishMessage") or reason)} if "MALFORMED" in reason else {}
                yield Facts({"finish_reason": reason, **failed})
                yield from parts.close(complete=reason == "STOP")

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - a call still open was cut off either way
        for parts in self._candidates.values():
            yield from parts.close(complete=False)

    def _learn(self, data: dict[str, Any]) -> Iterator[Event]:
        said = {"response_id": data.get("responseId"), "model": data.get("modelVersion")}
        counts = usage(data.get("usageMetadata"))
        facts: dict[str, Any] = {k: v for k, v in said.items() if text(v)} | ({"usage": counts} if counts else {})
        facts |= {"error": short(data["error"])} if data.get("error") else {}
        fresh = {k: v for k, v in facts.items() if self._facts.get(k) != v}
        if fresh:
            self._facts |= fresh
            yield Facts(fresh)


def request_of(body: dict[str, Any]) -> dict[str, Any]:
    """Code Assist wraps the request: {model, project, request: {contents, …}}."""
    inner = body.get("request")
    return inner if isinstance(inner, dict) and "contents" in inner else body


def answer_of(data: dict[str, Any]) -> dict[str, Any]:
    inner = data.get("response")
    return inner if isinstance(inner, dict) and "candidates" in inner else data


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    markers = MARKERS

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        rank = 0
        if first is not None and isinstance(first.data, dict):
            answer = answer_of(first.data)
            rank += 50 * (isinstance(answer.get("candidates"), list) or "promptFeedback" in answer)
        if isinstance(request_of(fields(exchange.request_json)).get("contents"), list):
            rank += 20
        return rank

    def open(self, exchange: Exchange) -> GeminiAssembly:  # noqa: ARG002 - the provider signature
        return GeminiAssembly()


PROVIDER = _Provider()
