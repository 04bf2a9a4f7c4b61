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


def shown_before(exchange: Exchange, api: str, key: str, items: list[str], *, always: bool = False) -> bool:
    """Whether another exchange showed one of ``items`` of ``key``; marks them as shown by this one.

    Only a GET repeats what was told (``always``: any request does). The mark is the exchange's id, so that reading
    one exchange again after a restart gives the same events again.
    """
    seen = slot(exchange, api, key)
    repeats = always or exchange.request.method == "GET"
    before = repeats and any(seen.get(i, exchange.id) != exchange.id for i in items)
    for item in items:
        seen.setdefault(item, exchange.id)
    return before
