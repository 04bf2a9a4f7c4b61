"""Apply one tool-map entry to a call's arguments: the entry and the arguments in, the Action out.

None when the entry does not apply (an argument it needs is missing), so that the next candidate is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from classifiers.context import Context
from classifiers.dispatch import unread
from classifiers.effects import Action, Evidence, OpaqueReason, Surface
from classifiers.gather import Gather
from classifiers.paths import canonical
from classifiers.sql.dialect import engine_of
from classifiers.surface import CallParts, surface_named
from classifiers.templates import Given, Lookup, fill_all, template
from classifiers.tools.arguments import ITEM, ROOT, Found, find, members
from classifiers.tools.argv import shell_parts
from classifiers.tools.entries import plain_server
from classifiers.tools.format import Entry

Inner = Callable[[str, Any], Action]

MAX_WRAPPED = 50
SERVER = "@server"  # stands for the MCP server's plain name in holes and constants
ENGINE = "@engine"  # in holes: the kind of database that server is for
_SAID = frozenset({SERVER, ENGINE})
_SHELLS = frozenset({"shell", "powershell", "cmd"})


@dataclass(frozen=True, slots=True)
class Caller:
    """The call being read: its tool, where it runs, how to read a call wrapped in it, where its arguments stand."""

    tool: str
    context: Context
    inner: Inner
    server: str = ""  # the MCP server that offers the tool, when known
    root: str = ROOT


def fits(entry: Entry, arguments: Any) -> int:
    """How many of the entry's arguments are there; -1 when it does not apply."""
    if any(find(arguments, (name,)) is None for name in entry.needs):
        return -1
    names = [*entry.roles.values(), entry.pick, entry.each, *_wrapped(entry)]
    holes = [hole for line in entry.effects or () for hole in template(line).holes if hole.key not in _SAID]
    wanted = [n for n in (*names, *(tuple(hole.key.split("|")) for hole in holes)) if n]
    present = sum(find(arguments, n) is not None or n[0].startswith(ITEM) for n in wanted)
    needed = any(names) or any(not hole.optional and hole.default is None for hole in holes)
    return present if present or not needed else -1


def apply(entry: Entry, arguments: Any, caller: Caller) -> Action | None:
    """The action, None when the entry does not apply."""
    if fits(entry, arguments) < 0:
        return None
    if entry.pick:
        return _pick(entry, arguments, caller)
    if entry.wraps:
        return _unwrap(entry, arguments, caller)
    if entry.each:
        return _each(entry, arguments, caller)
    if entry.effects is not None:
        return _effects(entry, entry.effects, arguments, caller)
    return _surface(entry, arguments, caller)


def _pick(entry: Entry, arguments: Any, caller: Caller) -> Action | None:
    found = find(arguments, entry.pick, caller.root)
    word = str(found.value).lower() if found is not None else ""
    case = entry.cases.get(word) or entry.cases.get("*")
    if case is None:
        return unread(f"{caller.tool} has no known operation {word or '(none)'}", caller.tool, _label(entry.surface))
    return apply(case, arguments, caller)


def _unwrap(entry: Entry, arguments: Any, caller: Caller) -> Action:
    """The inner calls' effects, each with the path of its own arguments."""
    out = Gather(Surface.UNKNOWN)
    spec = entry.wraps
    calls = members(arguments, spec.get("list", ".").split("|"))
    for call in calls[:MAX_WRAPPED]:
        name, given = (find(call.value, spec.get(key, "").split("|"), call.path) for key in ("name", "arguments"))
        server = find(call.value, spec["server"].split("|")) if "server" in spec else None
        if name is None or not isinstance(name.value, str):
            out.hide(OpaqueReason.PAYLOAD_UNREADABLE, text="a wrapped call without a name")
            continue
        full = f"mcp__{server.value}__{name.value}" if server is not None else name.value
        action = caller.inner(full, given.value if given is not None else {})
        out.absorb(_moved(action, given.path if given is not None else call.path), via=(full,))
        out.surface = action.surface if len(calls) == 1 else Surface.UNKNOWN
    if len(calls) > MAX_WRAPPED:
        out.hide(OpaqueReason.SIZE_CAP, text=f"more than {MAX_WRAPPED} wrapped calls")
    if not calls and find(arguments, spec.get("list", ".").split("|")) is None:
        return unread("the wrapper holds no calls")
    return out.action()


def _moved(action: Action, path: str) -> Action:
    """The action with evidence below ``path`` instead of ``arguments``."""

    def at(evidence: Evidence | None) -> Evidence | None:
        return evidence and replace(evidence, path=path + evidence.path.removeprefix(ROOT))

    return replace(action, effects=tuple(replace(e, evidence=at(e.evidence)) for e in action.effects))


