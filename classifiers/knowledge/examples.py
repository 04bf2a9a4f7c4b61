"""Run the examples of command files: a command and its expected lines in, the differences out (none: it holds)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from classifiers.context import Context
from classifiers.effects import Action, Effect, Reversibility, parse_effect
from classifiers.shell import classify_shell
from classifiers.strict_yaml import load

_PATIENT = Context(max_ms=5_000)  # what a command means, however busy the machine that checks it
_FIELDS = (
    "breadth",
    "where",
    "privilege",
    "certainty",
    "condition",
    "dry_run",
    "path_scope",
    "sensitivity",
    "filtered",
)


@dataclass(frozen=True, slots=True)
class Example:
    file: str
    line: int
    command: str
    expected: tuple[str, ...]
    todo: bool


def examples_in(text: str, name: str) -> Iterator[Example]:
    """Every example of one file, subcommands' included."""
    doc = load(text, name)
    yield from _walk(doc, doc.value.get("commands") or {}, ("commands",))


def _walk(doc: Any, nodes: dict[str, Any], path: tuple[Any, ...]) -> Iterator[Example]:
    for key, node in nodes.items():
        if not isinstance(node, dict):
            continue
        for kind in ("examples", "todo"):
            for command, expected in (node.get(kind) or {}).items():
                line = doc.key_mark(*path, key, kind, command)[0]
                yield Example(doc.name, line, command, tuple(expected or ()), kind == "todo")
        yield from _walk(doc, node.get("subcommands") or {}, (*path, key, "subcommands"))


def differences(example: Example) -> list[str]:
    """What the classifier says otherwise, one sentence each."""
    action = classify_shell(example.command, _PATIENT)
    return compare(action, example.expected)


def compare(action: Action, expected: tuple[str, ...]) -> list[str]:
    out: list[str] = []
    lines = [e for e in expected if not e.startswith(("opaque ", "flow ")) and e != "..."]
    left = list(action.effects)
    for line in lines:
        try:
            wanted = parse_effect(line)
        except ValueError as error:
            out.append(f"cannot read '{line}': {error}")
            continue
        found = next((e for e in left if _meets(e, wanted, line)), None)
        if found is None:
            out.append(f"missing: {line}")
        else:
            left.remove(found)
    if "..." not in expected:
        out += [f"not expected: {e}" for e in left]
    reasons = {e.split()[1] for e in expected if e.startswith("opaque ")}
    seen = {o.reason.value for o in action.opaque}
    out += [f"not opaque: {r}" for r in sorted(reasons - seen)] + [f"opaque: {r}" for r in sorted(seen - reasons)]
    flows = {e.split()[1] for e in expected if e.startswith("flow ")}
    out += [f"no flow: {f}" for f in sorted(flows - {f.kind.value for f in action.flows})]
    return out


def _meets(effect: Effect, wanted: Effect, line: str) -> bool:
    if (effect.action, effect.domain, effect.target) != (wanted.action, wanted.domain, wanted.target):
        return False
    implied = wanted.reversibility is Reversibility.IRREVERSIBLE and "destructive" not in line
    if effect.destructive is not wanted.destructive and not (implied and effect.destructive is True):
        return False
    if wanted.reversibility is not Reversibility.UNKNOWN and effect.reversibility is not wanted.reversibility:
        return False
    if any(t not in effect.tags for t in wanted.tags):
        return False
    default = Effect(wanted.domain, wanted.action)
    return all(
        getattr(wanted, f) == getattr(effect, f) for f in _FIELDS if getattr(wanted, f) != getattr(default, f)
    ) and (wanted.target_raw in {None, "?"} or effect.target_raw == wanted.target_raw)
