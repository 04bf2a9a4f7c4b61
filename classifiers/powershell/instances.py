"""Objects of WMI: a class, an instance chosen by a filter or a path, what is made, set, called and removed of it.

In: a call and its entry. Out: the value of the object, whose kind is ``wmiobject:<class>`` and whose text is how
effects name it, ``*`` for all that the class has; or the effects of what is done to it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value, constant
from classifiers.datafile import alternatives
from classifiers.effects import Breadth, Condition, Domain, Effect, OpaqueReason, Reversibility, Tag, Verb
from classifiers.powershell.readers import file_effect, native, place_of, text_of
from classifiers.powershell.stdreg import by_name, key_effects
from classifiers.templates import Given, fill, fill_all
from classifiers.windows.later import run_later
from classifiers.windows.places import unset

if TYPE_CHECKING:
    from classifiers.code.calls import Site

_KIND = "wmiobject:"
_TABLE = "powershell/tables/names.yaml"
_QUERY = re.compile(r"\bfrom\s+(\w+)(?:\s+where\s+(.*))?", re.IGNORECASE | re.DOTALL)
_OBJECT_PATH = re.compile(r"^(?:.*[:\\/])?(\w+)(?:\.(.*)|=(.*))?$", re.DOTALL)
_GIVEN = re.compile(r"(\w+)\s*(?:=|\blike\b)\s*(?:\\?\"([^\"]*)\"|'([^']*)'|(\d+))", re.IGNORECASE)


def instances(site: Site, known: Known) -> Value | None:
    """``Get-CimInstance Win32_Service -Filter "Name='x'"``: what is found."""
    name, query, given = (role_of(site, known, role) for role in ("class", "query", "given"))
    chosen = role_of(site, known, "filter")
    where = (chosen.text or "?") if chosen is not None else ""
    if query is not None:
        found = _QUERY.search(query.text or "")
        made: Value | None = _object(found[1] if found else "", (found[2] or "") if found else "?", site, query)
    else:
        made = given if name is None else _object(name.text or "", where, site, name)
    effect = Effect(Domain.ENVIRONMENT, Verb.READ, destructive=False, reversibility=Reversibility.READ_ONLY)
    if made is not None and (kind := made.ref.removeprefix(_KIND)) in alternatives(_TABLE, "classes"):
        told = _of_class(site, kind, made.text, "?")
        if told.domain is not Domain.FILESYSTEM:
            effect = replace(effect, domain=told.domain, target=told.target if made.text != "*" else None)
    index = site.reader.out.put(effect, site.span)
    return None if made is None else replace(made, taint=made.taint | {index})


def _object(kind: str, where: str, site: Site, told: Value) -> Value:
    kind = kind.lower()
    if not kind:
        return Value(ref=f"{_KIND}?", raw=told.shape or told.raw or site.raw, taint=site.taint)
    written = told.text if told.text is not None and told.text.lower() == kind else kind
    return replace(constant(named(kind, where)), ref=f"{_KIND}{kind}", taint=site.taint, raw=written)


def named(kind: str, where: str) -> str:
    """How effects name the instances of a class for which a condition holds."""
    values = {m[1].lower(): m[2] or m[3] or m[4] or "" for m in _GIVEN.finditer(where)}
    ways = _ways(kind)
    for head, names, tail in ways:
        if (found := next((values[n] for n in names if values.get(n)), None)) is not None:
            return f"{head}{found}{tail}"
    return f"{ways[0][0]}*" if ways else "*"


def _ways(kind: str) -> list[tuple[str, list[str], str]]:
    """``service:{name|caption}`` as what stands before, the properties, and what stands behind, for each way."""
    line = alternatives(_TABLE, "instances").get(kind, "")
    return [(m[1], m[2].split("|"), m[3]) for m in re.finditer(r"([^|{}]*)\{([^}]*)\}([^|{}]*)", line)]


def wmi_class(site: Site, known: Known) -> Value | None:
    r"""``[wmiclass]'root\cimv2:Win32_Process'``, ``[wmi]"Win32_Service.Name='x'"``."""
    name = role_of(site, known, "name")
    found = _OBJECT_PATH.match(name.text) if name is not None and name.text is not None else None
    if found is None:
        return Value(ref="wmiclass:?", raw=site.raw, taint=site.taint)
    kind = found[1].lower()
    if site.func.ref == "[wmi]" and (found[2] or found[3]):
        return _object(kind, found[2] or f"name={found[3]}", site, name or Value())
    return Value(ref=f"wmiclass:{kind}", raw=site.raw, taint=site.taint)


def _target(value: Value | None) -> tuple[str, str | None, str]:
    """The class of what is given, its name, and how it is written: an object, a class, a path or a query."""
    if value is None:
        return "", "*", "?"
    raw = value.shape or value.raw or "?"
    if value.ref == f"{_KIND}?":
        return "", None, raw
    if value.ref.startswith(_KIND):
        return value.ref.removeprefix(_KIND).partition(".")[0], value.text, raw
    text = value.text or ""
    if (asked := _QUERY.search(text)) is not None:
        return asked[1].lower(), named(asked[1].lower(), asked[2] or ""), raw
    if (path := _OBJECT_PATH.match(text)) is not None:
        kind = path[1].lower()
        return kind, named(kind, path[2] or (f"name={path[3]}" if path[3] else "")), raw
    return "", None, raw


def _own(site: Site, what: Value | None, role: object) -> Value | None:
    if role != "self" or not site.func.ref.startswith(_KIND):
        return what
    return replace(site.own, ref=site.func.ref.rpartition(".")[0])


def removed(site: Site, known: Known) -> Value | None:
    """An object of WMI that is deleted: what that does is known by its class."""
    kind, name, raw = _target(_own(site, role_of(site, known, "what"), known.roles["what"]))
    if kind not in alternatives(_TABLE, "classes") and known.roles["what"] == "self":  # nobody knows what it is
        site.reader.out.add(Domain.UNKNOWN, Verb.DELETE, target_raw=site.raw, span=site.span, destructive=None)
        site.reader.out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, site.span, site.raw)
        return None
    effect = _of_class(site, kind, name, raw)
    if effect.domain is Domain.FILESYSTEM:
        path = constant(name.replace("\\\\", "\\")) if name and name != "*" else Value(raw=kind or raw)
        placed = file_effect(site, path, Verb.DELETE)
        effect = replace(effect, target=placed.target, target_raw=placed.target_raw, path_scope=placed.path_scope)
    site.reader.out.put(effect, site.span)
    return None


def _of_class(site: Site, kind: str, name: str | None, raw: str) -> Effect:
    """The removal of an instance, as the table says it of its class; of another class it is one of services."""
    line = alternatives(_TABLE, "classes").get(kind)
    if line is None:
        told = f"{kind}:{name}" if kind and name not in {None, "*"} else kind or None
        return Effect(Domain.SERVICES, Verb.DELETE, told, target_raw=None if told else raw, destructive=True)
    effect = fill(line, lambda _key: Given(name, raw), site.reader.context) or Effect.parse(line)
    if effect.target is not None or effect.target_raw is not None:
        return effect
    told = (raw if raw.lower() == kind else kind) if name == "*" else name  # of all that the class has
    return replace(effect, target=told, target_raw=None if told else raw)


def instance_set(site: Site, known: Known) -> Value | None:
    """An object that is made or changed: of which domain it is says its class."""
    given, verb = role_of(site, known, "what"), Verb(known.roles["verb"])
    kind, name, raw = _target(_own(site, given, known.roles["what"]))
    table, held = site.argument("arguments|property|1"), dict[str, Value]()
    if verb is Verb.CREATE and kind and table is not None and isinstance(table.data, dict):
        held = {k: v for k, v in table.data.items() if isinstance(v, Value)}
        name = named(kind, ", ".join(f"{k}='{v.text}'" for k, v in held.items() if v.text))
    effect = _of_class(site, kind, name, raw)
    tags = (Tag.PERSISTENCE,) if verb is Verb.CREATE and effect.domain is Domain.SERVICES else ()
    effect = replace(
        effect,
        action=verb,
        destructive=None if verb is Verb.MODIFY else False,
        reversibility=Reversibility.UNKNOWN if verb is Verb.MODIFY else Reversibility.REVERSIBLE,
        tags=tags,
        breadth=Breadth.ONE,
    )
    site.reader.out.put(effect, site.span)
    _consumer(site, held)
    return given


def _consumer(site: Site, held: dict[str, Value]) -> None:
    """What an event's consumer has run when the event comes: its command line; a script is not read."""
    for key in ("commandlinetemplate", "executablepath"):
        if key in held:
            run_later(text_of(held[key]), None, place_of(site), site.reader.out)
            return
    if "scripttext" in held or "scriptfilename" in held:
        deferred = Condition.DEFERRED
        site.reader.out.add(Domain.CODE, Verb.EXECUTE, span=site.span, destructive=None, condition=deferred)
        site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, "the consumer's script")


