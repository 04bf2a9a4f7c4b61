"""Actions a harness reads out of the model's text: response frames in, one possible call per block found out.

Opt-in per agent (text_actions.yaml): the text is the model's, whether anything acts on it is the harness's secret, so
these calls are marked ``text_action`` and their effects are possible, not definite. Bounded: TEXT_CAP characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from classifiers.call import Advertised, ExecutedBy, ObservedAt, ToolCall
from classifiers.strict_yaml import load
from proxy.events import CallClosed, Event
from proxy.exchange import Ending, Side
from proxy.wire import Frame
from proxy.wire.json_text import dump

KIND = "text_action"
TEXT_CAP = 1 << 20
_FILE = Path(__file__).with_name("text_actions.yaml")

Json = dict[str, Any]
Found = tuple[Json, bool]  # arguments, whether the block was closed


@cache
def _table() -> Json:
    value = load(_FILE.read_text(encoding="utf-8"), _FILE.name).value
    assert isinstance(value, dict)
    return value


def profiles() -> tuple[str, ...]:
    return tuple(_table()["profiles"])


def patterns_of(profile: str | None) -> tuple[str, ...]:
    """The pattern names of a profile; none for None or a name the table does not have."""
    return tuple(_table()["profiles"].get(profile, ())) if profile else ()


def coverage(agent: str | None, profile: str | None) -> str | None:
    """What a session's summary says of its text: ``read``, ``not_read`` of an agent that acts on it, else nothing."""
    if patterns_of(profile):
        return "read"
    return "not_read" if agent in _table()["act_in_text"] else None


@dataclass(slots=True)
class TextReader:
    patterns: tuple[str, ...]
    _parts: list[str] = field(default_factory=list)
    _size: int = 0

    def feed(self, frame: Frame) -> None:
        if frame.side is Side.REQUEST or not isinstance(frame.data, dict):
            return
        for piece in texts_in(frame.data):
            if self._size < TEXT_CAP:
                self._parts.append(piece)
                self._size += len(piece)

    def close(self, ending: Ending) -> Iterator[Event]:
        """A block that the text's end leaves open counts as closed only when the response came to its end."""
        text, self._parts = "".join(self._parts), []
        place = 0
        for name in self.patterns:
            pattern = _table()["patterns"][name]
            for arguments, closed in _finder(pattern)(text, pattern):
                yield CallClosed(
                    _call(name, pattern["tool"], arguments, place, closed=closed and ending is Ending.COMPLETE)
                )
                place += 1


def _call(name: str, tool: str, arguments: Json, place: int, *, closed: bool) -> ToolCall:
    return ToolCall(
        name=tool,
        arguments=arguments,
        arguments_text=dump(arguments).decode(),
        arguments_valid=True,
        kind=KIND,
        executed_by=ExecutedBy.CLIENT,
        advertised=Advertised.NOT_NEEDED,
        complete=closed,
        ordinal=place,
        observed_at=ObservedAt.TEXT,
        extra={"pattern": name},
    )


# the model's text, wherever the API puts it


def texts_in(data: Json) -> Iterator[str]:
    """Pieces of the answer's text in one frame, streamed or whole, of the common APIs; the first choice only."""
    for where in _PLACES:
        found = [piece for piece in _at(data, where) if isinstance(piece, str)]
        if found:
            yield from found
            return


# Paths by API: a key, or "*" for every item of a list, or "0" for its first.
_PLACES: tuple[tuple[str, ...], ...] = (
    ("choices", "0", "delta", "content"),
    ("choices", "0", "message", "content"),
    ("choices", "0", "message", "content", "*", "text"),
    ("message", "content"),
    ("content", "*", "text"),
    ("output", "*", "content", "*", "text"),
    ("candidates", "0", "content", "parts", "*", "text"),
    ("delta", "text"),
    ("delta",),
)


def _at(value: Any, path: tuple[str, ...]) -> Iterable[Any]:
    if not path:
        return (value,)
    step, rest = path[0], path[1:]
    if step in ("*", "0"):
        items = value if isinstance(value, list) else []
        return [found for item in (items if step == "*" else items[:1]) for found in _at(item, rest)]
    if not isinstance(value, dict) or step not in value:
        return ()
    if path == ("delta",) and value.get("type") not in _TEXT_DELTAS:
        return ()  # arguments of tool calls are deltas too
    return _at(value[step], rest)


_TEXT_DELTAS = frozenset({"response.output_text.delta", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"})


# blocks


def _finder(pattern: Json) -> Callable[[str, Json], Iterator[Found]]:
    return _fences if "fence" in pattern else _elements if "tag" in pattern else _edits


def _fences(text: str, pattern: Json) -> Iterator[Found]:
    """Fenced blocks whose language is one of ``fence``."""
    inside: list[str] | None = None
    wanted = False
    for line in text.split("\n"):
        mark = line.strip()
        if inside is None and mark.startswith("```"):
            inside, wanted = [], (mark[3:].split() or [""])[0].lower() in pattern["fence"]
        elif inside is not None and mark == "```":
            if wanted:
                yield {pattern["argument"]: "\n".join(inside)}, True
            inside = None
        elif inside is not None:
            inside.append(line)
    if inside is not None and wanted:
        yield {pattern["argument"]: "\n".join(inside)}, False


def _elements(text: str, pattern: Json) -> Iterator[Found]:
    """Elements of the tag, not nested: their inner elements, or their whole text."""
    at = 0
    while (found := _element(text, pattern["tag"], at)) is not None:
        body, closed, at = found
        if "argument" in pattern:
            yield {pattern["argument"]: body.strip("\n")}, closed
            continue
        inner = {name: _element(body, name, 0) for name in pattern["inner"]}
        yield {name: part[0].strip("\n") for name, part in inner.items() if part is not None}, closed


def _element(text: str, tag: str, at: int) -> tuple[str, bool, int] | None:
    start = text.find(f"<{tag}>", at)
    if start < 0:
        return None
    start += len(tag) + 2
    end = text.find(f"</{tag}>", start)
    return (text[start:end], True, end + len(tag) + 3) if end >= 0 else (text[start:], False, len(text))


def _edits(text: str, pattern: Json) -> Iterator[Found]:  # noqa: ARG001 - the finders' common signature
    """Search/replace blocks; the file is named by the last line above that is neither empty nor a fence."""
    path, part = "", ""
    old: list[str] = []
    new: list[str] = []
    for line in text.split("\n"):
        if line.startswith("<<<<<<< SEARCH"):
            part, old, new = "old", [], []
        elif part == "old" and line.startswith("======="):
            part = "new"
        elif part == "new" and line.startswith(">>>>>>> REPLACE"):
            yield {"path": path, "old_str": "\n".join(old), "new_str": "\n".join(new)}, True
            part = ""
        elif part:
            (old if part == "old" else new).append(line)
        elif line.strip() and not line.lstrip().startswith("```"):
            path = line.strip()
    if part:
        yield {"path": path, "old_str": "\n".join(old), "new_str": "\n".join(new)}, False
