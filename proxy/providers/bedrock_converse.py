"""Bedrock Converse and ConverseStream: one provider, the frames say which."""

from __future__ import annotations

import re

from proxy.exchange import Exchange
from proxy.providers._calls import fields
from proxy.providers._converse import EVENTS, IN_BLOCKS, ConverseAssembly
from proxy.wire import Frame

NAME = "bedrock-converse"
_PATH = re.compile(r"/model/[^/]+/converse(-stream)?$")


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    markers = IN_BLOCKS

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if "/invoke" in exchange.request.path:
            return 0
        rank = 0
        if first is not None:
            said = fields(first.data)
            rank += 60 * (first.event in EVENTS or "message" in fields(said.get("output")))
            rank += 10 * first.event.startswith("exception:")
        body = fields(exchange.request_json)
        rank += 20 * ("toolConfig" in body or "inferenceConfig" in body)
        return rank + 15 * bool(_PATH.search(exchange.request.path))

    def open(self, exchange: Exchange) -> ConverseAssembly:  # noqa: ARG002 - the provider signature
        return ConverseAssembly(NAME)


PROVIDER = _Provider()
