"""JSON text to values: integers of any size kept, nesting capped, wrong text reported as a value and never raised.

orjson reads what it reads right; runs of 19 digits and lone surrogates go to the standard library, because orjson
turns integers beyond 64 bits into floats and refuses lone surrogates (which real clients accept).
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson

DEPTH_CAP = 200
NOT_UTF_8 = "not UTF-8"
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_RUN = b"0" * 19
_LONG = 64 << 10


def parse(text: bytes | str) -> tuple[Any, str | None]:
    """The value and None, or None and one short reason."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        value = orjson.loads(raw) if _LONG_RUN not in raw.translate(_DIGITS_TO_ZERO) else _slow(raw)
    except orjson.JSONDecodeError:
        try:
            value = _slow(raw)
        except (ValueError, RecursionError) as error:
            return None, _reason(error)
    except (ValueError, RecursionError) as error:
        return None, _reason(error)
    if _may_nest(raw) and deeper_than(value, DEPTH_CAP):
        return None, f"nested deeper than {DEPTH_CAP}"
    return value, None


def _may_nest(raw: bytes) -> bool:
    """Whether the text could nest beyond the cap; in long texts counting brackets costs more than looking."""
    return len(raw) > DEPTH_CAP and (len(raw) >= _LONG or raw.count(b"[") + raw.count(b"{") >= DEPTH_CAP)


def deeper_than(value: Any, cap: int) -> bool:
    """Whether containers nest more than ``cap`` deep; level by level, so nothing recurses."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(cap):
        if not level:
            return False
        level = [
            child
            for holder in level
            for child in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(child, (dict, list))
        ]
    return bool(level)


def duplicate_keys(text: str) -> tuple[str, ...]:
    """Keys that stand twice in one object of ``text`` (valid JSON): readers disagree on which one counts."""
    found: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> None:
        keys = [k for k, _ in items]
        if len(set(keys)) != len(keys):
            found.extend(sorted({k for k in keys if keys.count(k) > 1}))

    json.loads(text, object_pairs_hook=pairs)
    return tuple(dict.fromkeys(found))


def dump(value: Any, *, in_order: bool = False) -> bytes:
    """Compact JSON text of a parsed value, keys as they are or ``in_order``; big integers, lone surrogates survive."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if in_order else None)
    except TypeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=in_order).encode()


def _slow(raw: bytes) -> Any:
    return json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return f"nested deeper than {DEPTH_CAP}"
    if isinstance(error, UnicodeDecodeError):
        return NOT_UTF_8
    return str(error)[:120]
