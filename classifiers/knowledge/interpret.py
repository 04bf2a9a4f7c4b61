"""What a simple command means: a node and its words in, effects to be, delegations and opaque parts out, in order.

Pure: the shell (or an argv list) decides what to do with a delegation. Targets still hold unknown marks; the caller
makes them canonical. ``arguments.py`` splits the words, ``slots.py`` says which word is what, ``telling.py`` makes the
items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache

from classifiers.discover import discover
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge import addresses
from classifiers.knowledge.arguments import Hit, Parsed, parse
from classifiers.knowledge.help import asks_help
from classifiers.knowledge.missing import operands_missing
from classifiers.knowledge.model import Json, Meaning, Node, Slot
from classifiers.knowledge.named_files import named_files, named_outputs
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.sessions import begins_session, tell_session
from classifiers.knowledge.slots import assign
from classifiers.knowledge.telling import Teller
from classifiers.knowledge.unlisted import unlisted
from classifiers.knowledge.words import Word

_NOTHING: Json = {}
_FILE: Json = {"destructive": False, "reversibility": "read_only"}
_WRITTEN: Json = {"destructive": None, "reversibility": "reversible"}
_AT_HAND = re.compile(r"\{[!:}]")  # a template names the value at hand

Special = Callable[[Reading, Word, Sequence[Word]], None]


def interpret(node: Node, name: Word, words: Sequence[Word], *, piped: bool = False) -> Reading:
    """Read one command. ``name`` is the program's own word, for the evidence of effects no operand carries.

    ``piped``: its standard input comes from a pipe or a file; ``when`` and ``unless`` know this by that name.
    """
    parsed = parse(node, words)
    if piped:
        parsed.filled.add("piped")
    if asks_help(parsed):
        return Reading(parsed)
    reading = _Interpreter(parsed, name).read()
    for special in dict.fromkeys(n.special for n in parsed.nodes if n.special):
        specials()[special](reading, name, words)
    if begins_session(reading, piped=piped):
        tell_session(reading, name)
    if not reading.items and not reading.answered and reading.reads_stdin is None and operands_missing(parsed.node):
        text = f"{name.text}: what it works on is missing"
        reading.items.append(Hidden(OpaqueReason.PARSE_ERROR, name.span, text))
    if parsed.cut is not None:
        reading.reads_stdin = None
        text = f"{name.text}: the value of {parsed.cut.text} is missing"
        reading.items.append(Hidden(OpaqueReason.PARSE_ERROR, parsed.cut.span, text))
    return reading


@cache
def specials() -> dict[str, Special]:
    """Grammars in Python, one file each in ``special/``: they add to the reading what the language cannot say."""
    return dict(discover("classifiers.knowledge.special", "SPECIAL"))


class _Interpreter(Teller):
    """The order in which a command's options and operands are told."""

    def __init__(self, parsed: Parsed, name: Word) -> None:
        super().__init__(parsed, name)
        self.node = parsed.node
        self.beside = 0  # payloads handed on by options that leave standard input one too

    def read(self) -> Reading:
        if self.parsed.unknown_sub is not None and self.node.unknown_subcommand == "opaque":
            return self.unknown_subcommand(self.parsed.unknown_sub)
        meanings = [(hit, _chosen(hit.option.meaning, hit.value)) for hit in self.parsed.hits if hit.option]
        for _, meaning in meanings:
            self.merge(meaning)
        answer = next(((m, hit.value) for hit, m in reversed(meanings) if m.instead is not None), None)
        override = next((m.operands for _, m in reversed(meanings) if m.operands is not None), None)
        if answer is not None and answer[0].operands is not None:
            override = answer[0].operands
        slots = self.node.slots if override is None else override
        for hit, meaning in meanings:
            if meaning.unread:
                self.hide(OpaqueReason.PAYLOAD_UNREADABLE, hit.word.span, meaning.unread)
        self.out.answered = answer is not None or override is not None
        assigned = self.assign(slots)
        addresses.spread(self.values)
        for hit, meaning in meanings:
            self.option(hit, meaning)
        for word in named_files(self.parsed):
            self.out.items.append(Told(Verb.READ, Domain.FILESYSTEM, word.text, _FILE, word.span, word))
        if answer is not None:
            for t in answer[0].instead or ():
                self.tell_all((t,), answer[1] if _AT_HAND.search(t.target or "") else None, None)
            for slot, words in assigned if answer[0].operands is not None else ():
                self.slot(slot, words)
        else:
            self.own(assigned, override=bool(override))
        targets = {i.target for i in self.out.items if isinstance(i, Told)}
        for word in named_outputs(self.parsed):
            if word.text not in targets:
                self.out.items.append(Told(Verb.MODIFY, Domain.FILESYSTEM, word.text, _WRITTEN, word.span, word))
        told = frozenset(i.action for i in self.out.items if isinstance(i, Told))
        for word in unlisted(self.parsed, assigned, told):
            self.hide(OpaqueReason.UNKNOWN_EXECUTABLE, word.span, f"{self.via} {word.text}")
        return self.out

    def own(self, assigned: list[tuple[Slot, list[Word]]], *, override: bool) -> None:
        node, operands = self.node, self.parsed.operands
        if node.no_operands is not None and not operands:
            self.tell_all(node.no_operands, None, None)
        self.tell_all(node.effects, None, None)
        if node.unread and not self.sets.get("dry_run"):
            self.hide(OpaqueReason.PAYLOAD_UNREADABLE, self.whole, node.unread)
        elif node.many:
            self.hide(OpaqueReason.UNKNOWN_EXECUTABLE, self.whole, f"{self.via}: told of only together with others")
        self.out.session = bool(node.session) and not self.parsed.occupied(node.session)
        for slot, words in assigned:
            self.slot(slot, words)
        if node.keyed is not None:
            self.keyed()
        handed = sum(isinstance(i, Handed) for i in self.out.items) > self.beside
        if node.stdin and not handed and not override and not any(ws for s, ws in assigned if s.meaning.delegate):
            where = self.filled(node.stdin.where)[0] if node.stdin.where else ""
            self.out.reads_stdin = replace(node.stdin, where=where or "")
            self.out.server = (
                self.server() if node.stdin.kind == "sql" or node.stdin.language in {"redis", "transfer"} else {}
            )

    def unknown_subcommand(self, word: Word) -> Reading:
        span = (self.name.span[0], word.span[1])
        program = self.name.text
        self.out.items.append(Told(Verb.EXECUTE, Domain.PROCESS, program, {"destructive": None}, span, word))
        self.hide(OpaqueReason.UNKNOWN_EXECUTABLE, word.span, f"{self.via} {word.text}")
        return self.out

    def assign(self, slots: tuple[Slot, ...]) -> list[tuple[Slot, list[Word]]]:
        """Operands to slots, and their words to the names templates know them by."""
        out = assign(self.parsed, slots)
        for slot, words in out:
            if slot.role == "arguments":
                self.arguments = tuple(words)
            if slot.role and words:
                self.parsed.filled.add(slot.role)
                self.values.setdefault(slot.role, []).extend(w.member for w in words)
        return out

    def option(self, hit: Hit, meaning: Meaning) -> None:
        self.tell_all(meaning.effects, hit.value, None, hit.word.span)
        if meaning.delegate and meaning.delegate.kind != "none" and hit.value is not None:
            words = [hit.value, *hit.rest] if meaning.delegate.kind == "argv" else [hit.value]
            self.hand(meaning.delegate, words, _span(words))
            self.beside += hit.spelling in self.node.beside

    def slot(self, slot: Slot, words: list[Word]) -> None:
        meaning = slot.meaning
        if meaning.delegate and (not meaning.by_value or meaning.delegate.kind == "argv"):
            if meaning.delegate.join and len(words) > 1 and words[0].text == "--":  # ``ssh host -- command``
                words = words[1:]
            if words:  # the first word says what all are: a command, or by its value a script and its arguments
                first = _chosen(meaning, words[0])
                self.tell_all(first.effects, words[0], None)
                to = first.delegate or meaning.delegate
                if to.kind != "none":
                    self.hand(to, words, _span(words))
            return
        for word in words:
            special = _chosen(meaning, word)
            self.tell_all(special.effects, word, special.sets)
            if special.delegate:
                self.hand(special.delegate, [word], word.span)
            if special.unread:
                self.hide(OpaqueReason.PAYLOAD_UNREADABLE, word.span, special.unread)

    def keyed(self) -> None:
        """Operands like ``if=file`` (dd, and others with keyword operands)."""
        table = self.node.keyed or {}
        for word in self.parsed.operands:
            key, eq, value = word.text.partition("=")
            meaning = table.get(key) if eq else None
            if meaning is not None:
                current = word.with_text(value)
                special = _chosen(meaning, current)
                self.tell_all(special.effects, current, special.sets)


def _chosen(meaning: Meaning, value: Word | None) -> Meaning:
    """The meaning for this value: the first ``by_value`` row that matches, laid over the general one."""
    text = value.text if value is not None else ""
    for glob, special in meaning.by_value:
        if any(fnmatchcase(text, g) for g in glob.split("|")):
            return Meaning(
                special.effects if special.says else meaning.effects,
                {**(meaning.sets or _NOTHING), **(special.sets or _NOTHING)},
                special.instead if special.instead is not None else meaning.instead,
                special.delegate or meaning.delegate,
                (),
                special.operands if special.operands is not None else meaning.operands,
                unread=special.unread or meaning.unread,
            )
    return meaning


def _span(words: Sequence[Word]) -> tuple[int, int]:
    return (words[0].span[0], words[-1].span[1])
