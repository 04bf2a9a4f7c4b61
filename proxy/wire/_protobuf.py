"""Protobuf's wire format, read only: bytes in, the fields of one message out (protobuf.dev, "Encoding")."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from proxy.wire._ag_ui_schema import DEFAULTS, MESSAGES, ONE_OF, Field

MAX_DEPTH = 100


class NotProtobufError(ValueError):
    """The bytes are not a message of this schema; the text says where."""


def fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Each field of one message, in wire order. Groups (wire types 3 and 4) are refused: nothing here uses them."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise NotProtobufError(f"field number 0 at byte {at}")
        value: int | bytes
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if kind == 2 else (_FIXED.get(kind, -1), at)
            if size < 0 or at + size > end:
                raise NotProtobufError(f"field {number} (wire type {kind}) runs past byte {end}")
            value, at = data[at : at + size], at + size
        yield number, kind, value


_FIXED = {1: 8, 5: 4}


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A base-128 number at ``at`` (at most 10 bytes) and the offset after it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise NotProtobufError(f"unfinished varint at byte {at}")


def message(data: bytes, table: dict[int, Field], name: str = "", depth: int = 0) -> dict[str, object]:
    """One message as the JSON object it stands for; unknown fields are skipped, a repeated scalar's last value wins."""
    if depth > MAX_DEPTH:
        raise NotProtobufError(f"nested deeper than {MAX_DEPTH}")
    found: dict[str, object] = dict(DEFAULTS.get(name, {}))
    for number, kind, raw in fields(data):
        field = table.get(number)
        if field is None:
            continue
        value = _scalar(field[1], kind, raw, depth)
        if len(field) == 3:
            many = found.setdefault(field[0], [])
            assert isinstance(many, list)
            many.append(value)
        else:
            found[field[0]] = value
    return _one_of(found) if name in ONE_OF else found


def _one_of(found: dict[str, object]) -> dict[str, object]:
    """``{"image": {"source": …}}`` becomes ``{"type": "image", "source": …}``."""
    kind, inner = next(reversed(found.items()), ("", {}))
    return {"type": kind, **inner} if isinstance(inner, dict) else {"type": kind}


def _scalar(kind: str, wire: int, raw: int | bytes, depth: int) -> object:
    if kind in _VARINT and isinstance(raw, int):
        return _VARINT[kind](raw)
    if wire != 2 or not isinstance(raw, bytes) or kind in _VARINT:
        raise NotProtobufError(f"wire type {wire} where {kind} was expected")
    if kind == "str":
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise NotProtobufError(f"text is not UTF-8: {error.reason} at byte {error.start}") from None
    if kind == "value":
        return _value(raw, depth + 1)
    if kind == "struct":
        return _struct(raw, depth + 1)
    return message(raw, MESSAGES[kind], kind, depth + 1)


def _signed(number: int) -> int:
    number &= 0xFFFF_FFFF_FFFF_FFFF
    return number - (1 << 64) if number >> 63 else number


_VARINT: dict[str, Callable[[int], object]] = {"int": _signed, "bool": bool}


def _value(data: bytes, depth: int) -> object:
    """google.protobuf.Value: the last member set wins; a number without a fraction comes back as an int, as in JSON."""
    if depth > MAX_DEPTH:
        raise NotProtobufError(f"nested deeper than {MAX_DEPTH}")
    value: object = None
    for number, wire, raw in fields(data):
        if number == 1:
            value = None
        elif number == 2 and wire == 1 and isinstance(raw, bytes):
            double = struct.unpack("<d", raw)[0]
            value = int(double) if abs(double) < 2**53 and double == int(double) else double
        elif number == 4 and isinstance(raw, int):
            value = bool(raw)
        elif number == 3:
            value = _scalar("str", wire, raw, depth)
        elif number == 5 and isinstance(raw, bytes):
            value = _struct(raw, depth + 1)
        elif number == 6 and isinstance(raw, bytes):
            value = [_value(item, depth + 1) for n, _, item in fields(raw) if n == 1 and isinstance(item, bytes)]
    return value


_ENTRY: dict[int, Field] = {1: ("key", "str"), 2: ("value", "value")}


def _struct(data: bytes, depth: int) -> dict[str, object]:
    """google.protobuf.Struct: a map whose entries are messages of key and value."""
    entries = (message(raw, _ENTRY, "", depth + 1) for n, _, raw in fields(data) if n == 1 and isinstance(raw, bytes))
    return {str(entry.get("key", "")): entry.get("value") for entry in entries}
