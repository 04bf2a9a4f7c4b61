"""What the reader of a program knows about a value: a constant, a name of the library, a function, or nothing.

``taint`` holds the indexes of the effects that produced the value, so that a flow can be said (secret → network), and
``REACH`` where what the library can do went into it in a way that was not read: calling it could be anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from classifiers.code.ir import Class, Function

NO_TAINT: frozenset[int] = frozenset()
REACH = -1


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """``known``: ``data`` is the constant. ``ref``: a dotted library name, or the kind of object a call returned."""

    known: bool = False
    data: Any = None
    ref: str = ""
    raw: str = ""
    taint: frozenset[int] = NO_TAINT
    function: Function | Class | None = None
    decoded: bool = False  # came out of base64, hex or the like, as a constant
    shape: str | None = None  # text with each unknown part as ``$name``, for readers that know such holes
    around: dict[str, Value] | None = None  # the names a function of another function sees
    made_by: Class | None = None  # an object of a class of the program's own, or (with ``function``) its method
    others: tuple[Value, ...] = ()  # not known, but one of these constants

    @property
    def members(self) -> list[Value]:
        """A list's members; of anything else the value itself, as where one or several may be given."""
        return [m for m in self.data if isinstance(m, Value)] if self.known and isinstance(self.data, list) else [self]

    @property
    def text(self) -> str | None:
        """The value as text when it is text or bytes that read as UTF-8."""
        if isinstance(self.data, bytes):
            return self.data.decode("utf-8", "replace") if self.known else None
        return self.data if self.known and isinstance(self.data, str) else None


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A function with some of its arguments: ``functools.partial(shutil.rmtree, path)``."""

    func: Value
    args: tuple[Value, ...]
    named: dict[str, Value]


UNKNOWN = Value()


def hole(value: Value) -> str:
    """The value as part of a shape."""
    if value.known and not isinstance(value.data, list | dict):
        return value.text if value.text is not None else str(value.data)
    named = value.raw if value.raw.startswith("$") and " " not in value.raw else ""
    return value.shape or named or (f"${value.raw}" if value.raw.isidentifier() else "$ARG")


def constant(data: Any, taint: frozenset[int] = NO_TAINT, *, decoded: bool = False) -> Value:
    return Value(known=True, data=data, raw=str(data)[:200], taint=taint, decoded=decoded)


def unknown(raw: str = "", *sources: Value) -> Value:
    return Value(raw=raw[:200], taint=taints(*sources))


def taints(*values: Value) -> frozenset[int]:
    found = [v.taint for v in values if v.taint]
    return frozenset().union(*found) if found else NO_TAINT


def plain(value: Value, unknown_part: Any = None) -> Any:
    """The value as lists, mappings and scalars, with ``unknown_part`` where something is not known."""
    if not value.known:
        return unknown_part
    if isinstance(value.data, list):
        return [plain(v, unknown_part) for v in value.data if isinstance(v, Value)]
    if isinstance(value.data, dict):
        return {key: plain(v, unknown_part) for key, v in value.data.items() if isinstance(v, Value)}
    return value.data
