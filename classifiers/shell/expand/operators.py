"""What parameter operators (bash(1), Parameter Expansion) and arithmetic make of a known value: text in, text out.

None: not known.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from classifiers.knowledge.words import is_known
from classifiers.shell import ir
from classifiers.shell.expand.fields import GLOB
from classifiers.shell.state import State

_SLICE = re.compile(r":\s*\(?\s*(-?\d{1,6})\s*\)?\s*(?::\s*(\d{1,6})\s*)?\}$")
_MAX_TRIMMED = 500  # characters


def changed(value: str, op: str, raw: str, arg: str) -> str | None:
    """``${name<op>arg}`` of a value; ``raw`` is the expansion as written."""
    if op in {"#", "##", "%", "%%"}:
        return _trim(value, op, arg)
    if op in {"/", "//", "/#", "/%"}:
        return _replaced(value, op, raw)
    if op == ":":
        return _sliced(value, raw)
    return {
        "^^": value.upper(),
        ",,": value.lower(),
        "^": value[:1].upper() + value[1:],
        ",": value[:1].lower() + value[1:],
    }.get(op)


def part_of(values: list[str], var: ir.Var) -> list[str]:
    """``${a[@]:1:2}``, and ``${@:2}`` where the first place is the shell's own name."""
    if not var.op:
        return values[1:] if var.name in {"@", "*"} else values
    match = _SLICE.search(var.raw)
    if match is None:
        return values
    start = int(match[1])
    end = None if match[2] is None else start + int(match[2])
    return values[start:end] if start >= 0 else values[start:]


def _trim(value: str, op: str, pattern: str) -> str | None:
    if len(value) > _MAX_TRIMMED:
        return None
    lengths = range(len(value) + 1) if len(op) == 1 else range(len(value), -1, -1)
    for n in lengths:
        cut, kept = (value[:n], value[n:]) if op[0] == "#" else (value[len(value) - n :], value[: len(value) - n])
        if fnmatchcase(cut, pattern):  # the shortest may end within an unknown part, the longest goes past it
            return kept if len(op) == 2 or is_known(cut) else None
    return value


def _replaced(value: str, op: str, raw: str) -> str | None:
    inside = raw[2:-1].partition("/")[2].removeprefix("/")
    if "$" in inside or "`" in inside:
        return None
    pattern, _, new = inside.removeprefix(op[1:].strip("/")).partition("/")
    new = new.replace("'", "").replace('"', "")
    if GLOB.search(pattern):
        return None
    if op == "/#":
        return new + value.removeprefix(pattern) if value.startswith(pattern) else value
    if op == "/%":
        return value.removesuffix(pattern) + new if value.endswith(pattern) else value
    return value.replace(pattern, new, -1 if op == "//" else 1)


def _sliced(value: str, raw: str) -> str | None:
    match = re.search(r":\s*\(?\s*(-?\d+)\s*\)?\s*(?::\s*(-?\d+)\s*)?\}$", raw)
    if match is None or not is_known(value):
        return None
    start = int(match[1])
    length = None if match[2] is None else int(match[2])
    tail = value[start:] if start >= 0 or -start <= len(value) else value
    return tail if length is None else tail[:length]


def arithmetic(raw: str, state: State) -> str | None:
    """``$((1+2))`` of plain numbers and known variables; everything else is unknown."""
    inside = raw[3:-2].strip()
    match = re.fullmatch(r"\$?\{?(\w+)\}?\s*(?:([-+*])\s*(\d{1,9}))?", inside)
    if match is None:
        return None
    left = match[1] if match[1].isdigit() else state.vars.get(match[1])
    if not isinstance(left, str) or not left.lstrip("-").isdigit() or len(left) > 12:
        return None
    if match[2] is None:
        return left
    right = int(match[3])
    return str({"+": int(left) + right, "-": int(left) - right, "*": int(left) * right}[match[2]])
