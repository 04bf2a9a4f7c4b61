"""A tool use as a harness tells it, as the call and the result the rest of the line works with.

In: plain values of a hook's JSON. Out: ``ToolCall``, ``ToolResult``, both asserted and
reported by the hook; ``HookSeen`` around them.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson

from classifiers.call import ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import Event
from proxy.hooks import HookSeen


def call(name: str, arguments: Any, use: str | None, subagent: str | None = None) -> ToolCall:
    return ToolCall(
        name=name,
        arguments=arguments,
        arguments_text=orjson.dumps(arguments).decode(),
        arguments_valid=True,
        id=use,
        kind="function",
        executed_by=ExecutedBy.CLIENT,
        observed_at=ObservedAt.HOOK,
        asserted_by="hook",
        subagent_id=subagent,
    )


def result(name: str | None, content: Any, use: str | None, outcome: Outcome, error: Any = None) -> ToolResult:
    raw = orjson.dumps(content)
    return ToolResult(
        id=use,
        name=name,
        outcome=outcome,
        source="stream",
        asserted_by="hook",
        reported_by="hook",
        size_bytes=len(raw),
        digest=sha256(raw).hexdigest(),
        error=error[:200] if isinstance(error, str) else None,
    )


def seen(session: str | None, events: list[Event], cwd: Any, *, ended: bool = False) -> HookSeen:
    """What one hook told, with the folder the client works in when it says one."""
    folder = text(cwd)
    return HookSeen(session, events, {"cwd": folder, "cwd_source": "hook"} if folder else {}, ended)


def text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
