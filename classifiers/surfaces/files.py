"""The files surface: read, write, edit, patch, delete, move, copy, list, glob and grep tools.

Roles: operation (fixed by the mapping), path, destination, content, pattern, patch, kind (an apply_patch operation).
A whole-file write may replace what was there (destructive null); an edit and an append do not.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from classifiers.context import Context
from classifiers.effects import (
    Action,
    Breadth,
    Condition,
    Domain,
    Effect,
    Evidence,
    OpaqueReason,
    Reversibility,
    Surface,
    Verb,
)
from classifiers.files.patches import changes
from classifiers.gather import Gather
from classifiers.paths import canonical, is_stream, known_to_exist, located
from classifiers.shell.payloads.later import is_run_from
from classifiers.surface import CallParts, surface_named

_WILD = ("*", "?", "[")


@dataclass(frozen=True, slots=True)
class _Rule:
    verb: Verb
    destructive: bool | None = False
    reversibility: Reversibility = Reversibility.REVERSIBLE
    breadth: Breadth = Breadth.ONE
    default: str | None = None  # the path when none is given


_READ = Reversibility.READ_ONLY
_RULES = {
    "read": _Rule(Verb.READ, reversibility=_READ),
    "list": _Rule(Verb.READ, reversibility=_READ, default="."),
    "glob": _Rule(Verb.READ, reversibility=_READ, breadth=Breadth.RECURSIVE, default="."),
    "grep": _Rule(Verb.READ, reversibility=_READ, breadth=Breadth.RECURSIVE, default="."),
    "write": _Rule(Verb.MODIFY, destructive=None, reversibility=Reversibility.UNKNOWN),
    "append": _Rule(Verb.MODIFY),
    "edit": _Rule(Verb.MODIFY),
    "create": _Rule(Verb.CREATE),
    "mkdir": _Rule(Verb.CREATE),
    "revert": _Rule(Verb.MODIFY, destructive=True, reversibility=Reversibility.IRREVERSIBLE),
    "delete": _Rule(Verb.DELETE, destructive=True, reversibility=Reversibility.IRREVERSIBLE),
    "delete_recursive": _Rule(Verb.DELETE, True, Reversibility.IRREVERSIBLE, Breadth.RECURSIVE),
    "move": _Rule(Verb.MODIFY),
    "chmod": _Rule(Verb.MODIFY),
}
_KINDS = {"create_file": "add", "update_file": "update", "delete_file": "delete"}
_CHANGES = {"add": "create", "update": "edit", "delete": "delete", "move": "move"}


class FilesSurface:
    name = "files"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        if "files" in call_parts.values:  # the shell hands a patch on under the surface's name
            values = {"operation": "patch", "patch": call_parts.values["files"]}
            call_parts = replace(call_parts, values=values, paths={"patch": call_parts.path_of("files")})
        operation = str(call_parts.values.get("operation") or "")
        out = Gather(Surface.FILES, at=call_parts.path_of("path"))
        if operation == "patch" or (not operation and "patch" in call_parts.values):
            return _patch(call_parts, context, out)
        operation = _meant(operation, call_parts.values)
        if operation in {"copy", "move"}:
            return _two_paths(operation, call_parts, context, out)
        if not operation and "content" in call_parts.values:
            operation = "write"
        rule = _RULES.get(operation)
        path = call_parts.values.get("path") or None
        if rule is None or (path is None and rule.default is None):
            return None
        paths = path if isinstance(path, list) else [rule.default if path is None else path]
        for one in paths:
            _add(operation, one, call_parts.path_of("path"), context, out)
        if operation in {"write", "append", "create"} and isinstance(path, str):
            _run_later(path, call_parts.values.get("content"), context, out)
        return out.action()


def _meant(operation: str, values: Mapping[str, Any]) -> str:
    """What the call's own switches make of the operation: append, overwrite, dry run."""
    if operation == "write_or_append":
        return "append" if values.get("append") in {True, "append", "a"} else "write"
    if operation == "edit" and values.get("mode") in {"overwrite", "create", "write"}:
        return "write"
    return "read" if operation == "edit" and values.get("dry_run") is True else operation


