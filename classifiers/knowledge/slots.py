"""Words to the places the knowledge has for them: operands and values of options in, by slot and by name out."""

from __future__ import annotations

from classifiers.knowledge.arguments import Parsed
from classifiers.knowledge.model import Slot
from classifiers.knowledge.words import Word


def values_given(parsed: Parsed) -> dict[str, list[str]]:
    """Values by option name and spelling, and the subcommand words."""
    values: dict[str, list[str]] = {}
    for hit in parsed.hits:
        if hit.value is None:
            continue
        names = (
            {s.lstrip("-+") for s in hit.option.spellings} | {hit.option.name}
            if hit.option
            else {hit.spelling.lstrip("-+")}
        )
        for name in names:
            values.setdefault(name, []).append(hit.value.text)
    for i, sub in enumerate(parsed.subs, 1):
        values[f"sub{i}"] = values["sub"] = [sub.text]
    return values


def assign(parsed: Parsed, slots: tuple[Slot, ...]) -> list[tuple[Slot, list[Word]]]:
    """Operands to the slots whose conditions hold: ``first`` from the left, ``last`` from the right."""
    filled: dict[str, list[Word]] = {}
    for hit in parsed.hits:
        if hit.option and hit.option.fills and hit.value is not None:
            filled.setdefault(hit.option.fills, []).append(hit.value)
    given = parsed.given
    live = [s for s in slots if (not s.when or given(*s.when)) and not (s.unless and given(*s.unless))]
    taken = _taken([s for s in live if s.role not in filled], list(parsed.operands))
    return [(s, filled.get(s.role) or taken.get(id(s), [])) for s in live]


def _taken(slots: list[Slot], operands: list[Word]) -> dict[int, list[Word]]:
    """By ``id`` of the slot."""
    taken: dict[int, list[Word]] = {}
    for slot in slots:
        if slot.at == "first" and operands:
            taken[id(slot)] = [operands.pop(0)]
    has_rest = any(s.at == "rest" for s in slots)
    for slot in reversed(slots):
        if slot.at == "last" and len(operands) >= (2 if has_rest else 1):
            taken[id(slot)] = [operands.pop()]
    for slot in slots:
        if slot.at == "rest":
            taken[id(slot)], operands = operands, []
    return taken
