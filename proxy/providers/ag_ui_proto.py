"""AG-UI's binary form: the same run as over server-sent events, its frames decoded by ``proxy/wire/ag_ui_proto``."""

from __future__ import annotations

from proxy.exchange import Exchange
from proxy.providers import Assembly
from proxy.providers._ag_ui_run import AgUiRun
from proxy.wire import Frame
from proxy.wire.ag_ui_proto import MEDIA_TYPE


class _AgUiProto:
    name = "ag-ui-proto"
    dialect_of: str | None = None

    def claims(self, exchange: Exchange, first: Frame | None) -> int:  # noqa: ARG002 - the media type decides
        sent = exchange.response.get("content-type") if exchange.response else ""
        return 95 if sent.partition(";")[0].strip().lower() == MEDIA_TYPE else 0

    def open(self, exchange: Exchange) -> Assembly:
        return AgUiRun(exchange, content_type=MEDIA_TYPE)


PROVIDER = _AgUiProto()
