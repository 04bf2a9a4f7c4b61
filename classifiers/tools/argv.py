"""Turn a shell tool's arguments into one script or one argument vector, and pick the shell that reads it.

In: roles command (str or list), argv, args, shell. Out: (surface, values, paths). ``["bash","-lc","ls"]`` is the script
``ls`` at ``arguments.command[2]``; an argument vector of another program stays a vector.
"""

from __future__ import annotations

import ntpath
from typing import Any

from classifiers.context import Context

_POSIX = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
_PATCHERS = frozenset({"apply_patch", "applypatch"})
_POWER = frozenset({"powershell", "pwsh"})


def shell_parts(
    surface: str, values: dict[str, Any], paths: dict[str, str], context: Context
) -> tuple[str, dict[str, Any], dict[str, str]]:
    command = values.get("command")
    if surface == "shell":
        surface = shell_surface(values.pop("shell", None)) or shell_surface(context.shell) or surface
    if isinstance(command, list) and all(isinstance(word, str) for word in command) and command:
        return _vector(surface, command, values, paths)
    args = values.pop("args", None)
    if isinstance(command, str) and isinstance(args, list) and all(isinstance(word, str) for word in args):
        values["command"] = None
        return _vector(surface, [command, *args], values, paths)
    return surface, values, paths


def shell_surface(name: Any) -> str | None:
    """The surface that reads a shell of this name or path; None when nothing is said."""
    if not isinstance(name, str) or not name:
        return None
    base = ntpath.basename(name).lower().removesuffix(".exe")
    return "powershell" if base in _POWER else "cmd" if base == "cmd" else "shell" if base in _POSIX else None


def _vector(
    surface: str, argv: list[str], values: dict[str, Any], paths: dict[str, str]
) -> tuple[str, dict[str, Any], dict[str, str]]:
    at = paths.pop("command", "command")
    values.pop("command", None)
    kind = shell_surface(argv[0])
    script = _script_index(kind, argv)
    if kind is not None and script is not None:
        return kind, {**values, "command": argv[script]}, {**paths, "command": f"{at}[{script}]"}
    if ntpath.basename(argv[0]).lower() in _PATCHERS and len(argv) == 2:
        return "files", {**values, "operation": "patch", "patch": argv[1]}, {**paths, "patch": f"{at}[1]"}
    if surface != "shell" or kind in {"powershell", "cmd"}:
        line = " ".join(f'"{word}"' if " " in word else word for word in argv)
        return "cmd" if kind else surface, {**values, "command": line}, {**paths, "command": at}
    return surface, {**values, "argv": argv}, {**paths, "argv": at}


def _script_index(kind: str | None, argv: list[str]) -> int | None:
    """Where the script of ``bash -lc script`` or ``powershell -Command script`` stands, when it is the last word."""
    for i, word in enumerate(argv[1:-1], 1):
        flag = word.lower()
        if kind == "shell" and flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
            return i + 1 if i + 2 == len(argv) else None
        if kind == "powershell" and flag in {"-command", "-c", "/c"}:
            return i + 1 if i + 2 == len(argv) else None
        if kind == "cmd" and flag in {"/c", "/k"}:
            return i + 1 if i + 2 == len(argv) else None
    return None
