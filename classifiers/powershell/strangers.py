"""A PowerShell call nobody described: a native program, a .NET member, a method of an unknown object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classifiers.code.values import Value, unknown
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.powershell.readers import command_words, native

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def stranger(site: Site) -> Value:
    """Programs are read by the tables of Windows programs; the rest is opaque."""
    if site.words:
        _command(site)
    else:
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return unknown(site.raw, *site.args)


def _command(site: Site) -> None:
    words = command_words(site)
    words[0] = site.reader.renamed.get((words[0] or "").lower(), words[0])  # a name of the script's own
    name = words[0] or ""
    if "-" in name and "\\" not in name and "." not in name:  # a cmdlet, whose case says nothing
        words[0] = name.lower()
    if words[0] is not None and words[0].lower().endswith((".ps1", ".psm1")):
        site.reader.out.add(Domain.CODE, Verb.EXECUTE, words[0], span=site.span, destructive=None)
        site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, f"script {words[0]}")
    elif words[0] is not None and words[0].startswith("$"):
        site.reader.out.add(Domain.PROCESS, Verb.EXECUTE, target_raw=words[0], span=site.span, destructive=None)
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    else:
        native(site, words)
