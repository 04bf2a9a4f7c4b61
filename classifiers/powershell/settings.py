"""Settings that name a program: what a registry value or a service that PowerShell writes will have run later.

In: the call that writes, its key and value. Out: what will run, ``deferred``; the write is told elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value
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


def set_later(site: Site, key: str, value: Value | None) -> None:
    """``key`` with the value's name is set to ``value``."""
    if value is not None:
        set_to_run(key, _texts(value), place_of(site), site.reader.out)


def _texts(value: Value) -> list[str | None]:
    return [text_of(v) for v in value.members] or [None]
