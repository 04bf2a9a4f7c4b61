"""Files that PowerShell finds and hands on: one pattern stands for all of them.

In: Get-ChildItem, or a cmdlet that passes on what it is given. Out: a list whose one member is the pattern.
"""

from __future__ import annotations

import ntpath
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.constants import fold
from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value, constant
from classifiers.effects import Breadth, Reversibility, Verb
from classifiers.powershell.readers import file_effect

if TYPE_CHECKING:
    from classifiers.code.calls import Site

_WILD = re.compile(r"[*?]")


def listed(site: Site, known: Known) -> Value | None:
    r"""``Get-ChildItem C:\logs -Filter *.log -Recurse``: ``C:\logs\**\*.log``; each folder with each name asked for."""
    given, named = role_of(site, known, "path"), role_of(site, known, "filter")
    deep = any(key and "recurse".startswith(key) for key in site.named)
    made: list[Value] = []
    for place in given.members if given is not None else [constant(".")]:
        folder = place.text if place.text is not None else place.shape
        if folder is None:
            return None
        for name in named.members if named is not None else [None]:
            found = _pattern(folder, None if name is None else name.text or "*", deep=deep)
            one = constant(found) if place.text is not None else Value(raw=site.raw, shape=found)
            made.append(replace(one, ref=known.returns))
    return Value(known=True, data=made[:24], raw=site.raw, taint=site.taint)


def _pattern(folder: str, name: str | None, *, deep: bool) -> str:
    """What stands for all that is found in a folder, or by a pattern."""
    own, place = ntpath.basename(folder), ntpath.dirname(folder)
    if _WILD.search(own) and deep and name is None and not _WILD.search(place):  # *.log: of every folder below
        return "\\".join([*([place.rstrip("\\/")] if place else []), "**", own])
    if _WILD.search(own) or (name is None and re.search(r"\w\.\w+$", own)):
        return folder
    before = [folder.rstrip("\\/")] if folder not in {".", ".\\", "./"} else []
    return "\\".join([*before, *["**"] * deep, name or "*"])


def searched(site: Site, known: Known) -> Value | None:
    """Select-String: the files it is given, by name or as files found before it; text that is piped in is read."""
    path, before = role_of(site, known, "path"), site.argument("@input")
    handed = before.members if before is not None else []
    found = path.members if path is not None else [v for v in handed if v.ref == "[fileobject]"]
    for value in found[:24]:
        site.reader.out.put(file_effect(site, value, Verb.READ), site.span)
    return None


_WHOLE = frozenset({"qualifier", "noqualifier", "isabsolute"})
_PARTS = {"leaf": "windows_basename", "leafbase": "windows_stem", "extension": "windows_extension"}


def divided(site: Site, known: Known) -> Value | None:
    """Split-Path: the folder of a path, or with a switch another part of it."""
    given = role_of(site, known, "path")
    if given is None or given.text is None or not _WHOLE.isdisjoint(site.named):
        return None
    asked = next((kind for key, kind in _PARTS.items() if key in site.named), "windows_dirname")
    return fold(asked, given, [], site.raw)


def selected(site: Site, _known: Known) -> Value | None:
    """What Select-Object hands on: the objects, or one property of each."""
    before = site.argument("@input")
    name = next((v.text for key, v in site.named.items() if key.startswith("exp")), None)
    if before is None:
        return None
    if not any(key.startswith("exp") for key in site.named):
        return before
    kind = site.reader.library.members.get((name or "").lower())
    items = before.data if isinstance(before.data, list) else [before]
    if kind is None or not all(isinstance(item, Value) and item.text for item in items):
        return None
    return replace(before, data=[fold(kind, item, [], item.raw) for item in items])


_ASKED_NAME = re.compile(
    r"(?:\$_\.|\$PSItem\.|Where-Object\s+|where\s+|\?\s+|-Property\s+)(?:Process|Task|Service|SamAccount|Display)?Name\s+"
    r"-c?(?:eq|like)\s+['\"]?([\w.*?-]+)['\"]?\s*\}?\s*\)?$",
    re.IGNORECASE,
)


_ASKED_KIND = re.compile(
    r"(?:\$_\.|\$PSItem\.|Where-Object\s+|where\s+|\?\s+|-Property\s+)Extension\s+-c?eq\s+['\"](\.\w+)['\"]\s*\}?\s*\)?$",
    re.IGNORECASE,
)


def narrowed(site: Site, _known: Known) -> Value | None:
    """Where-Object: what is handed on; of all things of a kind those of one name, when only that is asked."""
    before = site.argument("@input")
    raw = site.raw.strip()
    if before is None or re.search(r"\s-(and|or|not)\s", raw, re.IGNORECASE):
        return before
    asked = _ASKED_NAME.search(raw)
    if before.text == "*":
        return replace(before, data=asked[1]) if asked is not None else before
    kind = _ASKED_KIND.search(raw)
    name = asked[1] if asked is not None else f"*{kind[1]}" if kind is not None else None
    if name is None or not isinstance(before.data, list):
        return before
    return replace(before, data=[_of_name(item, name) for item in before.members])


def _of_name(item: Value, name: str) -> Value:
    """Files that are found in a folder, those of one name."""
    if item.ref != "[fileobject]" or item.text is None or ntpath.basename(item.text) != "*":
        return item
    return replace(item, data=f"{item.text[:-1]}{name}")


def unpacked(site: Site, known: Known) -> Value | None:
    """Expand-Archive: into the folder it is given, else into one of the archive's own name."""
    into, archive = role_of(site, known, "into"), role_of(site, known, "archive")
    for one in archive.members if archive is not None else [Value(raw=site.raw)]:
        place = into or fold("windows_stem", one, [one], one.raw)
        effect = file_effect(site, place, Verb.MODIFY if "force" in site.named else Verb.CREATE)
        effect = replace(effect, breadth=Breadth.MANY, reversibility=Reversibility.REVERSIBLE)
        site.reader.out.put(effect, site.span)
    return None
