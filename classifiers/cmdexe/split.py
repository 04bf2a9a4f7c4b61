"""Cut cmd.exe text into simple commands, the way its parser does: ``&``, ``&&``, ``||``, ``|``, lines, ``( )``, ``^``.

In: text. Out: ``Command``: the text of one command without redirections, its redirections, how it is reached.
Quotes hide everything but a line end; ``^`` hides the next character and joins lines. Source: cmd.exe /? and
Microsoft Learn, "Command shell overview".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from classifiers.effects import Condition


@dataclass(frozen=True, slots=True)
class Redirect:
    kind: str  # > | >> | <
    path: str


@dataclass(frozen=True, slots=True)
class Command:
    text: str
    start: int
    end: int
    condition: Condition = Condition.ALWAYS
    redirects: tuple[Redirect, ...] = ()
    piped: bool = False  # its input is the command before
    depth: int = 0  # parentheses it stands in


_HIDDEN = str.maketrans({"<": "\ue001", ">": "\ue002"})  # behind a caret they redirect nothing
_SHOWN = str.maketrans({"\ue001": "<", "\ue002": ">"})
_CONDITIONS = {"&&": Condition.ON_SUCCESS, "||": Condition.ON_FAILURE}
_TO = r"(>>|>|<)\s*(&\s*\d|\"[^\"]*\"[^\s&|<>()\"]*|[^\s&|<>()\"]+(?:\"[^\"]*\")?)"
_REDIRECT = re.compile(rf"(?:(?<=\s)|^|(?<=[^\d\s])|(?<=&\d))(\d?){_TO}")
_FIRST = re.compile(rf"\s*@?(?:\d?{_TO}\s*)*")  # redirections before a group
_REMARK = re.compile(r"\s*@?rem\s+[^\s&|<>]+\s", re.IGNORECASE)  # cmd.exe reads one word of it, then skips the line
_LABEL = re.compile(r"^\s*(:|rem\b|@?rem\b)", re.IGNORECASE)


def commands(text: str) -> Iterator[Command]:
    before = "\n"
    for start, end, joined, depth in _pieces(text):
        raw = joined.strip().lstrip("@").strip()
        if raw and not _LABEL.match(raw):
            plain, redirects = _redirects(raw)
            condition = _CONDITIONS.get(before, Condition.ALWAYS)
            yield Command(plain.translate(_SHOWN), start, end, condition, redirects, before == "|", depth)
        before = _mark_at(text, end)


def _pieces(text: str) -> Iterator[tuple[int, int, str, int]]:
    """(start, end, text with carets resolved, parentheses around) of each piece between separators."""
    start, i, quoted, depth = 0, 0, False, 0
    out: list[str] = []
    while i < len(text):
        char = text[i]
        if char == "^" and not quoted and i + 1 < len(text):
            skip = 3 if text[i + 1 : i + 3] == "\r\n" else 2
            if text[i + 1] not in "\r\n":
                out.append(text[i + 1].translate(_HIDDEN))
            i += skip
            continue
        if char == '"':
            quoted = not quoted
        opens = char == "(" and not quoted and _opens_group(out)
        if char in "&|" and _REMARK.match("".join(out[:80])):  # the rest of the line is the remark's
            out.append(char)
            i += 1
            continue
        closes = char == ")" and not quoted and depth > 0 and not _in_set(out)
        if opens or closes or char == "\n" or (char in "&|" and not quoted and not _is_handle(text, i)):
            yield start, i, "".join(out), depth
            quoted, out = False, []
            depth += opens - closes
            i += 2 if text[i : i + 2] in _CONDITIONS else 1
            start = i
            continue
        out.append(char)
        i += 1
    yield start, len(text), "".join(out), depth


def _is_handle(text: str, i: int) -> bool:
    """The ``&`` of ``2>&1``."""
    return text[i] == "&" and i > 0 and text[i - 1] in "<>"


def _opens_group(out: list[str]) -> bool:
    """At the start of a command, after do or else, or after a test."""
    start, end = "".join(out[:20]).strip().lower(), "".join(out[-20:]).rstrip().lower()
    return (
        _FIRST.fullmatch("".join(out[-300:])) is not None
        or re.match(r"@?if\b", start) is not None
        or re.search(r"(\bdo|\belse|@)$", end) is not None
    )


def _in_set(out: list[str]) -> bool:
    """The parenthesis that closes ``for … in ( … )``."""
    return re.search(r"\bin\s*\([^)]*$", "".join(out[-1000:]).lower()) is not None


def _mark_at(text: str, end: int) -> str:
    pair = text[end : end + 2]
    return pair if pair in _CONDITIONS else text[end : end + 1] or "\n"


def _redirects(raw: str) -> tuple[str, tuple[Redirect, ...]]:
    found: list[Redirect] = []

    def take(match: re.Match[str]) -> str:
        if _inside_quotes(raw, match.start(2)):
            return match.group()
        path, after = match.group(3), " "
        if path.endswith("'") and raw[match.end() :].lstrip().startswith(")"):  # the end of a command in quotes, for /f
            path, after = path[:-1], " '"
        if not path.startswith("&"):
            found.append(Redirect(match.group(2), path.replace('"', "")))
        return after

    plain = _REDIRECT.sub(take, raw) if re.search(r"[<>]", raw) else raw
    return plain.strip(), tuple(found)


def _inside_quotes(text: str, at: int) -> bool:
    return text.count('"', 0, at) % 2 == 1


_ESCAPED = re.compile(r"[\s=(,]\"?\\\"(?=[^\s\"])")  # where a folder's last backslash cannot be


def words(text: str) -> list[str]:
    """A command's words as a program gets them: quotes removed, spaces, commas and semicolons outside quotes divide."""
    if _ESCAPED.search(text) is not None:  # a program's own reading: \" is a quote that stays
        found = re.findall(r'(?:"(?:\\"|[^"])*"?|\\"|[^\s"])+', text)
        return [w.replace('\\"', "\0").replace('"', "").replace("\0", '"') for w in found]
    found = re.findall(r'(?:"[^"]*"?|[^\s"])+', text)
    return [w.replace('"', "") for w in found]