def wmi(site: Site, known: Known) -> Value | None:
    """A method called by its name: Win32_Process.Create is a command line; what nobody described is not read."""
    method, args = role_of(site, known, "method"), role_of(site, known, "args")
    called = (method.text or "").lower() if method is not None else ""
    kind, name, _raw = _target(
        next(filter(None, (role_of(site, known, r) for r in ("object", "query", "class"))), None)
    )
    if kind == "stdregprov":
        return key_effects(site, called, by_name(called, args))
    if called == "create" and (kind == "win32_process" or kind not in alternatives(_TABLE, "instances")):
        line = None
        if args is not None and args.known:
            data = args.data
            found = data.get("commandline") if isinstance(data, dict) else args.members[0] if args.members else args
            line = found.text if isinstance(found, Value) else None
        words: list[str | None] = [*re.findall(r'(?:"[^"]*"?|[^\s"])+', line)] if line else [None]
        native(site, words)
        return None
    if called.startswith("get") and called != "get":
        return None
    library = site.reader.library
    told = library.call(f"{_KIND}{kind}.{called}") or library.methods.get(called)
    if told is not None and told.effects and told.open is None:  # what the object's own method does
        own = Given(name, name or "?")
        for effect in fill_all(told.effects, lambda key: own if key == "self" else None, site.reader.context):
            site.reader.out.put(unset(effect), site.span)
        return None
    site.reader.out.add(Domain.SERVICES, Verb.CONTROL, target_raw=site.raw, span=site.span, destructive=None)
    site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
    return None
