"""Settings that name a program: what a registry value or a service that PowerShell writes will have run later.

In: the call that writes, its key and value. Out: what will run, ``deferred``; the write is told elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value
from classifiers.effects import Condition, Domain, OpaqueReason, Verb
from classifiers.powershell.readers import place_of, text_of
from classifiers.windows.later import run_later, set_to_run

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


_STARTUP = re.compile(r"(^|[\\/])((microsoft\.)?(powershell_)?profile\.ps1)$|^\$profile", re.IGNORECASE)


def startup(site: Site, known: Known) -> Value | None:
    """Text put into a profile is run by every later session: it is read, and is deferred."""
    path, value = role_of(site, known, "path"), role_of(site, known, "value")
    places = path.members if path is not None else []
    if any(_STARTUP.search(p.text or p.shape or p.raw) for p in places):
        _later_text(site, value)
    if site.func.ref != "tee-object":
        return None
    return site.argument("@input")


def _later_text(site: Site, value: Value | None) -> None:
    out = site.reader.out
    texts = [v.text for v in value.members] if value is not None else []
    if None in texts or not texts:
        if value is not None:
            out.add(Domain.CODE, Verb.EXECUTE, span=site.span, destructive=None, condition=Condition.DEFERRED)
            out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, "what a later session will run is not in the call")
        return
    if not "".join(t or "" for t in texts).strip():
        return
    action = place_of(site).asked("powershell", {"command": "\n".join(t for t in texts if t is not None)})
    if action is None:
        out.hide(OpaqueReason.DEPTH_CAP, site.span, site.raw)
        return
    out.absorb(action, span=site.span, condition=Condition.DEFERRED)


def set_later(site: Site, key: str, value: Value | None) -> None:
    """``key`` with the value's name is set to ``value``."""
    if value is not None:
        set_to_run(key, _texts(value), place_of(site), site.reader.out)


def _texts(value: Value) -> list[str | None]:
    return [text_of(v) for v in value.members] or [None]
