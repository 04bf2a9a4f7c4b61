"""AG-UI over server-sent events: recognised by RunAgentInput's shape or by the first event's type."""

from __future__ import annotations

from proxy.exchange import Exchange
from proxy.providers import Assembly
from proxy.providers._ag_ui_input import is_run_input
from proxy.providers._ag_ui_run import EVENT_TYPES, AgUiRun
from proxy.providers._calls import text
from proxy.wire import Frame


class _AgUiSse:
    name = "ag-ui-sse"
    dialect_of: str | None = None

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if first is not None and isinstance(first.data, dict) and text(first.data.get("type")) in EVENT_TYPES:
            return 85
        if is_run_input(exchange.request_json):
            return 80
        return 20 if exchange.request.path.rstrip("/").lower().endswith(("/agui", "/ag-ui", "/ag_ui")) else 0

    def open(self, exchange: Exchange) -> Assembly:
        return AgUiRun(exchange)


PROVIDER = _AgUiSse()
