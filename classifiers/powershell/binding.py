"""PowerShell's way of giving a cmdlet its arguments: a call as written in, the call as its table entry asks for it out.

A parameter may be called by an alias or by the beginning of its name (``-LP``, ``-Dest``), and a parameter given by
name is not counted among the positional ones (``Copy-Item -Path a b``: b is the second).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from classifiers.code.library import Known
from classifiers.code.values import Value
from classifiers.datafile import alternatives
from classifiers.effects import Domain, Effect, Verb
from classifiers.paths import located
from classifiers.windows.places import placed

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def bound(site: Site, known: Known) -> Site:
    """The call with the names and positions of the entry's own arguments."""
    if not site.words:
        return site
    _files(site, known)
    if not (known.names or known.effects):
        return site
    named = _named(site.named, known)
    args = list(site.args)
    for place in sorted(known.order):
        given = next((named[name] for name in sorted(known.order[place]) if name in named), None)
        if given is not None and place <= len(args):
            args.insert(place, given)
    return replace(site, args=args, named=named)


def _named(given: dict[str, Value], known: Known) -> dict[str, Value]:
    shorter = _parameters()
    out: dict[str, Value] = {}
    for key, value in given.items():
        name = key
        if key not in known.names and not (value.known and value.data is True):
            full = shorter.get(key, key)
            found = sorted((n for n in known.names if n.startswith(full)), key=len)
            name = found[0] if found else key
        out.setdefault(name, value)
    return out


def _files(site: Site, known: Known) -> None:
    """Files that a cmdlet is given by parameters its entry does not ask for."""
    for name, value in site.named.items():
        verb = _file_parameters().get(name)
        if verb is None or name in known.names:
            continue
        destructive = None if verb == "modify" else False
        raw = None if value.text else value.shape or value.raw or "?"
        effect = Effect(Domain.FILESYSTEM, Verb(verb), value.text or None, raw, destructive)
        effect = located(effect, site.reader.context) if value.text else effect
        site.reader.out.put(placed(effect), site.span)


@cache
def _file_parameters() -> dict[str, str]:
    return alternatives("powershell/tables/names.yaml", "files")


@cache
def _parameters() -> dict[str, str]:
    return alternatives("powershell/tables/names.yaml", "parameters")
