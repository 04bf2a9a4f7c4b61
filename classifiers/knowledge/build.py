"""The compiled JSON form of one program to its ``Node``. Trusts its input: ``compile.py`` checked it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate, Json, Meaning, Node, Option, Slot, Template

_HELP = ("--help", "--version")
_VERSION = frozenset({"-v", "-V"})  # the program's version, but a subcommand's verbosity (git -v, git pull -v)
_SPECIAL_FIELDS = frozenset({"action", "domain", "target", "when", "unless"})


def build(compiled: Json, file: str, parent: Node | None = None) -> Node:
    """One node; ``parent``'s options are understood after the subcommand too."""
    options = dict(_inherited(parent)) if parent else {}
    for raw in compiled.get("options", ()):
        option = _option(raw)
        options.update(dict.fromkeys(option.spellings, option))
    keyed = compiled.get("keyed")
    style = compiled.get("style", parent.style if parent else "gnu")
    return Node(
        name=compiled["name"],
        file=file,
        line=compiled["line"],
        options=options,
        slots=_slots(compiled.get("slots", ())),
        effects=_templates(compiled.get("effects", ())),
        no_operands=_templates(compiled["no_operands"]) if "no_operands" in compiled else None,
        subcommands=compiled.get("subs"),
        style=style,
        posix=compiled.get("posix", False),
        strict=compiled.get("strict", "options" if parent and parent.strict else ""),
        many=compiled.get("many", parent.many if parent else False),
        unknown_options=compiled.get("unknown_options", parent.unknown_options if parent else "flag"),
        unknown_subcommand=compiled.get("unknown_subcommand", "opaque"),
        long_options=compiled.get("long_options", parent.long_options if parent else "shortened"),
        late_help=compiled.get("late_help", parent.late_help if parent else "help"),
        stdin=_delegate(compiled["stdin"]) if "stdin" in compiled else None,
        help=tuple(compiled.get("help", [w for w in parent.help if w not in _VERSION] if parent else _HELP)),
        sets=compiled.get("sets"),
        via=compiled.get("via", ""),
        special=compiled.get("special", ""),
        keyed={k: _meaning(v) for k, v in keyed.items()} if keyed is not None else None,
        unread=compiled.get("unread", ""),
        session=tuple(compiled.get("session", ())),
        beside=frozenset(compiled.get("beside", ())),
        says="effects" in compiled,
    )


def _inherited(parent: Node) -> Iterator[tuple[str, Option]]:
    """The parent's options, without those that only tell the program's version."""
    for spelling, option in parent.options.items():
        if spelling not in _VERSION or option.meaning.instead != ():
            yield spelling, option


def _templates(raw: Any) -> tuple[Template, ...]:
    return tuple(
        Template(
            Verb(t["action"]),
            Domain(t["domain"]),
            t.get("target"),
            {k: v for k, v in t.items() if k not in _SPECIAL_FIELDS},
            tuple(t.get("when", ())),
            tuple(t.get("unless", ())),
        )
        for t in raw
    )


def _delegate(raw: Json) -> Delegate:
    return Delegate(**{**raw, "until": tuple(raw.get("until", ()))})


def _meaning(raw: Json) -> Meaning:
    return Meaning(
        effects=_templates(raw.get("effects", ())),
        sets=raw.get("sets"),
        instead=_templates(raw["instead"]) if "instead" in raw else None,
        delegate=_delegate(raw["delegate"]) if "delegate" in raw else None,
        by_value=tuple((glob, _meaning(inner)) for glob, inner in raw.get("by_value", ())),
        operands=_slots(raw["operands"]) if "operands" in raw else None,
        says="effects" in raw,
        unread=raw.get("unread", ""),
    )


def _slots(raw: Any) -> tuple[Slot, ...]:
    return tuple(
        Slot(s["role"], s.get("at", "rest"), _meaning(s), tuple(s.get("when", ())), tuple(s.get("unless", ())))
        for s in raw
    )


def _option(raw: Json) -> Option:
    spellings = tuple(raw["spell"])
    longest = max(spellings, key=len).lstrip("-+")
    return Option(
        spellings,
        raw.get("name", longest),
        raw.get("values", 0),
        raw.get("fills", ""),
        _meaning(raw),
        raw.get("last", False),
    )
