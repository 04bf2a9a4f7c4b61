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
    """A tool of a known server; a file may describe families of names with ``*``, tried after the exact ones.

    ``createPage`` is ``create_page`` too.
    """
    tools = _index().by_server.get(plain_server(server), {})
    names = dict.fromkeys((_plain_tool(tool), _plain_tool(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tool))))
    exact = next((tools[name] for name in names if name in tools), None)
    return exact or next((e for name in names for n, e in tools.items() if "*" in n and fnmatchcase(name, n)), None)


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
    for stem, values in sorted(tables("tools"), key=lambda file: len(file[1].get("server", ()))):
        entries = read_entries(values["tools"], f"tools/{stem}.yaml")
        for server in values.get("server", ()):  # a file about few servers comes before one about many
            known = by_server.setdefault(server, {})
            known.update({_plain_tool(n): e for n, e in entries.items() if _plain_tool(n) not in known})
        if "server" not in values or values.get("distinctive"):
            for name, entry in entries.items():
                by_name[name].append(entry)
    return _Index({name: tuple(found) for name, found in by_name.items()}, by_server)
