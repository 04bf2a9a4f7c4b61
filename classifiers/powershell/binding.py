"""PowerShell's way of giving a cmdlet its arguments: a call as written in, the call as its table entry asks for it out.

A parameter may be called by an alias or by the beginning of its name (``-LP``, ``-Dest``), and a parameter given by
name is not counted among the positional ones (``Copy-Item -Path a b``: b is the second).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from classifiers.code.library import Known
from classifiers.code.values import Value
from classifiers.datafile import alternatives, table
from classifiers.effects import Domain, Verb
from classifiers.powershell.readers import file_effect

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def bound(site: Site, known: Known) -> Site:
    """The call with the names and positions of the entry's own arguments."""
    if not site.words:
        return site
    asked = site.named.get("filterhashtable")
    splats = [v for v in (*site.args, asked) if v is not None and isinstance(v.data, dict)]  # ``Copy-Item @options``
    if splats:
        options = {k: v for splat in splats for k, v in splat.data.items() if isinstance(v, Value)}
        site = replace(site, args=[v for v in site.args if v not in splats], named={**options, **site.named})
    named = _named(site.named, known)
    _files(site, known, named)
    _machine(site, known, named)
    if not (known.names or known.effects):
        return site
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


_FILE = re.compile(r"(file|path|folder|directory|destination)$|^(out|output)(file)?path$|^(in|out|input|output)file")
_LOCAL = re.compile(r"[A-Za-z]:[\\/]|\.{1,2}[\\/]|[\\/~]|\$|[\w.-]+[\\/]|[\w-]+\.\w{2,5}$")
_OUT = re.compile(r"^(out|dest|export|save|backup|report|log)")
_OUTPUT = re.compile(
    r"(out|output|export|log)(file)?(path)?$|(out|output|export|log)file(name)?$"
)  # whatever it is called
_NAMES_ONLY = frozenset({"new", "add", "set", "remove", "enable", "disable"})  # a path they make known
_WRITES = re.compile(r"^(export|save|backup|out)-|report$")


def _files(site: Site, known: Known, named: dict[str, Value]) -> None:
    """Files that a cmdlet is given by parameters its entry does not ask for (``Get-GPOReport -Path r.html``)."""
    verb = site.func.ref.partition("-")[0]
    for name, value in named.items():
        text = value.text if value.text is not None else value.shape or ""
        if name in known.names or _FILE.search(name) is None or name in _no_files():
            continue
        if _LOCAL.match(text) is None and (_OUTPUT.match(name) is None or not text):
            continue
        if verb in {"test", "split", "join", "resolve"} or (name == "path" and "=" in text):  # OU=… of a directory
            continue
        if verb in _NAMES_ONLY and not _OUT.search(name) and not name.endswith("file") and name != "filepath":
            continue
        out = _OUT.search(name) is not None or _WRITES.search(site.func.ref) is not None
        effect = file_effect(site, value, Verb.MODIFY if out else Verb.READ)
        site.reader.out.put(effect, site.span)


_HERE = frozenset({"localhost", ".", "127.0.0.1", "$env:computername", "$(hostname)"})


def _machine(site: Site, known: Known, named: dict[str, Value]) -> None:
    """``Stop-Computer -ComputerName web1``: done on another machine; the entries of remoting tell it themselves."""
    given = next((v for k, v in named.items() if len(k) > 3 and "computername".startswith(k)), None)
    verb = site.func.ref.partition("-")[0]
    if given is None or "computername" in known.names or verb in {"get", "test", "wait", "find", "search", "read"}:
        return
    for one in given.members[:24]:
        raw = one.shape or one.raw
        if (one.text or raw).lower() not in _HERE:
            told = None if one.text else raw or "?"
            site.reader.out.add(Domain.NETWORK, Verb.EXECUTE, one.text, target_raw=told, span=site.span)


@cache
def _no_files() -> frozenset[str]:
    return frozenset(table("powershell/tables/names.yaml")["places"])


@cache
def _parameters() -> dict[str, str]:
    return alternatives("powershell/tables/names.yaml", "parameters")
