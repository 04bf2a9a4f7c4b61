"""Results of tools that Anthropic's side ran, as blocks of the answer itself: one block in, one result out."""

from __future__ import annotations

from typing import Any

from proxy.events import ResultSeen
from proxy.providers._calls import by_flag, fields, result, text


def server_result(block: dict[str, Any], kind: str) -> ResultSeen:
    """A server tool's result: its content's own type says whether it is an error."""
    content = block.get("content")
    inner = fields(content)
    if kind == "mcp_tool_result":
        outcome = by_flag(block.get("is_error"))
    elif "return_code" in inner:
        outcome = by_flag(inner["return_code"] != 0)
    else:
        outcome = by_flag(text(inner.get("type")).endswith("_error") or "error_code" in inner)
    return ResultSeen(
        result(
            block.get("tool_use_id"),
            content,
            outcome,
            reported_by="provider",
            error=text(inner.get("error_code")) or None,
        )
    )
