"""A setting that names a program or a library, to be run later: the table ``later.yaml`` says which.

In: a registry value (key and name as one text, what it is set to) or a service's command line. Out: what will run, each
effect ``deferred``; the write itself is the caller's. None is a value that is not known before the call runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from classifiers.clock import loading
from classifiers.datafile import table
from classifiers.effects import Condition, Domain, Effect, OpaqueReason, Verb
from classifiers.gather import Gather
from classifiers.windows.places import unset
from classifiers.windows.powershell_line import Place

_NUMBER = re.compile(r"(0x)?[\da-f]{1,8}|[\s0]*", re.IGNORECASE)  # an order to enable or to count, no program


@dataclass(frozen=True, slots=True)
class Setting:
    """What a value of such a setting is."""

    match: re.Pattern[str]
    library: bool
    parts: str = ""  # characters that divide several programs in one value


LOGON = re.compile(r"[\\/]start menu[\\/]programs[\\/]startup\b(.*)$", re.IGNORECASE)  # what lies there runs at logon


def put_to_run(path: str, text: str | None, place: Place, out: Gather) -> None:
    """What is put into the folder of what runs at logon: a batch file's text is read, another file is not."""
    if text is not None and path.lower().endswith((".bat", ".cmd")):
        action = place.asked("cmd", {"command": text}) if text.strip() else None
        if action is not None:
            out.absorb(action, span=place.span, condition=Condition.DEFERRED)
        return
    out.add(Domain.CODE, Verb.EXECUTE, span=place.span, destructive=None, condition=Condition.DEFERRED)
    out.hide(OpaqueReason.PAYLOAD_UNREADABLE, place.span, "what a later session will run is not in the call")


def set_to_run(key: str, values: Sequence[str | None], place: Place, out: Gather) -> None:
    r"""Add what the registry value ``key\name`` will run when its text is one of ``values``."""
    key = re.sub(r"[\\/]+", r"\\", key.replace(":", ""))
    setting = next((s for s in _settings() if s.match.search(key)), None)
    for value in values if setting is not None else ():
        run_later(value, setting, place, out)


def run_later(value: str | None, setting: Setting | None, place: Place, out: Gather) -> None:
    """Add what the text of such a setting will run; without ``setting`` it is one command line."""
    library = setting is not None and setting.library
    if value is None:
        domain = Domain.CODE if library else Domain.PROCESS
        deferred = Condition.DEFERRED
        out.add(domain, Verb.EXECUTE, target_raw="?", span=place.span, destructive=None, condition=deferred)
        out.hide(OpaqueReason.DYNAMIC_COMMAND, place.span, "what will run is not known before the call runs")
        return
    marks = re.escape("\0" + (setting.parts if setting is not None else ""))
    for part in re.split(rf"[{marks}]|\\0", value) if setting is not None else [value]:
        text = part.strip()
        if not text or _NUMBER.fullmatch(text) or _pattern("usual").search(text):
            continue
        if library or (_pattern("library").search(text) and not re.search(r"\s[/-]|\.exe\b|,", text.lower())):
            _loaded(text.strip("\"'"), place, out)
        else:
            _command(text, place, out)


def _loaded(path: str, place: Place, out: Gather) -> None:
    effect = Effect(Domain.CODE, Verb.EXECUTE, path, destructive=None, condition=Condition.DEFERRED)
    out.put(unset(effect), place.span)
    out.hide(OpaqueReason.PAYLOAD_UNREADABLE, place.span, path)


def _command(text: str, place: Place, out: Gather) -> None:
    found = _pattern("program").match(text)
    if found is not None and " " in found[1]:
        text = f'"{found[1]}"{text[found.end() :]}'
    action = place.asked("cmd", {"command": text})
    if action is None:
        out.hide(OpaqueReason.DEPTH_CAP, place.span, text[:120])
        return
    out.absorb(action, span=place.span, condition=Condition.DEFERRED)


@cache
@loading()
def _settings() -> tuple[Setting, ...]:
    rows = table("windows/later.yaml")["values"]
    return tuple(
        Setting(re.compile(r["match"], re.IGNORECASE), r["gives"] == "library", r.get("parts", "")) for r in rows
    )


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(table("windows/later.yaml")[name], re.IGNORECASE)
