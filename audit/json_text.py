"""A record as one line of JSON bytes, whatever a wire put into it.

In: JSON-like values. Out: bytes. What JSON bytes cannot hold (lone surrogates, integers over 64 bits, nesting over the
encoder's limit) is replaced, visibly, instead of losing the record.
"""

from __future__ import annotations

from typing import Any

import orjson

MAX_DEPTH = 120
_OPTIONS = orjson.OPT_NON_STR_KEYS


def encode(value: Any, option: int = 0) -> bytes:
    try:
        return orjson.dumps(value, default=str, option=_OPTIONS | option)
    except (TypeError, ValueError, RecursionError):
        return orjson.dumps(_representable(value, 0), default=str, option=_OPTIONS | option)


def _representable(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return "(nested too deep)"
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return str(value) if value.bit_length() < 4000 else f"(integer of {value.bit_length()} bits)"
    if isinstance(value, dict):
        return {_representable(k, depth): _representable(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_representable(v, depth + 1) for v in value]
    return value
