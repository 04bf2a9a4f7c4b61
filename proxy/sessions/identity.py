"""Who sent a request, by what it says of itself: agent, version, sub-agent, and the session id it brings along.

In: a request head. Out: ``Identity``. The table is ``identity.yaml``; everything here is a claim of the client.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from classifiers.strict_yaml import load
from proxy.exchange import Head

_TABLE = Path(__file__).with_name("identity.yaml")
_ENDS = " /;,("


@dataclass(frozen=True, slots=True)
class Identity:
    """``session``: (source, value) or None. An agent the table does not know goes by its User-Agent's first product."""

    agent: str | None = None
    version: str | None = None
    agent_id: str | None = None
    parent_agent_id: str | None = None
    session: tuple[str, str] | None = None
    shell_keeps_cwd: bool = False
    library: bool = False  # the name is that of a client library, not of the program that uses it


def launched(identity: Identity, agent: str | None) -> Identity:
    """Inside ``run``: a client library speaks for the program that was started, when that is one we know."""
    return replace(identity, agent=agent, version=None) if identity.library and agent else identity


def identify(head: Head) -> Identity:
    headers: dict[str, str] = {}
    for name, value in head.headers:
        headers.setdefault(name, value)
    table = _table()
    for agent, entry in table["agents"].items():
        if all(headers.get(h, "").lower().startswith(v.lower()) for h, v in entry["when"].items()):
            return Identity(
                agent=agent,
                version=_version(headers, entry),
                agent_id=headers.get(entry.get("agent_id", "")),
                parent_agent_id=headers.get(entry.get("parent_agent_id", "")),
                session=_session(headers, [*entry.get("session", ()), *table["session"]]),
                shell_keeps_cwd=bool(entry.get("shell_keeps_cwd")),
                library=bool(entry.get("library")),
            )
    product, _, version = headers.get("user-agent", "").partition(" ")[0].partition("/")
    return Identity(product[:60] or None, version[:40] or None, session=_session(headers, table["session"]))


def _version(headers: dict[str, str], entry: dict[str, Any]) -> str | None:
    header, start = next(iter(entry["when"].items()))
    rest = headers[header][len(start) :]
    if "version_after" in entry:
        rest = rest.partition(entry["version_after"])[2]
    for end in _ENDS:
        rest = rest.partition(end)[0]
    return rest[:40] or None


def _session(headers: dict[str, str], names: list[str]) -> tuple[str, str] | None:
    return next(((f"header:{n}", headers[n][:200]) for n in names if headers.get(n)), None)


@cache
def _table() -> dict[str, Any]:
    value: dict[str, Any] = load(_TABLE.read_text(encoding="utf-8"), _TABLE.name).value
    return value
