"""How a record names the file of a rule or an objective, and where that file lies.

In: a record on its way into the log. Out: the same with file names instead of paths: a folder says who runs onlooker
and where, the hash beside it says which text was meant. The way back goes through the configuration of the state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from policies import vocab
from proxy.settings import Config

Record = dict[str, Any]

_SHIPPED = Path(vocab.__file__).parent  # where onlooker:rules/… lies
_PLACES = frozenset({"at", "file", "files", "scope_used", "scope_unused"})  # a path, with line and column or without
_TEXTS = frozenset({"error", "errors", "tests_failed"})  # sentences that may begin with one
_NEVER = frozenset({"call", "classification", "exchange", "agent", "origin", "src", "parts"})  # what others said
_FOLDERS = re.compile(r"(?:/[^/\s:'\"]+)+/(?=[^/:'\"\s]+\.ya?ml\b)")
YAML = (".yaml", ".yml")


def named(record: Record) -> Record:
    """``/srv/acme/objective.yaml:9:7`` becomes ``objective.yaml:9:7``; the shipped rules ``onlooker:rules/…``."""
    return {k: v if k in _NEVER else _walk(k, v) for k, v in record.items()}


class Places:
    def __init__(self, config: Config) -> None:
        own = Path(config.state) / "objectives"
        self._policies = [Path(p) for p in config.policies if not p.startswith("onlooker:")]
        self._objectives = [*map(Path, config.objectives), own]

    @classmethod
    def of_state(cls, state: Path) -> Places | None:
        config = configured(state)
        return None if config is None else cls(config)

    def policies(self) -> Iterator[Path]:
        yield from _files(self._policies)

    def objectives(self) -> Iterator[Path]:
        yield from _files(self._objectives)

    def find(self, name: str) -> Path | None:
        """The one file a record calls so; None when there is none, or more than one."""
        found = {f for f in (*self.policies(), *self.objectives()) if f.name == name}
        return found.pop() if len(found) == 1 else None


def configured(state: Path) -> Config | None:
    """What the last instance of this state ran with; None: there was none, or its file is damaged."""
    try:
        return Config.from_json((state / "config.json").read_text("utf-8"))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def file_of(name: str, places: Places | None) -> Path | None:
    """Of a name as records have it (older ones: a whole path). A record is no way to read anything but YAML."""
    path = Path(name)
    if name.startswith("onlooker:"):
        path = _SHIPPED / name.removeprefix("onlooker:")
    elif not path.is_absolute():
        path = (places.find(name) if places is not None else None) or path
    return path if path.suffix in YAML and path.is_file() else None


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from (f for f in sorted(path.rglob("*")) if f.suffix in YAML)
        elif path.is_file():
            yield path


def _walk(key: str, value: Any) -> Any:
    if isinstance(value, str):
        return _place(value) if key in _PLACES else _FOLDERS.sub("", value) if key in _TEXTS else value
    if isinstance(value, list):
        return [_walk(key, v) for v in value]
    if isinstance(value, dict):
        return {k: _walk(k, v) for k, v in value.items()}
    return value


def _place(text: str) -> str:
    if not text.startswith("/"):
        return text
    shipped = text.removeprefix(f"{_SHIPPED}/")
    return f"onlooker:{shipped}" if shipped != text else text.rpartition("/")[2]
