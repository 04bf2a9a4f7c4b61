"""The format of tool maps: which surface reads a tool and which argument plays which role. Checked, then kept.

In: the ``tools:`` mapping of a file in this folder, or of the user's configuration. Out: ``Entry`` by tool name.
One clear error names the tool and the key that is wrong.

An entry has either ``surface`` with ``roles`` (role: argument names, ``a|b`` tried in order, ``x.y`` goes into an
object) and ``fixed`` (role: constant), or ``effects`` (notation with holes over arguments), or ``wraps``, or
``pick`` (an argument) with ``cases`` (its value: a nested entry). ``each`` names a list argument whose members are read
one by one as ``item``. ``needs`` lists arguments without which the entry does not apply.
``open`` is an opaque reason: what the tool does is not in its arguments. ``also`` are effects beside those of the
surface, and what the first of them names is where the rest happens (a container a command is run in).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from classifiers.effects import OpaqueReason, Surface
from classifiers.templates import template


class ToolMapError(ValueError):
    """A tool map is wrong: which tool, what, what was expected."""


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: it holds mappings
class Entry:
    surface: str = "unknown"
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    effects: tuple[str, ...] | None = None
    open: OpaqueReason | None = None
    pick: tuple[str, ...] = ()
    cases: Mapping[str, Entry] = field(default_factory=dict)
    each: tuple[str, ...] = ()
    wraps: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    origin: str = ""  # file and tool name, for why-notes


_KEYS = frozenset(
    {"surface", "roles", "fixed", "effects", "open", "pick", "cases", "each", "wraps", "needs", "also", "note"}
)
_SURFACES = frozenset({s.value for s in Surface} | {"terminal"})
_WRAPS = frozenset({"list", "name", "arguments", "server"})


def read_entries(tools: Any, origin: str) -> dict[str, Entry]:
    """Lower-case tool name → Entry. ``a|b`` keys name several tools. Raises ToolMapError."""
    if not isinstance(tools, Mapping):
        raise ToolMapError(f"{origin}: tools is a mapping from tool name to entry, not {type(tools).__name__}")
    return {
        name.strip().lower(): read_entry(raw, f"{origin}: {name.strip()}")
        for names, raw in tools.items()
        for name in str(names).split("|")
    }


def read_entry(raw: Any, origin: str) -> Entry:
    if not isinstance(raw, Mapping):
        raise ToolMapError(f"{origin}: an entry is a mapping with surface, effects, pick or wraps")
    for key in raw:
        if key not in _KEYS:
            raise ToolMapError(f"{origin}: unknown key {key!r}; expected one of {', '.join(sorted(_KEYS))}")
    if not {"surface", "effects", "pick", "wraps"} & set(raw):
        raise ToolMapError(f"{origin}: nothing says how to read it; expected surface, effects, pick or wraps")
    return Entry(
        surface=_choice(raw.get("surface", "unknown"), _SURFACES, "surface", origin),
        roles={
            str(role): _names(names, f"{origin}: roles.{role}") for role, names in _map(raw, "roles", origin).items()
        },
        fixed=dict(_map(raw, "fixed", origin)),
        effects=_effects(raw.get("effects"), origin),
        open=OpaqueReason(_choice(raw["open"], {r.value for r in OpaqueReason}, "open", origin))
        if "open" in raw
        else None,
        pick=_names(raw.get("pick", ""), f"{origin}: pick"),
        cases=_cases(_map(raw, "cases", origin), origin),
        each=_names(raw.get("each", ""), f"{origin}: each"),
        wraps=_wraps(_map(raw, "wraps", origin), origin),
        needs=_names(raw.get("needs", ""), f"{origin}: needs"),
        also=_effects(raw.get("also"), origin) or (),
        origin=origin,
    )


def _cases(cases: Mapping[str, Any], origin: str) -> dict[str, Entry]:
    return {
        value.lower(): read_entry(raw, f"{origin}.{value}")
        for values, raw in cases.items()
        for value in str(values).split("|")
    }


def _wraps(wraps: Mapping[str, Any], origin: str) -> dict[str, str]:
    for key in wraps:
        _choice(key, _WRAPS, "wraps", origin)
    return {str(k): str(v) for k, v in wraps.items()}


def _effects(lines: Any, origin: str) -> tuple[str, ...] | None:
    if lines is None:
        return None
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ToolMapError(f"{origin}: effects is a list of lines such as 'send messaging:slack:{{text:channel}}'")
    for line in lines:
        try:
            template(line)
        except ValueError as error:
            raise ToolMapError(f"{origin}: {error}") from None
    return tuple(lines)


def _names(text: Any, origin: str) -> tuple[str, ...]:
    if not isinstance(text, str):
        raise ToolMapError(f"{origin}: expected argument names such as 'path|file_path', not {type(text).__name__}")
    return tuple(name for name in text.split("|") if name)


def _map(raw: Mapping[str, Any], key: str, origin: str) -> Mapping[str, Any]:
    value = raw.get(key, {})
    if not isinstance(value, Mapping):
        raise ToolMapError(f"{origin}: {key} is a mapping, not {type(value).__name__}")
    return value


def _choice(value: Any, known: frozenset[str] | set[str], key: str, origin: str) -> str:
    if value not in known:
        raise ToolMapError(f"{origin}: {key} {value!r} is not known; expected one of {', '.join(sorted(known))}")
    return str(value)
