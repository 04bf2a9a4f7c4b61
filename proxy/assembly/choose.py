"""Which provider reads an exchange: the one that claims it with the highest rank.

Ranks: 0 no, 1 to 9 a generic fallback's guess, 10 to 99 by shape, 100 and above certain from the request alone
(the call itself is in the request, so nothing may wait for the reply).
"""

from __future__ import annotations

from functools import cache

from classifiers.discover import discover
from proxy.exchange import Exchange
from proxy.providers import Provider
from proxy.wire import Frame

SHAPE = 10
SURE = 50  # the reply's shape is known: nobody needs to walk bodies for another
CERTAIN = 100


def providers() -> tuple[Provider, ...]:
    return discover("proxy.providers", "PROVIDER")


def claims(exchange: Exchange, first: Frame | None) -> list[tuple[int, Provider]]:
    """All that claim the exchange, best first. A declared api leaves only the provider of that name."""
    if exchange.declared_api is not None:
        return [(CERTAIN, p) for p in providers() if p.name == exchange.declared_api]
    quick, slow = _by_speed()
    ranked = [(_rank(p, exchange, first), p) for p in quick]
    if max((rank for rank, _ in ranked), default=0) < SURE:
        ranked += [(_rank(p, exchange, first), p) for p in slow]
    return sorted((pair for pair in ranked if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].name))


@cache
def _by_speed() -> tuple[tuple[Provider, ...], tuple[Provider, ...]]:
    """Those that look at a few keys, and those marked ``slow``, which walk whole bodies for a shape."""
    slow = tuple(p for p in providers() if getattr(p, "slow", False))
    return tuple(p for p in providers() if p not in slow), slow


def _rank(provider: Provider, exchange: Exchange, first: Frame | None) -> int:
    try:
        return provider.claims(exchange, first)
    except Exception:  # a claim that trips over hostile input is no claim
        return 0