def _each(entry: Entry, arguments: Any, caller: Caller) -> Action:
    out = Gather(_label(entry.surface))
    one = replace(entry, each=())
    cwd = caller.context.cwd
    for member in members(arguments, entry.each, caller.root):
        own = {**arguments, ITEM: member.value} if isinstance(arguments, Mapping) else {ITEM: member.value}
        action = apply(one, own, replace(caller, context=replace(caller.context, cwd=cwd)))
        if action is None:
            action = unread(f"one of {caller.tool}'s {entry.each[0]} cannot be read", caller.tool)
        moved = [_renamed(e.evidence, f"{caller.root}.{ITEM}", member.path) for e in action.effects]
        out.surface = action.surface
        effects = tuple(replace(e, evidence=m) for e, m in zip(action.effects, moved, strict=True))
        out.absorb(replace(action, effects=effects))
        cwd = action.cwd_after or cwd
    return replace(out.action(), cwd_after=cwd if cwd != caller.context.cwd else None)


def _renamed(evidence: Evidence | None, old: str, new: str) -> Evidence | None:
    if evidence is None or not evidence.path.startswith(old):
        return evidence
    return replace(evidence, path=new + evidence.path[len(old) :])


def _effects(entry: Entry, lines: tuple[str, ...], arguments: Any, caller: Caller) -> Action:
    out = Gather(_label(entry.surface), at=caller.root)
    _add_lines(out, lines, arguments, caller)
    if entry.open is not None:
        out.hide(entry.open, text="what this tool does is not in its arguments")
    return out.action()


def _lookup(arguments: Any, caller: Caller) -> Lookup:
    def lookup(key: str) -> Given | None:
        if key == SERVER:
            return Given(plain_server(caller.server) or "*")
        if key == ENGINE:
            return Given(engine_of(plain_server(caller.server)) or "*")
        found = find(arguments, key.split("|"), caller.root)
        if found is None:
            return None
        text = found.value if isinstance(found.value, str) else str(found.value) if _is_plain(found.value) else None
        return Given(text, str(found.value)[:200])

    return lookup


def _add_lines(out: Gather, lines: tuple[str, ...], arguments: Any, caller: Caller) -> None:
    for line in lines:
        for lookup, found in _readings(line, arguments, caller):
            span = (0, len(found.value)) if found is not None and isinstance(found.value, str) else (0, 0)
            at = Evidence(found.path if found is not None else caller.root, *span)
            for effect in fill_all([line], lookup, caller.context):
                out.put(replace(effect, evidence=at))


def _readings(line: str, arguments: Any, caller: Caller) -> list[tuple[Lookup, Found | None]]:
    """How the line's holes are filled and from where: once, or for each member of a list of texts."""
    lookup = _lookup(arguments, caller)
    key = next((hole.key for hole in template(line).holes if hole.key not in _SAID), None)
    found = find(arguments, key.split("|"), caller.root) if key is not None else None
    texts = found.value if found is not None and isinstance(found.value, list) else []
    if found is None or not texts or not all(isinstance(text, str) for text in texts):
        return [(lookup, found)]

    def taking(text: str) -> Lookup:
        return lambda asked: Given(text, text) if asked == key else lookup(asked)

    return [(taking(text), Found(text, f"{found.path}[{i}]")) for i, text in enumerate(texts[:MAX_WRAPPED])]


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _surface(entry: Entry, arguments: Any, caller: Caller) -> Action:
    tool, context = caller.tool, caller.context
    values: dict[str, Any] = {k: plain_server(caller.server) if v == SERVER else v for k, v in entry.fixed.items()}
    paths = dict.fromkeys(entry.roles, caller.root)
    for role, names in entry.roles.items():
        found = find(arguments, names, caller.root)
        if found is not None:
            values[role], paths[role] = found.value, found.path
    surface = entry.surface
    if surface in _SHELLS:
        surface, values, paths = shell_parts(surface, values, paths, context)
    if isinstance(values.get("cwd"), str) and values["cwd"]:
        context = replace(context, cwd=canonical(values["cwd"], context.cwd, context.home))
        values["cwd"] = context.cwd
    reader = surface_named(surface)
    action = None if reader is None else reader.classify(CallParts(surface, values, paths, tool), context)
    if action is None:
        return unread(f"the arguments of {tool} do not say what the {surface} surface needs", tool, _label(surface))
    if entry.also or entry.open is not None:
        return _beside(entry, action, arguments, caller)
    return action


def _beside(entry: Entry, action: Action, arguments: Any, caller: Caller) -> Action:
    """The surface's action with the entry's own effects before it, and what stays unread."""
    out = Gather(action.surface, parsers=list(action.parsers))
    _add_lines(out, entry.also, arguments, caller)
    place = next((e.target for e in out.effects if e.target), None)
    moved = (replace(e, where=place) if place is not None and e.where == "local" else e for e in action.effects)
    out.absorb(replace(action, effects=tuple(moved)))
    if entry.open is not None:
        out.hide(entry.open, text="what this tool does is not all in its arguments")
    return out.action()


def _label(surface: str) -> Surface:
    """What the record calls it; a terminal's text is shell text."""
    return Surface.SHELL if surface == "terminal" else Surface(surface)


def _wrapped(entry: Entry) -> list[tuple[str, ...]]:
    return [tuple(entry.wraps[k].split("|")) for k in ("list",) if k in entry.wraps]
