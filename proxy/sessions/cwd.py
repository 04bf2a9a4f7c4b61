"""Where a session's relative paths stand, and who said so.

In: what hooks, turn metadata, the launcher, the agent's own prompt and the configuration state, and the ``cd`` of
earlier calls. Out: ``Cwd``. Sources are ranked (09-contracts 25); a weaker one never replaces a stronger one, and a
prompt that only repeats itself does not undo a later ``cd``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from classifiers.strict_yaml import load

_TABLE = Path(__file__).with_name("prompts.yaml")
_RANK = {"hook": 5, "turn_metadata": 4, "launcher": 3, "prompt": 2, "config": 1}
MAX_TEXT = 200_000  # characters of prompt looked at: environment blocks stand at the beginning or the end of a prompt
MAX_PATH = 4096


@dataclass(slots=True)
class Cwd:
    """``value`` None: unknown. ``stated`` remembers what each source said last."""

    value: str | None = None
    source: str | None = None
    stated: dict[str, str] = field(default_factory=dict)

    def state(self, value: str | None, source: str) -> bool:
        """A source says where it stands. True when the session's cwd changed."""
        if not value or not value.startswith(("/", "~")) or len(value) > MAX_PATH or self.stated.get(source) == value:
            return False
        self.stated[source] = value
        strongest = max((_RANK.get(s, 0) for s in self.stated), default=0)
        if _RANK.get(source, 0) < strongest:
            return False
        changed = self.value != value
        self.value, self.source = value, source
        return changed

    def moved(self, value: str) -> bool:
        """A shell that keeps state went elsewhere."""
        changed = self.value != value
        self.value, self.source = value, "cd"
        return changed

    def to_json(self) -> dict[str, str | None]:
        return {"value": self.value, "source": self.source}


def all_stated_in_prompt(request: Any) -> dict[str, str]:
    """By agent, what ``stated_in_prompt`` says: for a request that is let go before it is known whose it is."""
    found = {agent: stated_in_prompt(agent, request) for agent in dict.fromkeys(m["agent"] for m in _marks())}
    return {agent: place for agent, place in found.items() if place is not None}


def stated_in_prompt(agent: str | None, request: Any) -> str | None:
    """The directory an agent's environment block names, or None. ``request`` is the parsed request body."""
    marks = [m for m in _marks() if m["agent"] == agent]
    if not marks or not isinstance(request, dict):
        return None
    for text in _texts(request):
        for mark in marks:
            _, found, rest = text.partition(mark["before"])
            if found:
                value = rest[:MAX_PATH].partition(mark["until"])[0].strip()
                if value.startswith("/"):
                    return value
    return None


def _texts(request: dict[str, Any]) -> Iterator[str]:
    """System text first, then the first messages, whatever the API calls them; bounded."""
    left = MAX_TEXT
    places: list[Any] = [request.get(k) for k in ("system", "instructions", "systemInstruction", "system_instruction")]
    for key in ("messages", "input", "contents"):
        value = request.get(key)
        places += value[:4] if isinstance(value, list) else [value]
    for place in places:
        for text in _strings(place, 6):
            yield text[:left]
            left -= len(text)
            if left <= 0:
                return


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value[:40]:
            yield from _strings(item, depth - 1)
    elif isinstance(value, dict) and depth:
        for key in ("text", "content", "parts", "input"):
            if key in value:
                yield from _strings(value[key], depth - 1)


@cache
def _marks() -> tuple[dict[str, str], ...]:
    return tuple(load(_TABLE.read_text(encoding="utf-8"), _TABLE.name).value["marks"])
