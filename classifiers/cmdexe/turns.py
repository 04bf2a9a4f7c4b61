"""What a variable of cmd.exe stands for: the turns of a ``for``, a slice of a value, a text replaced in it.

In: the words of the loop or of the variable as written. Out: texts; None where it is not known before the text runs.
"""

from __future__ import annotations

import ntpath
import re
from dataclasses import replace

from classifiers.cmdexe.split import Command, words
from classifiers.effects import Condition

MAX_TURNS = 24  # of nested loops over words
_SLICE = re.compile(r"~(-?\d+)?(?:,(-?\d+)?)?")
_COUNTED = re.compile(r"\s*(-?\d+)\s*[, ]\s*(-?\d+)\s*[, ]\s*(-?\d+)\s*")
_LISTED = re.compile(r"['`]\s*dir\b((?=.*\s/b)[^|&>%]*?)(?:\s+2\^?>nul)?\s*['`]$", re.IGNORECASE)


def part_of(text: str, part: str, written: str) -> str:
    """``%X:~1,-2%``: a slice of the value; ``%X:old=new%``: it with a text replaced; else as it is written."""
    cut = _SLICE.fullmatch(part)
    if cut is not None:
        start = int(cut[1] or 0)
        rest = text[start:] if start >= 0 or -start < len(text) else text
        return rest if cut[2] is None else rest[: int(cut[2])]
    old, mark, new = part.partition("=")
    if not mark or not old or old.startswith("*"):
        return written
    return re.sub(re.escape(old), lambda _m: new, text, flags=re.IGNORECASE)


def members_of(members: str, flags: str, root: str) -> list[str | None]:
    """What the variable stands for, turn by turn: a word, or the pattern of the files found; None: not known."""
    listed = _LISTED.match(members) if "/f" in flags else None
    if listed is not None:
        given, deep = (
            next((w for w in words(listed.group(1)) if not w.startswith("/")), "*"),
            "/s" in listed.group(1).lower(),
        )
        if not re.search(r"[*?]|\w\.\w+$", given):  # a folder: what is in it
            given = f"{given.rstrip(chr(92))}{chr(92)}**{chr(92)}*" if deep else "*"
        return [given if deep else ntpath.basename(given)]
    if "/l" in flags and (counted := _COUNTED.fullmatch(members)) is not None:
        start, step, end = (int(n) for n in counted.groups())
        numbers = range(start, end + (1 if step > 0 else -1), step) if step else ()
        return [str(n) for n in numbers] if 0 < len(numbers) <= MAX_TURNS else [None]
    if not members or "%" in members or "/f" in flags or "/l" in flags:
        return [None]
    found: list[str | None] = [w.strip('"') for w in re.findall(r'"[^"]*"|[^\s,;"]+', members)][:24]
    if "/r" not in flags:
        return found
    folder = root.strip('"')
    return [None if "%" in folder else f"{folder}{chr(92) if folder else ''}**\\{word}" for word in found]


def turn(command: Command, name: str, value: str | None) -> Command:
    condition = Condition.LOOP if command.condition is Condition.ALWAYS else command.condition
    if value is None:
        return replace(command, condition=condition)
    redirects = tuple(replace(r, path=put_in(r.path, name, value)) for r in command.redirects)
    return replace(command, text=put_in(command.text, name, value), redirects=redirects, condition=condition)


def put_in(body: str, name: str, value: str) -> str:
    """``%f`` and its parts (``%~nxf``: name and extension), as far as a pattern has them."""
    stem, extension = ntpath.splitext(ntpath.basename(value))
    letter = re.escape(name[-1])

    def part(found: re.Match[str]) -> str:
        asked = found.group(1).lower()
        if "n" in asked or "x" in asked:
            folder = ntpath.dirname(value) if "p" in asked or "d" in asked else ""
            own = (stem if "n" in asked else "") + (extension if "x" in asked else "")
            return ntpath.join(folder, own) if folder else own
        return (ntpath.dirname(value) or ".") + "\\" if "p" in asked or "d" in asked else value

    body = re.sub(rf"%%?~([fdpnxs]+){letter}", part, body)
    return re.sub(rf"%%?{letter}(?!\w*%)|{re.escape(name)}", lambda _m: value, body)
