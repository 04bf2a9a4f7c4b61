"""One request with its response, as the analyzer sees it: heads parsed, bodies still to come.

Built from spool entries by the analyzer, from a folder by ``assemble``, from a file by the importers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Side(StrEnum):
    REQUEST = "request"
    RESPONSE = "response"


class Ending(StrEnum):
    """How a body, or an exchange, ended."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"  # upstream broke, or the capture cap was reached
    CLIENT_GONE = "client_gone"
    UPSTREAM_FAILED = "upstream_failed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Head:
    """A parsed message head. Header names are lower case; values as latin-1 text, in wire order."""

    method: str = ""
    target: str = ""  # request target as sent upstream (origin form, prefix removed)
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()

    def get(self, name: str, default: str = "") -> str:
        """The first value of header ``name`` (lower case)."""
        return next((v for k, v in self.headers if k == name), default)

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(slots=True)
class Exchange:
    """What is known of one exchange. ``request_json`` is the parsed request body when it was JSON."""

    id: str
    request: Head = field(default_factory=Head)
    response: Head | None = None
    upstream: str = ""  # host:port
    route: str = ""
    objective_segment: str | None = None  # from /o/<id>/
    connection: str = ""
    peer: dict[str, Any] | None = None  # addr, uid, pid, exe
    started_ns: int = 0  # wall clock
    request_json: Any = None
    websocket: bool = False
    pipe: bool = False  # a child's standard streams: both bodies are lines of one conversation
    declared_api: str | None = None  # a case folder may say it; never set on live traffic
    text_patterns: tuple[
        str, ...
    ] = ()  # what counts as an action in the model's text (proxy/assembly/text_actions.yaml)
    shaping: tuple[str, ...] = ()  # tools that only shape this agent's answer (``agents:``), beside the usual
    fingerprints: dict[str, str] = field(default_factory=dict)  # header or query name -> keyed HMAC
    # What assemblies remember across exchanges (an upsert by id, a result on another connection), JSON values only.
    # The driver hands every exchange of one analyzer the same mapping; alone, an exchange has its own.
    shared: dict[str, Any] = field(default_factory=dict)
