"""Bedrock InvokeModel: the model's own JSON body, whole."""

from __future__ import annotations

import re

from proxy.exchange import Exchange
from proxy.providers._calls import fields, text
from proxy.providers._invoke import InvokeAssembly
from proxy.wire import Frame

NAME = "bedrock-invoke"
_PATH = re.compile(r"/model/[^/]+/invoke$")


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if first is not None and not first.whole:
            return 0
        version = text(fields(exchange.request_json).get("anthropic_version"))
        return 95 * bool(_PATH.search(exchange.request.path)) or 90 * version.startswith("bedrock")

    def open(self, exchange: Exchange) -> InvokeAssembly:  # noqa: ARG002 - the provider signature
        return InvokeAssembly(NAME)


PROVIDER = _Provider()
