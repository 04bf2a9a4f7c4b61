"""Paths as targets: one canonical string, where it lies, what is kept there. From ``paths.yaml``, computed once.

In: a path as written, the context's cwd and home. Out: ``canonical`` text, ``PathFacts``, or a whole file ``Effect``
(``file_effect``), which also turns the read of a secret file into ``read secrets`` and a change of a crontab into
``modify scheduler``. Relative paths with no known cwd stay relative and have an unknown scope.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

from classifiers.context import Context
from classifiers.effects import Breadth, Domain, Effect, PathScope, Reversibility, Sensitivity, Tag, Verb
from classifiers.pathglobs import compile_globs

_WRITES = frozenset({Verb.CREATE, Verb.MODIFY, Verb.DELETE})
_PATH_DOMAINS = frozenset({Domain.FILESYSTEM, Domain.STORAGE, Domain.SECRETS})
# ``zfs:tank/home``, ``gcp:token``, ``quota``, ``*``: what a store calls its things, whatever folder one stands in.
_NAME = re.compile(r"(?!device:\S*[/.])[a-z][a-z0-9_-]+:|\*|[A-Za-z][A-Za-z0-9_-]*\Z")
_DEVICE = "device:"


@dataclass(frozen=True, slots=True)
class PathFacts:
    scope: PathScope
    sensitivity: Sensitivity = Sensitivity.NONE
    read: Domain | None = None
    write: Domain | None = None
    tags: tuple[Tag, ...] = ()
    erase_tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    matches: Callable[[str], bool]
    excepted: Callable[[str], bool]
    facts: PathFacts


def canonical(path: str, cwd: str | None = None, home: str | None = None) -> str:
    """``path`` with cwd applied, ``.`` and ``..`` collapsed, ``~`` expanded when home is known.

    A trailing slash goes; a relative path without cwd keeps its leading ``./`` and ``../``.
    """
    if path == "~" or path.startswith("~/"):
        inner = _collapse("/" + path[2:])
        if home:
            return _collapse(home + path[1:])
        return path if "/.." in path else "~" + (inner if inner != "/" else "")
    if path.startswith("/"):
        return _collapse(path)
    if cwd and (cwd[1:3] == ":\\" or cwd[:2] == "\\\\") and _is_below(path):
        return ntpath.normpath(ntpath.join(cwd, path))
    if cwd and not _is_foreign(path):
        return _collapse(posixpath.join(cwd, path))
    if "/." not in path and "//" not in path:
        return path.rstrip("/") or path
    kept = "./" if path.startswith("./") else ""
    return kept + posixpath.normpath(path) if not _is_foreign(path) else path


def is_name(domain: Domain, target: str) -> bool:
    """Whether a target of storage or secrets is a name in a store, and no path to join with the cwd."""
    return domain is not Domain.FILESYSTEM and _NAME.match(target) is not None


def facts(path: str, context: Context) -> PathFacts:
    """What is known about a canonical path."""
    return _facts(path, context.home, context.cwd if context.workspace is None else context.workspace)


def is_stream(path: str) -> bool:
    """``/dev/null`` and its like: reading or writing them is no effect."""
    return path in _table().plain_streams or _table().streams(path)


def known_to_exist(path: str, home: str | None = None) -> bool:
    """True for files every system or account has, so overwriting one destroys something."""
    return _table().existing(tilde(path, home))


def is_system_tree(path: str, home: str | None = None) -> bool:
    """True for folders whose whole content the machine or the account stands on."""
    return _table().trees(tilde(path, home)) or _table().trees(path)


def file_effect(verb: Verb, path: str, context: Context, **more: Any) -> Effect:
    """One effect on a file, with scope, sensitivity, tags and the domain its place implies. ``path`` is as written."""
    domain = Domain(more.pop("domain", Domain.FILESYSTEM))
    return located(Effect(domain, verb, target=path, **more), context)


def located(effect: Effect, context: Context) -> Effect:
    """``effect`` with its path target made canonical and what lies there said."""
    if effect.domain not in _PATH_DOMAINS or effect.target is None or is_name(effect.domain, effect.target):
        return effect
    path = canonical(effect.target.removeprefix(_DEVICE), context.cwd, context.home)
    known = facts(path, context)
    writes, verb = effect.action in _WRITES, effect.action
    if writes and not known.tags and _puts_into(effect):
        inside = facts(f"{path}/_", context)
        known = inside if inside.tags else known
    domain, tags, destructive, rank = effect.domain, effect.tags, effect.destructive, effect.reversibility
    if writes and destructive is None and not effect.dry_run and _replaces(effect, path, context):
        destructive, rank = True, Reversibility.IRREVERSIBLE
        tags = tuple(dict.fromkeys((*tags, Tag.OVERWRITE, *known.tags)))
    if domain is Domain.FILESYSTEM:
        domain = (known.write if writes else known.read if verb is Verb.READ else None) or domain
        if known.scope is PathScope.DEVICE and writes:
            if verb is not Verb.DELETE and _table().shown(path):
                destructive, rank = False, Reversibility.EXTERNALLY_REVERSIBLE
                tags = tuple(t for t in tags if t is not Tag.OVERWRITE)
            else:
                domain = Domain.STORAGE
    if writes:
        erases = verb is Verb.DELETE or destructive is True
        tags = tags + tuple(t for t in (known.erase_tags if erases else known.tags) if t not in tags)
    if effect.target.startswith(_DEVICE) or (domain is Domain.STORAGE and known.scope is PathScope.DEVICE):
        path = _DEVICE + path
    # replace() would run every field twice on the hot path
    return Effect(
        domain, verb, path, effect.target_raw if effect.target_raw != path else None, destructive,
        rank, effect.breadth, effect.where, effect.privilege, effect.certainty, effect.condition,
        effect.dry_run, known.scope if effect.where == "local" else PathScope.REMOTE, known.sensitivity, tags,
        effect.via, effect.evidence, effect.filtered,
    )  # fmt: skip


def _puts_into(effect: Effect) -> bool:
    """Whether the path may be a folder files are put into (``cp x /etc/profile.d``); ``mkdir`` puts nothing there."""
    if effect.action is Verb.CREATE:
        return effect.destructive is not False or effect.breadth is not Breadth.ONE
    return effect.action is Verb.MODIFY and effect.destructive is not False


def _replaces(effect: Effect, path: str, context: Context) -> bool:
    """Whether a write that may replace a file meets one every system or account has."""
    return (
        effect.domain is Domain.FILESYSTEM
        and effect.action is not Verb.DELETE
        and effect.breadth is Breadth.ONE
        and effect.where == "local"
        and known_to_exist(path, context.home)
    )


def _collapse(path: str) -> str:
    if "/." not in path and "//" not in path:
        return path.rstrip("/") or path[:1]
    out = posixpath.normpath(path)
    return out[1:] if out.startswith("//") else out


def _is_below(path: str) -> bool:
    """A path relative to a Windows folder: no drive, root, URL or variable in front."""
    return ":" not in path and path[:1] not in {"\\", "%", "$", ""}


_DRIVE = re.compile(r"(?:env|cert|variable|function|alias|hk\w{2,}|wsman|registry):", re.IGNORECASE)


def _is_foreign(path: str) -> bool:
    """Windows paths, PowerShell's drives and URLs: not ours to join or collapse."""
    return "://" in path or "\\" in path or path[1:2] == ":" or (":" in path and _DRIVE.match(path) is not None)