def _add(operation: str, path: Any, at: str, context: Context, out: Gather) -> None:
    """One operation on one path; a path that is not text is an unknown target."""
    rule = _RULES[operation]
    values: dict[str, Any] = {
        "destructive": rule.destructive,
        "reversibility": rule.reversibility,
        "breadth": rule.breadth,
    }
    out.at = at
    if not isinstance(path, str) or not path.strip():
        raw = None if path is None or path == "" else str(path)[:200]
        out.put(Effect(Domain.FILESYSTEM, rule.verb, target_raw=raw or "?", **values))
        return
    path = plain_path(path)
    if is_stream(path):
        return
    if operation == "write" and known_to_exist(path, context.home):
        values["destructive"] = True
    if rule.verb is Verb.READ and any(c in path for c in _WILD):
        values["breadth"] = Breadth.MANY
    out.put(located(Effect(Domain.FILESYSTEM, rule.verb, path, **values), context), (0, len(path)))


def _run_later(path: str, content: Any, context: Context, out: Gather) -> None:
    """Text put where something runs by itself (a start-up file, a job, a hook): what the shell makes of writing it."""
    placed = canonical(plain_path(path), context.cwd, context.home)
    shell = surface_named("shell")
    if not isinstance(content, str) or shell is None or not is_run_from(placed, context.home):
        return
    command = f"printf %s {shlex.quote(content)} >> {shlex.quote(placed)}"
    action = shell.classify(CallParts("shell", {"command": command}), context)
    for effect in action.effects if action is not None else ():
        if effect.condition is Condition.DEFERRED:
            out.put(replace(effect, evidence=Evidence(out.at, 0, len(path))))
    for opaque in action.opaque if action is not None else ():
        out.hide(opaque.reason, (0, len(path)), opaque.text)


def _two_paths(operation: str, parts: CallParts, context: Context, out: Gather) -> Action | None:
    source, destination = parts.values.get("path"), parts.values.get("destination")
    if source is None and destination is None:
        return None
    for one in source if isinstance(source, list) else [source]:
        _add("move" if operation == "move" else "read", one, parts.path_of("path"), context, out)
    if destination is not None:
        _add("write", destination, parts.path_of("destination"), context, out)
    return out.action()


def _patch(parts: CallParts, context: Context, out: Gather) -> Action | None:
    """A patch names its files itself; OpenAI's apply_patch operation names one beside a bare diff."""
    text, path, kind = (parts.values.get(role) for role in ("patch", "path", "kind"))
    if isinstance(path, str) and isinstance(kind, str) and kind in _KINDS:
        _add(_CHANGES[_KINDS[kind]], path, parts.path_of("path"), context, out)
        return out.action()
    if not isinstance(text, str):
        return None
    found = changes(text)
    for change in found:
        out.at = parts.path_of("patch")
        before = len(out.effects)
        _add(_CHANGES[change.kind], change.path, out.at, context, out)
        if change.to is not None:
            _add("write", change.to, out.at, context, out)
        _relocate(out, before, change.start, change.end)
    if not found and isinstance(path, str):
        _add("edit", path, parts.path_of("path"), context, out)
    elif not found:
        out.add(Domain.UNKNOWN, Verb.UNKNOWN, destructive=None)
        out.hide(OpaqueReason.PARSE_ERROR, (0, min(len(text), 200)), "no file is named in this patch")
    return out.action()


def _relocate(out: Gather, since: int, start: int, end: int) -> None:
    """Point the newest effects at the place in the patch that names their file."""
    for i in range(since, len(out.effects)):
        out.effects[i] = replace(out.effects[i], evidence=Evidence(out.at, start, end))


def plain_path(path: str) -> str:
    """A path without its ``file://``."""
    return path.removeprefix("file://") if path.startswith("file:///") else path


SURFACE = FilesSurface()
