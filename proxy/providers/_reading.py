"""What several providers read the same way: argument text, reported content, definitions, times.

JSON values in, plain pieces of ToolCall and ToolResult out. Nothing here raises on what the other side sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from classifiers.call import Definition
from proxy.wire.json_text import dump, parse


def arguments_of_text(text: str) -> dict[str, Any]:
    """The ToolCall fields of an argument *string*. Text that does not parse is kept, with the reason."""
    value, error = parse(text) if text else (None, "no argument text")
    valid = error is None
    return {"arguments": value, "arguments_text": text, "arguments_valid": valid, "arguments_error": error}


def arguments_of_value(value: Any) -> dict[str, Any]:
    """The ToolCall fields of arguments sent as a JSON value; absent (None) is not reported, hence valid: None."""
    if value is None:
        return {"arguments": None, "arguments_text": "", "arguments_valid": None}
    return {"arguments": value, "arguments_text": json_text(value), "arguments_valid": True}


def json_text(value: Any) -> str:
    """Compact JSON text; lone surrogates are escaped there, so the text always encodes."""
    return dump(value).decode()


def digest_of(value: Any) -> str:
    """SHA-256 hex of the value's JSON text."""
    return hashlib.sha256(dump(value)).hexdigest()


def content_facts(content: Any) -> dict[str, Any]:
    """The ToolResult fields that describe a reported content without keeping it: size, digest, parts, lossy."""
    size = len(content.encode("utf-8", "surrogatepass")) if isinstance(content, str) else len(dump(content))
    parts = tuple(_part(item) for item in content) if isinstance(content, list) else ()
    return {
        "size_bytes": size,
        "digest": digest_of(content),
        "parts": parts,
        "lossy": any(part["source"] == "unknown" for part in parts),
    }


def _part(item: Any) -> dict[str, Any]:
    """One content part: text, or media inline (``data``), by reference (``url``, ``file``, ``id``)."""
    part = item if isinstance(item, dict) else {"type": "text", "text": item}
    kind = str(part.get("type", "unknown"))
    source = part.get("source") if isinstance(part.get("source"), dict) else part
    assert isinstance(source, dict)
    where, value = next(((name, source[key]) for key, name in _WHERE if source.get(key) is not None), ("unknown", None))
    if where == "value":
        where = str(source.get("type", "unknown"))
    text = value if isinstance(value, str) else json_text(value)
    return {
        "type": kind,
        "source": where,
        "mime": source.get("mimeType") or source.get("mime_type") or ("text/plain" if kind == "text" else None),
        "bytes": len(text.encode("utf-8", "surrogatepass")) if value is not None else 0,
        "digest": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if value is not None else None,
    }


# Where a part keeps its payload, most telling first. ``value`` stands beside a ``type`` that names the source.
_WHERE = (
    ("text", "inline"),
    ("value", "value"),
    ("data", "data"),
    ("blob", "data"),
    ("url", "url"),
    ("uri", "url"),
    ("resource", "inline"),
    ("id", "id"),
)


def definition(tool: Mapping[str, Any], schema_key: str) -> Definition | None:
    """How a tool was advertised; None when the entry has no usable name."""
    name = tool.get("name")
    if not isinstance(name, str):
        return None
    schema, text, notes = tool.get(schema_key), tool.get("description"), tool.get("annotations")
    return Definition(
        name=name,
        description=text if isinstance(text, str) else None,
        schema=schema if isinstance(schema, dict) else None,
        annotations=notes if isinstance(notes, dict) else None,
        schema_hash=digest_of(schema) if isinstance(schema, dict) else None,
        description_hash=digest_of(text) if isinstance(text, str) else None,
    )


def is_late(decided_ns: int, deadline: str | None) -> bool:
    """Whether a decision at ``decided_ns`` (wall clock, 0: unknown) came after an RFC 3339 ``deadline``."""
    if not deadline or not decided_ns:
        return False
    try:
        limit = datetime.fromisoformat(deadline)
    except ValueError:
        return False
    return limit.tzinfo is not None and decided_ns / 1e9 > limit.timestamp()


def trimmed(book: dict[str, Any], cap: int = 4096) -> dict[str, Any]:
    """``book`` with its oldest entries dropped beyond ``cap``."""
    while len(book) > cap:
        del book[next(iter(book))]
    return book