def tilde(path: str, home: str | None) -> str:
    """``path`` with a home folder, the known one or anyone's, written ``~``: how the tables name places."""
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    parts = path.split("/", 3)
    if len(parts) > 1 and parts[0] == "" and parts[1] == "root":
        return "~" + path[5:]
    if len(parts) > 2 and parts[0] == "" and parts[1] in {"home", "Users"}:
        return "~" + path[len(parts[1]) + len(parts[2]) + 2 :]
    return path


@lru_cache(maxsize=4096)
def _facts(path: str, home: str | None, workspace: str | None) -> PathFacts:
    table = _table()
    scope = _scope(path, home, workspace, table)
    if path.startswith(("/private/etc/", "/private/var/")):  # macOS: the real place of /etc and /var
        path = path[8:]
    seen = tilde(path, home)
    for row in table.rows:
        if (row.matches(seen) or row.matches(path)) and not row.excepted(seen):
            f = row.facts
            return PathFacts(scope, f.sensitivity, f.read, f.write, f.tags, f.erase_tags)
    return PathFacts(scope)


def _scope(path: str, home: str | None, workspace: str | None, table: _Table) -> PathScope:
    if workspace and (path == workspace or path.startswith((workspace.rstrip("/") + "/", workspace + "\\"))):
        return PathScope.WORKSPACE
    if home and (path == home or path.startswith(home + "/")):
        return PathScope.HOME
    if path == "/":
        return PathScope.SYSTEM
    for prefix, scope in table.places:
        if path == prefix or path.startswith(prefix + "/"):
            return scope
    if path[1:3] == ":\\":
        return PathScope.SYSTEM if path[3:10].lower() in {"windows", "program"} else PathScope.OUTSIDE
    return PathScope.OUTSIDE if path.startswith("/") else PathScope.UNKNOWN


@dataclass(frozen=True, slots=True)
class _Table:
    places: tuple[tuple[str, PathScope], ...]
    rows: tuple[_Row, ...]
    plain_streams: frozenset[str]
    streams: Callable[[str], bool]
    shown: Callable[[str], bool]
    existing: Callable[[str], bool]
    trees: Callable[[str], bool]


@cache
def _table() -> _Table:
    data = yaml.load((Path(__file__).parent / "paths.yaml").read_text("utf-8"), yaml.CSafeLoader)
    places = [(prefix, PathScope(scope)) for scope, prefixes in data["places"].items() for prefix in prefixes]
    places.sort(key=lambda item: -len(item[0]))
    return _Table(
        tuple(places),
        tuple(_row(row) for row in data["files"]),
        frozenset(p for p in data["streams"] if "*" not in p),
        compile_globs(p for p in data["streams"] if "*" in p),
        compile_globs(data["shown_or_printed"]),
        compile_globs(data["known_to_exist"]),
        compile_globs(data["system_trees"]),
    )


def _row(row: dict[str, Any]) -> _Row:
    return _Row(
        compile_globs(row["patterns"]),
        compile_globs(row.get("except", ())),
        PathFacts(
            PathScope.UNKNOWN,
            Sensitivity(row.get("sensitivity", "none")),
            Domain(row["read"]) if "read" in row else None,
            Domain(row["write"]) if "write" in row else None,
            tuple(Tag(t) for t in row.get("tags", ())),
            tuple(Tag(t) for t in row.get("erase_tags", ())),
        ),
    )


__all__ = ["PathFacts", "canonical", "facts", "file_effect", "is_stream", "known_to_exist", "located"]
