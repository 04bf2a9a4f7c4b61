"""Readers of PowerShell's objects and drives: members called by name, properties, WMI instances, aliases, documents."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.constants import fold
from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value
from classifiers.effects import Domain, OpaqueReason, Reversibility, Tag, Verb
from classifiers.gather import tagged
from classifiers.powershell.readers import file_effect
from classifiers.powershell.settings import set_later
from classifiers.windows.places import is_registry

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def drive(site: Site, known: Known) -> Value | None:
    """A drive's letter for a share of another machine, or for a folder or a key of this one."""
    root, name = role_of(site, known, "root"), role_of(site, known, "name")
    text = root.text if root is not None else None
    if text is not None and not text.startswith(("\\\\", "//")):
        label = name.text if name is not None else None
        site.reader.out.add(Domain.ENVIRONMENT, Verb.MODIFY, f"drive:{label or '*'}", span=site.span)
        return None
    raw = None if text else (root.raw if root is not None else "?")
    tags = (Tag.CREDENTIAL_ACCESS,)
    site.reader.out.add(Domain.NETWORK, Verb.EXECUTE, text, target_raw=raw, span=site.span, tags=tags)
    return None


def prop(site: Site, known: Known) -> Value | None:
    r"""A value of a registry key, ``key\name``; a property of a file is the file's."""
    path, name, verb = role_of(site, known, "path"), role_of(site, known, "name"), Verb(known.roles["verb"])
    if path is None:
        path = Value(raw=site.raw)
    value = role_of(site, known, "value")
    names = [name] if name is None else name.members
    for place in (_of_key(site, given) for given in path.members):
        for one in names:
            effect = file_effect(site, _value_of(place, one, verb), verb)
            registry = effect.domain is not Domain.FILESYSTEM  # an attribute of a file can be put back
            lossy = {Verb.DELETE: True, Verb.MODIFY: None if registry else False}.get(verb, False)
            scope = effect.path_scope if effect.domain is Domain.FILESYSTEM else None
            effect = replace(effect, destructive=lossy, reversibility=_LASTING[verb], path_scope=scope)
            site.reader.out.put(effect, site.span)
            if verb is Verb.MODIFY and is_registry(place.text or place.shape):
                set_later(site, f"{place.text or place.shape}\\{(one.text or '') if one is not None else ''}", value)
    return None


_LASTING = {
    Verb.READ: Reversibility.READ_ONLY,
    Verb.MODIFY: Reversibility.UNKNOWN,
    Verb.DELETE: Reversibility.IRREVERSIBLE,
}


def _of_key(site: Site, place: Value) -> Value:
    """A key named from the one that was gone to (``cd HKCU:``)."""
    folder, text = site.reader.context.cwd or "", place.text
    relative = text is not None and ":" not in text and not is_registry(text)
    return (
        replace(place, data="\\".join((folder.rstrip("\\"), text or ""))) if relative and is_registry(folder) else place
    )


def _value_of(place: Value, name: Value | None, verb: Verb) -> Value:
    if place.text is None or not is_registry(place.text):
        return place
    if name is None:
        return replace(place, data=f"{place.text}\\*") if verb is Verb.DELETE else place
    if name.text is None:
        return Value(raw=f"{place.text}\\{name.shape or name.raw}", shape=f"{place.text}\\{name.shape or name.raw}")
    return replace(place, data=f"{place.text}\\{name.text}")


def each(site: Site, known: Known) -> Value | None:
    """``… | ForEach-Object Delete``: a member of each object; a block is read where it is handed on."""
    member, before = role_of(site, known, "member"), site.argument("@input")
    if member is None or member.text is None or before is None:
        return None
    name, reader = member.text.lower(), site.reader
    made: list[Value] = []
    for item in before.members[:24]:
        if item.text is not None and (kind := reader.library.members.get(name)) is not None:
            made.append(fold(kind, item, [], item.raw))
            continue
        func = Value(ref=f"{item.ref or '?'}.{name}", raw=site.raw, taint=item.taint, data=item.data, shape=item.shape)
        known_one = reader.library.call(func.ref) or reader.library.methods.get(name)
        if known_one is not None:
            made.append(reader.call_value(func, list(site.args[1:]), site.span))
    return Value(known=True, data=made, raw=site.raw, taint=site.taint) if made else None


def written(site: Site, _known: Known) -> Value | None:
    """``$x.Save(file)`` of a document or a picture; an object that is saved by itself is not known."""
    path = site.argument("0")
    if path is None or path.function is not None:
        site.reader.out.add(Domain.UNKNOWN, Verb.MODIFY, span=site.span, destructive=None)
        site.reader.out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, site.span, site.raw)
    else:
        site.reader.out.put(tagged(file_effect(site, path, Verb.MODIFY), Tag.OVERWRITE), site.span)
    return None


def alias(site: Site, known: Known) -> Value | None:
    """``Set-Alias ls Remove-Item``: what the name means from here on."""
    name, value = role_of(site, known, "name"), role_of(site, known, "value")
    drive = re.fullmatch(r"alias:\\?(.+)", (name.text or "") if name is not None else "", re.IGNORECASE)
    if known.effects and drive is None:  # Set-Item and New-Item of another drive
        leaf = role_of(site, known, "leaf")
        joined = fold("windows_join", site.own, [v for v in (name, leaf) if v is not None], site.raw) if leaf else name
        if joined is not None and joined.text is not None and is_registry(joined.text):
            set_later(site, f"{joined.text}\\", value)  # the key's default value
        return joined if "leaf" in known.roles else None
    short = drive[1] if drive is not None else name.text if name is not None else None
    if short is None or value is None or value.text is None:
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
        return None
    if not known.effects:
        site.reader.out.add(Domain.ENVIRONMENT, Verb.MODIFY, f"alias:{short}", span=site.span)
    site.reader.renamed[short.lower()] = value.text.lower()
    return None
