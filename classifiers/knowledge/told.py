"""What one command's knowledge says, as lines for a person: a node in, text lines out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from classifiers.knowledge.model import Meaning, Node, Template


def told(node: Node) -> Iterator[str]:
    yield f"{node.name}  classifiers/commands/{node.file}:{node.line}"
    yield from _effects("always", node.effects)
    if node.no_operands is not None:
        yield from _effects("without operands", node.no_operands)
    for slot in node.slots:
        role = f"operand {slot.role or '(any)'}" + (f" ({slot.at})" if slot.at != "rest" else "")
        yield from _meaning(role, slot.meaning)
    seen: set[str] = set()
    for option in node.options.values():
        if option.name not in seen:
            seen.add(option.name)
            yield from _meaning("|".join(option.spellings), option.meaning, quiet=True)
    if node.special:
        yield f"  read by its own grammar: classifiers/knowledge/special ({node.special})"
    if node.subcommands:
        yield "  subcommands: " + " ".join(sorted(node.subcommands))


def _meaning(what: str, meaning: Meaning, *, quiet: bool = False) -> Iterator[str]:
    said = list(_effects(what, meaning.effects))
    if meaning.instead is not None:
        said += list(_effects(f"{what} instead", meaning.instead))
    if meaning.sets:
        said.append(f"  {what}: sets " + ", ".join(f"{k}={v}" for k, v in meaning.sets.items()))
    if meaning.delegate:
        said.append(f"  {what}: handed on as {meaning.delegate.kind} {meaning.delegate.language}".rstrip())
    said += [f"  {what} by value: {glob}" for glob, _ in meaning.by_value]
    yield from said or ([] if quiet else [f"  {what}: no effect"])


def _effects(what: str, templates: Iterable[Template]) -> Iterator[str]:
    for t in templates:
        target = f":{t.target}" if t.target is not None else ""
        given = {k: v for k, v in t.fields.items() if k == "destructive" or not (v is None or v is False)}
        fields = " ".join(f"{k}={v}" for k, v in given.items())
        when = "".join(f" {w}={'|'.join(v)}" for w, v in (("when", t.when), ("unless", t.unless)) if v)
        yield f"  {what}: {t.action} {t.domain}{target} {fields}{when}".rstrip()
