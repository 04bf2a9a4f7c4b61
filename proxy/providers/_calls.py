"""Shared by the providers: argument text to values, definitions with hashes, results with size and digest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from classifiers.call import Definition, Outcome, ToolResult
from proxy.wire.json_text import dump, duplicate_keys, parse

DUPLICATES_UP_TO = 256 << 10  # characters; larger arguments are parsed but not searched for double keys
PARTS_CAP = 256
TOLD_CAP = 512
TEXT_CAP = 200


def patterns(*marks: bytes) -> tuple[re.Pattern[bytes], ...]:
    """What a provider looks for before it parses: one pattern per mark, each searched on its own (that is faster)."""
    return tuple(map(re.compile, marks))


EVERYTHING = patterns(rb"")  # while whatever comes next decides about a call


def arguments(text: str) -> dict[str, Any]:
    """ToolCall fields for an argument string: parsed value or the reason why not, and keys that stand twice."""
    value, error = parse(text)
    if error is not None:
        return {"arguments_text": text, "arguments_valid": False, "arguments_error": error}
    double = duplicate_keys(text) if len(text) <= DUPLICATES_UP_TO and '"' in text else ()
    conflicts = tuple(f"arguments: key {k[:60]} stands twice" for k in double)
    return {"arguments": value, "arguments_text": text, "arguments_valid": True, "conflicts": conflicts}


def given(value: Any) -> dict[str, Any]:
    """ToolCall fields for arguments that came as a JSON value; a string is read as JSON text."""
    if isinstance(value, str):
        return arguments(value)
    return {"arguments": value, "arguments_text": dump(value).decode("utf-8"), "arguments_valid": True}


def raw(text: str) -> dict[str, Any]:
    """ToolCall fields for free text input (custom tools): there is nothing to be valid."""
    return {"arguments": text, "arguments_text": text, "arguments_valid": None}


def ident(*values: Any) -> str | int | None:
    """The first of ``values`` that can be an id or an index: text or a whole number; "" only when nothing else is."""
    for value in values:
        if (type(value) is str and value) or type(value) is int:
            return value
    return "" if "" in values else None


def by_flag(value: Any) -> Outcome:
    """What an ``is_error`` says; anything but true and false says nothing."""
    return Outcome.ERROR if value is True else Outcome.OK if value is False else Outcome.UNKNOWN


def text(value: Any) -> str:
    """A string as it is, everything else as ""."""
    return value if isinstance(value, str) else ""


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, or nothing."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def hashed(value: Any) -> str:
    """sha256 hex of a value's compact JSON text with sorted keys: the same value in another order has the same hash."""
    return sha256(dump(value, in_order=True)).hexdigest()


def definition(name: str, description: Any, schema: Any, annotations: dict[str, Any] | None = None) -> Definition:
    """A tool as advertised, with the hashes a later change is seen by."""
    said = description if isinstance(description, str) else None
    shape = schema if isinstance(schema, dict) else None
    return Definition(
        name=name,
        description=said,
        schema=shape,
        annotations=annotations or None,
        schema_hash=None if shape is None else hashed(shape),
        description_hash=None if said is None else sha256(said.encode("utf-8", "replace")).hexdigest(),
    )


def result(id_: Any, content: Any, outcome: Outcome = Outcome.UNKNOWN, **more: Any) -> ToolResult:
    """A result: content measured and digested, never kept. Unmarked and empty is ``answered_empty``."""
    body = b"" if content is None else dump(content)
    if outcome is Outcome.UNKNOWN and content in (None, "", []):
        outcome = Outcome.ANSWERED_EMPTY
    return ToolResult(
        id=ident(id_),
        outcome=outcome,
        size_bytes=len(body),
        digest=sha256(body).hexdigest(),
        parts=tuple(parts(content)),
        **more,
    )


class Told:
    """Calls of one answer that carry an id: the very same again is a repeat. Without ids two equal ones are two."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def again(self, id_: Any, name: Any, said: str) -> bool:
        if id_ in (None, ""):
            return False
        key = hashed([id_, name, said])
        if key in self._keys:
            return True
        if len(self._keys) < TOLD_CAP:
            self._keys.add(key)
        return False


def parts(content: Any) -> Iterable[dict[str, Any]]:
    """What a list of content parts holds: {type, source, mime, bytes, digest}."""
    for part in rows(content)[:PARTS_CAP]:
        body = dump(part)
        source = fields(part.get("source"))
        yield {
            "type": text(part.get("type")) or next(iter(part), ""),
            "source": text(source.get("type")) or None,
            "mime": text(source.get("media_type")) or text(part.get("mimeType")) or None,
            "bytes": len(body),
            "digest": sha256(body).hexdigest(),
        }


def known(**values: Any) -> dict[str, Any]:
    """The values that say something: no None, no empty text, no empty object."""
    return {k: v for k, v in values.items() if v not in (None, "", {})}


def short(value: Any) -> str | None:
    """An error as reported, short: its message, its code, or its JSON text."""
    if isinstance(value, dict):
        value = value.get("message") or value.get("code") or value.get("type") or dump(value).decode("utf-8")
    return None if value in (None, "") else str(value)[:TEXT_CAP]
