"""onlooker.yaml, strictly: every key there may be, and every mistake with its place.

In: the file's path. Out: its settings as read, by key; or ``StrictYamlError`` naming every mistake as
``file:line:col: what; what was expected``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from classifiers.strict_yaml import Mapped, Problem, StrictYamlError, load
from proxy import config_values as values

# Every key of the file, how its value is read, and (two levels deep) what a section may hold.
_KEYS: Mapping[str, Any] = {
    "onlooker": values.version,
    "listen": values.address,
    "control": values.address,
    "state": values.text,
    "workers": values.count,
    "routes": values.routes,
    "policies": values.names,
    "trust": values.choice("required", "optional"),
    "trust_keys": values.names,
    "objectives": values.names,
    "tools": values.mapping,
    "privacy": {"identities": values.choice("pseudonym", "clear"), "rules": values.rules},
    "spool": {"dir": values.text, "cap": values.size_bytes, "overflow": values.boolean},
    "session": {"idle": values.duration_s},
    "retention": {"max_age": values.duration_s, "max_bytes": values.size_bytes},
    "agents": values.agents,
    "forward": {"listen": values.address, "intercept": values.intercepted},
    "transparent": {"listen": values.address, "tproxy": values.boolean},
    "sinks": values.sinks,
    "upstream_ca": values.text,
    "upstream_proxy": values.parent_proxy,
    "no_proxy": values.names,
    "allow_remote": values.boolean,
    "mcp_server": values.boolean,
    "strip_own_headers": values.boolean,
    "listen_unix": values.socket_paths,
    "control_hosts": values.names,
}


@dataclass(slots=True)
class _Reader:
    doc: Mapped
    problems: list[Problem] = field(default_factory=list)

    def section(self, value: Any, keys: Mapping[str, Any], *path: str) -> dict[str, Any]:
        """The known keys of a mapping, read; every mistake is collected."""
        if not isinstance(value, dict):
            self.problems.append(self.doc.problem("expected a mapping", *path))
            return {}
        out: dict[str, Any] = {}
        for key, item in value.items():
            here = (*path, key)
            if key not in keys:
                self.problems.append(self.doc.problem(unknown_key(key, keys), *here, key=True))
            elif isinstance(keys[key], Mapping):
                out[key] = self.section(item, keys[key], *here)
            else:
                self._value(out, key, item, keys[key], here)
        return out

    def _value(
        self, out: dict[str, Any], key: str, item: Any, read: Callable[[Any], Any], here: tuple[str, ...]
    ) -> None:
        try:
            out[key] = read(item)
        except values.WrongValueError as error:
            self.problems.append(self.doc.problem(f"{key}: {error}", *here))


def unknown_key(key: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(key, known, 1)
    return f"unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else f"; expected {', '.join(known)}")


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StrictYamlError(
            [Problem(str(path), 1, 1, f"not UTF-8 at byte {error.start}; expected UTF-8 text")]
        ) from None


def read_file(path: Path) -> dict[str, Any]:
    """The file's settings, checked. Raises StrictYamlError with every mistake, OSError when it cannot be read."""
    doc = load(_content(path), str(path))
    reader = _Reader(doc)
    raw = reader.section({} if doc.value is None else doc.value, _KEYS)
    if "onlooker" not in raw and not reader.problems:
        reader.problems.append(doc.problem("the first key says the version: 'onlooker: 1'"))
    if reader.problems:
        raise StrictYamlError(reader.problems)
    return raw
