"""ACP's words: which messages are its own, how a shown call stands, what its states mean. Values in, values out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from classifiers.call import Outcome, Status
from proxy.providers._calls import fields, hashed, text

STATUS = {
    "pending": Status.PENDING,
    "in_progress": Status.EXECUTING,
    "completed": Status.COMPLETED,
    "failed": Status.FAILED,
}
ENDS = {"completed": Outcome.OK, "failed": Outcome.ERROR}
ASKED_OF_CLIENT = frozenset({"fs/read_text_file", "fs/write_text_file", "terminal/create"})
UPDATES = frozenset({"tool_call", "tool_call_update"})


@dataclass(slots=True)
class Shown:
    """A tool call as the updates so far tell it; ``told``: digest of what was yielded, "" when nothing was."""

    session: str
    ordinal: int
    known: dict[str, Any] = field(default_factory=dict)
    told: str = ""
    ended: bool = False


def digest_of(shown: Shown) -> str:
    return hashed([shown.known.get(key) for key in ("title", "kind", "rawInput")])


def is_acp(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    method = text(value.get("method"))
    if method == "initialize":  # MCP's versions are dates, ACP's whole numbers
        return isinstance(fields(value.get("params")).get("protocolVersion"), int)
    return method.startswith(("session/", "fs/", "terminal/"))
