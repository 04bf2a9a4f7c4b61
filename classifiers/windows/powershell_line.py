"""``powershell.exe`` with its switches: find the script it is given, decoded when it is encoded, and have it read.

Source: Microsoft Learn, about_PowerShell_exe (switches may be shortened to any unambiguous prefix).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from classifiers.context import Context
from classifiers.effects import Action, Certainty, Domain, OpaqueReason, Verb
from classifiers.gather import Gather, decoded
from classifiers.surface import CallParts, surface_named

MAX_DEPTH = 6
_TAKES_VALUE = (
    *("executionpolicy", "ex", "ep", "windowstyle", "version", "inputformat", "outputformat", "psconsolefile"),
    *("configurationname", "workingdirectory", "wd", "settingsfile", "custompipename"),
)
_FLAGS = (
    "noprofile",
    "nop",
    "nologo",
    "noninteractive",
    "noni",
    "noexit",
    "sta",
    "mta",
    "login",
    "help",
    "interactive",
)
_ASKS = frozenset({"-help", "-?", "/?", "-version", "--version", "-h", "--help"})
_ENCODED = ("encodedcommand", "ec")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command stands: its span, how deep, and the context it runs in."""

    span: tuple[int, int]
    context: Context
    depth: int = 0

    def asked(self, name: str, values: Mapping[str, Any]) -> Action | None:
        """Another surface's reading of what the command hands on; None when it is none of its own, or too deep."""
        reader = surface_named(name) if self.depth < MAX_DEPTH else None
        parts = CallParts(name, values, depth=self.depth + 1)
        return None if reader is None else reader.classify(parts, self.context)


def run_powershell(words: Sequence[str | None], place: Place, out: Gather) -> None:
    """Add the effects of ``powershell <words>``."""
    if len(words) == 2 and (words[1] or "").lower() in _ASKS:
        return
    i = 1
    while i < len(words):
        word = words[i]
        if word is None or not re.match(r"^[-/\u2013\u2014\u2015]\w", word):
            break
        name = word[1:].partition(":")[0].lower()
        if _is(name, _ENCODED):
            _encoded(words[i + 1] if i + 1 < len(words) else None, place, out)
            return
        if _is(name, ("file",)):
            _file(words[i + 1] if i + 1 < len(words) else None, place, out)
            return
        if _is(name, ("command",)) or name == "commandwithargs":
            i += 1
            break
        if _is(name, _FLAGS):
            i += 1
        elif _is(name, _TAKES_VALUE):
            i += 1 if ":" in word else 2
        else:
            break
    _script(list(words[i:]), place, out)


def _is(name: str, full: tuple[str, ...]) -> bool:
    return any(f.startswith(name) for f in full)


def _script(words: list[str | None], place: Place, out: Gather) -> None:
    if not words:
        out.add(Domain.PROCESS, Verb.EXECUTE, "powershell", span=place.span, destructive=None)
    elif words == ["-"] or None in words:
        out.add(Domain.CODE, Verb.EXECUTE, span=place.span, destructive=None)
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, place.span, "the script is not in the call")
    else:
        _read(" ".join(w for w in words if w is not None), place, out, None)


def _encoded(word: str | None, place: Place, out: Gather) -> None:
    """Base64 of UTF-16LE text."""
    try:
        text = base64.b64decode((word or "").strip("\"'"), validate=True).decode("utf-16-le")
    except (binascii.Error, ValueError, UnicodeError):
        text = ""
    if not text.strip():
        out.add(Domain.CODE, Verb.EXECUTE, span=place.span, destructive=None)
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, place.span, "the encoded command does not decode")
        return
    _read(text, place, out, Certainty.DECODED)


def _file(word: str | None, place: Place, out: Gather) -> None:
    raw = None if word else "?"
    out.add(Domain.CODE, Verb.EXECUTE, word or None, target_raw=raw, span=place.span, destructive=None)
    out.hide(OpaqueReason.PAYLOAD_UNREADABLE, place.span, f"script {word or ''}")


def _read(text: str, place: Place, out: Gather, certainty: Certainty | None) -> None:
    action = place.asked("powershell", {"command": text})
    if action is None:
        out.hide(OpaqueReason.DEPTH_CAP, place.span, text[:120])
        return
    made = out.absorb(action, via=("powershell",), span=place.span, certainty=certainty)
    if certainty is Certainty.DECODED and made:
        decoded(out, min(made))
