"""Every tool entry we ship, indexed by tool name and by MCP server.

In: the YAML files of this folder. Out: ``named(name)`` and ``of_server(server, tool)``: entries to choose from.
A file with ``server:`` describes an MCP server's tools (the key lists names servers go by); ``distinctive: true`` says
its tool names are its own wherever they appear.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from classifiers.datafile import tables
from classifiers.tools.format import Entry, read_entries


@dataclass(frozen=True, slots=True)
class _Index:
    by_name: dict[str, tuple[Entry, ...]]
    by_server: dict[str, dict[str, Entry]]


def named(tool: str) -> tuple[Entry, ...]:
    """Entries for a tool that needs no server to be known."""
    return _index().by_name.get(tool.lower(), ())


def knows_server(server: str) -> bool:
    return plain_server(server) in _index().by_server


def of_server(server: str, tool: str) -> Entry | None:
    """A tool of a known server; a file may describe families of names with ``*``, tried after the exact ones."""
    tools = _index().by_server.get(plain_server(server), {})
    plain = _plain_tool(tool)
    return tools.get(plain) or next((e for n, e in tools.items() if "*" in n and fnmatchcase(plain, n)), None)


def servers_with(tool: str) -> tuple[Entry, ...]:
    """The entries that any known server has for this tool name."""
    plain = _plain_tool(tool)
    return tuple(dict.fromkeys(tools[plain] for tools in _index().by_server.values() if plain in tools))


def plain_server(server: str) -> str:
    """``@modelcontextprotocol/server-github``, ``mcp-server-git``, ``GitHub MCP`` → ``github``, ``git``, ``github``."""
    name = re.sub(r"[^a-z0-9]+", "-", server.lower().rpartition("/")[2]).strip("-")
    words = [w for w in name.split("-") if w not in {"mcp", "server", "claude", "ai", "plugin", "official", "local"}]
    return "-".join(dict.fromkeys(words)) or name


def _plain_tool(tool: str) -> str:
    return tool.lower().replace("-", "_")


@cache
def _index() -> _Index:
    by_name: dict[str, list[Entry]] = defaultdict(list)
    by_server: dict[str, dict[str, Entry]] = {}
    for stem, values in tables("tools"):
        entries = read_entries(values["tools"], f"tools/{stem}.yaml")
        for server in values.get("server", ()):
            by_server.setdefault(server, {}).update({_plain_tool(n): e for n, e in entries.items()})
        if "server" not in values or values.get("distinctive"):
            for name, entry in entries.items():
                by_name[name].append(entry)
    return _Index({name: tuple(found) for name, found in by_name.items()}, by_server)
