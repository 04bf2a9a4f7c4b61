"""MCP clients' configurations: which files they are, and each stdio server's command with ``onlooker mcp`` in front.

In: a home and a project folder; a file's JSON value. Out: changes of ``command`` and ``args``, nothing else.
Sources: the clients' own documentation of these files, read 2026-11.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_HOME = (
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    ".claude.json",
    ".cursor/mcp.json",
    ".codeium/windsurf/mcp_config.json",
    ".config/Code/User/mcp.json",
    "Library/Application Support/Code/User/mcp.json",
)
_PROJECT = (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")
_SERVERS = ("mcpServers", "servers")  # the second is VS Code's


def files(home: Path, project: Path) -> list[Path]:
    """Those that are there, each once."""
    named = [home / p for p in _HOME] + [project / p for p in _PROJECT]
    return list(dict.fromkeys(p for p in named if p.is_file()))


def watcher(state: str | None) -> list[str]:
    """The command that comes in front, up to the name."""
    return [*own_command(), "mcp", *(["--state", state] if state else [])]


def own_command() -> list[str]:
    """How this onlooker is started from anywhere."""
    script = shutil.which("onlooker") or str(Path(sys.executable).with_name("onlooker"))
    return [script] if Path(script).is_file() else [sys.executable, "-P", "-m", "proxy"]


class Wrap:
    def __init__(self, front: Sequence[str]) -> None:
        self._front = list(front)

    def __call__(self, value: dict[str, Any]) -> list[str]:
        lines: list[str] = []
        for name, server in _stdio_servers(value):
            now = _words(server)
            if _inner(now) is None:
                words = [*self._front, "--name", name, "--", *now]
                server["command"], server["args"] = words[0], words[1:]
                lines += _diff(name, now, _words(server))
        return lines


def unwrap(value: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, server in _stdio_servers(value):
        now = _words(server)
        inner = _inner(now)
        if inner:
            server["command"], rest = inner[0], inner[1:]
            if rest:
                server["args"] = rest
            else:
                del server["args"]
            lines += _diff(name, now, inner)
    return lines


def _stdio_servers(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Servers with a command, here and in Claude Code's per-project sections."""
    projects = value.get("projects")
    sections = list(projects.values()) if isinstance(projects, dict) else []
    for section in [value, *sections]:
        for key in _SERVERS:
            for name, server in (section.get(key) or {}).items():
                if isinstance(server, dict) and isinstance(server.get("command"), str):
                    yield name, server


def _words(server: dict[str, Any]) -> list[str]:
    arguments = server.get("args") or []
    if not isinstance(arguments, list) or not all(isinstance(a, str) for a in arguments):
        raise TypeError("args is no list of texts")
    return [server["command"], *arguments]


def _inner(words: list[str]) -> list[str] | None:
    """What is watched, when onlooker is in front already."""
    ours = Path(words[0]).name in {"onlooker", "onlooker.exe"}
    start = 1 if ours else 4 if words[1:4] == ["-P", "-m", "proxy"] else 0
    if not start or words[start : start + 1] != ["mcp"] or "--" not in words:
        return None
    return words[words.index("--") + 1 :] or None


def _diff(name: str, before: list[str], after: list[str]) -> list[str]:
    return [f"  {name}", f"-   {shlex.join(before)}", f"+   {shlex.join(after)}"]
