"""The spellings of one tool: a wire name and maybe a server in, (server, tool, canonical name) out.

Harnesses join server and tool in their own ways: ``mcp__server__tool`` (Claude Code, Codex), ``server__tool`` and
``mcp_server_tool`` (Gemini CLI, Cursor), ``server_tool`` (OpenCode), ``functions.tool`` (OpenAI models).
"""

from __future__ import annotations

from collections.abc import Iterator

from classifiers.tools.entries import knows_server

_NAMESPACES = ("functions.", "default_api.", "default_api:", "tools.", "builtin.", "local.")


def spellings(name: str, server: str | None) -> Iterator[tuple[str | None, str, str]]:
    """Readings of ``name``, most certain first. A split nobody marks is tried only for a server we know."""
    plain = _without_namespace(name)
    if server:
        yield server, _bare(plain), f"mcp:{server}/{_bare(plain)}"
    elif plain.startswith("mcp__") and plain.count("__") >= 2:
        _mcp, found, tool = plain.split("__", 2)
        yield found, tool, f"mcp:{found}/{tool}"
    elif plain.startswith("mcp:") and "/" in plain:
        found, _, tool = plain[4:].partition("/")
        yield found, tool, plain
    elif (joined := plain.partition("__")) and joined[0] and joined[2].strip("_") and not plain.startswith("mcp"):
        yield joined[0], joined[2], f"mcp:{joined[0]}/{joined[2]}"
        yield None, plain, plain
    else:
        yield None, plain, plain
        yield from ((s, t, f"mcp:{s}/{t}") for s, t in _splits(plain.removeprefix("mcp_")) if knows_server(s))
    if name != plain or server:
        yield None, name, name
    if server or plain.startswith("mcp"):
        yield None, plain, plain


def _splits(name: str) -> Iterator[tuple[str, str]]:
    for mark in ("__", ".", "/", "-", "_"):
        head, found, tail = name.partition(mark)
        if found and head and tail:
            yield head, tail


def _bare(name: str) -> str:
    return name.rpartition("__")[2] if name.startswith("mcp__") else name


def _without_namespace(name: str) -> str:
    return next((name[len(n) :] for n in _NAMESPACES if name.startswith(n) and len(name) > len(n)), name)
