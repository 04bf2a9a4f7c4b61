"""What providers remember across exchanges: small dictionaries in ``exchange.shared``, the oldest given up first."""

from __future__ import annotations

from typing import Any

from proxy.exchange import Exchange

LIMIT = 4096


def slot(exchange: Exchange, api: str, key: str, limit: int = LIMIT) -> dict[str, Any]:
    """The dictionary kept for ``key`` of ``api``, new and empty when there is none. JSON values only."""
    kept: dict[str, dict[str, Any]] = exchange.shared.setdefault(api, {})
    found = kept.pop(key, {})
    kept[key] = found  # last used, last out
    if len(kept) > limit:
        del kept[next(iter(kept))]
    return found
