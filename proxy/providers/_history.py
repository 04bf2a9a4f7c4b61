"""Re-sent history: one chained hash per message. Cache marks are ignored, clients move them every turn."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from proxy.wire.json_text import dump

_MARK = b'"cache_control"'


def chain(messages: list[Any]) -> tuple[str, ...]:
    """Per message the hash of it and all before it, hex, oldest first: equal prefixes have equal hashes."""
    hashes = []
    last = b""
    for message in messages:
        body = dump(message)
        if _MARK in body:
            body = dump(_unmarked(message))
        last = blake2b(body, digest_size=16, key=last).digest()
        hashes.append(last.hex())
    return tuple(hashes)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [_unmarked(v) for v in value] if isinstance(value, list) else value
