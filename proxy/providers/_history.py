"""Re-sent history: one chained hash per message, and where the part begins that no earlier request had shown.

A request repeats everything that came before. Hashes ignore cache marks (clients move them every turn). Which
prefixes were seen is remembered per session and first question, and forgotten when the same question starts anew,
so that two equal sessions in a row both report their results.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from proxy.exchange import Exchange
from proxy.providers._memory import slot
from proxy.wire.json_text import dump

SEEN_CAP = 256
_MARK = b'"cache_control"'


def chain(messages: list[Any]) -> tuple[str, ...]:
    """Per message the hash of it and all before it, hex, oldest first."""
    hashes = []
    last = b""
    for message in messages:
        body = dump(message)
        if _MARK in body:
            body = dump(_unmarked(message))
        last = blake2b(body, digest_size=16, key=last).digest()
        hashes.append(last.hex())
    return tuple(hashes)


def unseen(
    exchange: Exchange, session: str, hashes: tuple[str, ...], messages: list[Any], answer: Callable[[Any], bool]
) -> int:
    """Index of the first message that no earlier request of this conversation carried.

    ``answer`` says whether a message is the model's; what stands before the first such message is the question.
    """
    if not hashes:
        return 0
    first = next((i for i, m in enumerate(messages) if answer(m)), len(messages))
    root = hashes[first - 1] if first else ""
    kept = slot(exchange, "history", f"{session}\n{root}")
    if first == len(messages):
        kept.clear()
    start = next((i + 1 for i in range(len(hashes) - 1, -1, -1) if hashes[i] in kept), 0)
    kept.pop(hashes[-1], None)
    kept[hashes[-1]] = 1
    if len(kept) > SEEN_CAP:
        del kept[next(iter(kept))]
    return start


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [_unmarked(v) for v in value] if isinstance(value, list) else value
