"""What several providers read the same way: argument text, reported content, definitions, times.

JSON values in, plain pieces of ToolCall and ToolResult out. Nothing here raises on what the other side sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from classifiers.call import Definition
from proxy.providers._calls import arguments, definition
from proxy.wire.json_text import dump


def arguments_of_text(text: str) -> dict[str, Any]:
    """The ToolCall fields of an argument *string*. Text that is missing or does not parse is kept with the reason."""
    if text:
        return arguments(text)
    return {"arguments_text": "", "arguments_valid": False, "arguments_error": "no argument text"}


def arguments_of_value(value: Any) -> dict[str, Any]:
    """The ToolCall fields of arguments sent as a JSON value; absent (None) is not reported, hence valid: None."""
    if value is None:
        return {"arguments": None, "arguments_text": "", "arguments_valid": None}
    return {"arguments": value, "arguments_text": json_text(value), "arguments_valid": True}


def json_text(value: Any) -> str:
    """Compact JSON text; lone surrogates are escaped there, so the text always encodes."""
    return dump(value).decode()


def content_facts(content: Any) -> dict[str, Any]:
    """The ToolResult fields that describe a reported content without keeping it: size, digest, parts, lossy."""
    body = dump(content)
    parts = tuple(_part(item) for item in content) if isinstance(content, list) else ()
    return {
        "size_bytes": len(body),
        "digest": hashlib.sha256(body).hexdigest(),
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


def advertised(tool: Mapping[str, Any], schema_key: str) -> Definition | None:
    """How a tool was advertised; None when the entry has no usable name."""
    name, notes = tool.get("name"), tool.get("annotations")
    if not isinstance(name, str):
        return None
    return definition(name, tool.get("description"), tool.get(schema_key), notes if isinstance(notes, dict) else None)


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
