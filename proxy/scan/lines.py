"""JSON lines of a history file, without ever loading the file whole.

In: a path, and marks a line must carry to be worth parsing. Out: (value, bytes), value None for a line that is no JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from classifiers.call import ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult

MAX_LINE_BYTES = 64 << 20


def json_lines(path: Path, marks: tuple[bytes, ...]) -> Iterator[tuple[Any, int]]:
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            if not any(m in line for m in marks):
                continue
            try:
                yield orjson.loads(line), len(line)
            except orjson.JSONDecodeError:
                yield None, len(line)


def seconds(text: Any, otherwise: float) -> float:
    """An RFC 3339 time as wall-clock seconds."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return otherwise


def imported_call(name: str, arguments: Any, call_id: Any, at: float, **more: Any) -> ToolCall:
    """A call as a history tells it: the harness's word, complete, run by the client."""
    is_text = isinstance(arguments, str)
    value = _parsed(arguments) if is_text else arguments
    return ToolCall(
        name=name,
        arguments=value,
        arguments_text=arguments if is_text else orjson.dumps(arguments).decode(),
        arguments_valid=value is not None,
        id=call_id,
        kind="history",
        executed_by=ExecutedBy.CLIENT,
        observed_at=ObservedAt.IMPORT,
        asserted_by="request",
        extra={"at": at},
        **more,
    )


def imported_result(call_id: Any, content: Any, outcome: Outcome, **more: Any) -> ToolResult:
    raw = orjson.dumps(content)
    return ToolResult(
        id=call_id,
        outcome=outcome,
        source="request",
        asserted_by="request",
        reported_by="harness",
        size_bytes=len(raw),
        digest=sha256(raw).hexdigest(),
        **more,
    )


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
