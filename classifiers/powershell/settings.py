"""Settings that name a program: what a registry value or a service that PowerShell writes will have run later.

In: the call that writes, its key and value. Out: what will run, ``deferred``; the write is told elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value
from classifiers.effects import Condition, Domain, OpaqueReason, Reversibility, Verb
from classifiers.powershell.readers import place_of, text_of
from classifiers.windows.later import LOGON, run_later, set_to_run

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def later(site: Site, known: Known) -> Value | None:
    """A call that sets a service's command line, or a registry value when it has a key."""
    value = role_of(site, known, "value")
    if "key" not in known.roles:
        if value is not None:
            run_later(_texts(value)[0], None, place_of(site), site.reader.out)
        return None
    key, name = role_of(site, known, "key"), role_of(site, known, "name")
    if key is not None:
        told = "" if "name" not in known.roles else "\\" + ((name.text or "") if name is not None else "")
        set_later(site, f"{key.text or key.shape or ''}{told}", value)
    return None


_PROFILE = re.compile(r"(^|[\\/])((microsoft\.)?(powershell_)?profile\.ps1)$|^\$profile", re.IGNORECASE)
_OVERWRITES = frozenset({"set-content", "__write__"})


def startup(site: Site, known: Known) -> Value | None:
    """Text put into a profile or the folder of what runs at logon is read, and is deferred; a file put there is not."""
    path, value = role_of(site, known, "path"), role_of(site, known, "value")
    places = path.members if path is not None else []
    if value is not None and value.known and value.data is None and site.func.ref in _OVERWRITES:  # ``$null > f``
        made = site.reader.out.effects
        for i in range(max(0, len(made) - len(places)), len(made)):
            made[i] = replace(made[i], destructive=True, reversibility=Reversibility.IRREVERSIBLE)
    for place in places:
        told = place.text or place.shape or place.raw
        logon = LOGON.search(told)
        if logon is None and not _PROFILE.search(told):
            continue
        surface = "powershell" if logon is None or told.lower().endswith(".ps1") else "cmd"
        batch = logon is None or told.lower().endswith((".bat", ".cmd", ".ps1"))
        if "copied" in known.roles or not batch:
            _unread_later(site)
        elif value is not None:
            _later_text(site, value, surface)
    return site.argument("@input") if site.func.ref == "tee-object" else None


def shortcut(site: Site, known: Known) -> Value | None:
    """``$s.TargetPath = …`` of a shortcut in the folder of what runs at logon: what will run."""
    value, own = role_of(site, known, "value"), site.own
    if value is not None and LOGON.search(own.text or own.shape or own.raw):
        run_later(text_of(value), None, place_of(site), site.reader.out)
    return None


def _unread_later(site: Site) -> None:
    deferred = Condition.DEFERRED
    site.reader.out.add(Domain.CODE, Verb.EXECUTE, span=site.span, destructive=None, condition=deferred)
    site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, "what a later session will run is not in the call")


def scheduled(site: Site, known: Known) -> Value | None:
    """A task or a job: what it runs is read where it is made; what stands for it and is not known is not."""
    given = [role_of(site, known, role) for role in ("action", "object", "block")]
    if any(v is not None and not v.taint and v.function is None and v.raw.startswith("$") for v in given):
        _unread_later(site)
    return None


def _later_text(site: Site, value: Value, surface: str) -> None:
    texts = [t for v in value.members if (t := v.text) is not None]
    if len(texts) != len(value.members):
        _unread_later(site)
    elif "".join(texts).strip():
        action = place_of(site).asked(surface, {"command": "\n".join(texts)})
        if action is None:
            site.reader.out.hide(OpaqueReason.DEPTH_CAP, site.span, site.raw)
        else:
            site.reader.out.absorb(action, span=site.span, condition=Condition.DEFERRED)


def set_later(site: Site, key: str, value: Value | None) -> None:
    """``key`` with the value's name is set to ``value``."""
    if value is not None:
        set_to_run(key, _texts(value), place_of(site), site.reader.out)


def _texts(value: Value) -> list[str | None]:
    return [text_of(v) for v in value.members] or [None]
