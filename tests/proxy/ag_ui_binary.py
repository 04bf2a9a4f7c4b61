"""AG-UI events in their JSON form as binary frames, for tests: the schema's own table, walked the other way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from proxy.wire._ag_ui_schema import ARMS, MESSAGES, ONE_OF, Field

_ARM_OF = {kind: number for number, (kind, _) in ARMS.items()}
_LATER = 45  # the arm of an event this schema does not know


def frames(events: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(len(said).to_bytes(4, "big") + said for said in map(_envelope, events))


def _envelope(event: dict[str, Any]) -> bytes:
    number = _ARM_OF.get(event["type"], _LATER)
    if number == _LATER:
        return _bytes(number, b"")
    return _bytes(number, _message(_flat(event), ARMS[number][1]))


def _flat(event: dict[str, Any]) -> dict[str, Any]:
    """An outcome's payload and a result's parts stand in fields of their own."""
    flat = dict(event)
    outcome = event.get("outcome")
    if isinstance(outcome, dict):
        flat |= {**outcome, "outcome": outcome.get("type")}
    if isinstance(event.get("content"), list):
        flat["contentParts"] = flat.pop("content")
    return flat


def _message(value: dict[str, Any], table: dict[int, Field]) -> bytes:
    out = b""
    for number, field in table.items():
        given = value.get(field[0])
        for one in given if len(field) == 3 and isinstance(given, list) else [] if given is None else [given]:
            out += _field(number, field[1], one)
    return out


def _field(number: int, kind: str, value: Any) -> bytes:
    if kind in ("int", "bool"):
        return _varint(number << 3) + _varint(int(value))
    if kind == "str":
        return _bytes(number, value.encode()) if isinstance(value, str) and value else b""
    if kind in ONE_OF:
        value = {value["type"]: {k: v for k, v in value.items() if k != "type"}}
    return _bytes(number, _message(value, MESSAGES[kind])) if kind in MESSAGES and isinstance(value, dict) else b""


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])
