"""What a simple command means: a node and its words in, effects to be, delegations and opaque parts out, in order.

Pure: the shell (or an argv list) decides what to do with a delegation. Targets still hold unknown marks; the caller
makes them canonical.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache

from classifiers.discover import discover
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge import addresses
from classifiers.knowledge.arguments import Hit, Parsed, parse
from classifiers.knowledge.missing import operands_missing
from classifiers.knowledge.model import Delegate, Json, Meaning, Node, Slot, Template
from classifiers.knowledge.named_files import named_files
from classifiers.knowledge.templates import FILTERS, fill
from classifiers.knowledge.unlisted import unlisted
from classifiers.knowledge.words import Word

_NOTHING: Json = {}
_FILE: Json = {"destructive": False, "reversibility": "read_only"}


@dataclass(slots=True)
class Told:
    """One effect the knowledge tells of. ``fields`` are Effect fields still as words."""

    action: Verb
    domain: Domain
    target: str | None
    fields: Json
    span: tuple[int, int]
    word: Word | None = None


@dataclass(slots=True)
class Handed:
    """Words handed on: to another command (argv), or a payload to a parser. ``fields``: where, privilege, condition."""

    to: Delegate
    words: tuple[Word, ...]
    fields: Json
    span: tuple[int, int]
    via: str = ""
    arguments: tuple[Word, ...] = ()  # what a script or program text is given (the operand role of this name)


@dataclass(slots=True)
class Hidden:
    reason: OpaqueReason
    span: tuple[int, int]
    text: str


Item = Told | Handed | Hidden


@dataclass(slots=True)
class Reading:
    parsed: Parsed
    items: list[Item] = field(default_factory=list)
    answered: bool = False  # an option says in so many words what happens instead
    reads_stdin: Delegate | None = None  # nothing named a payload, so standard input is it
    server: Json = field(default_factory=dict)  # which host and database SQL on standard input goes to

    @property
    def node(self) -> Node:
        return self.parsed.node


Special = Callable[[Reading, Word, Sequence[Word]], None]


def interpret(node: Node, name: Word, words: Sequence[Word], *, piped: bool = False) -> Reading:
    """Read one command. ``name`` is the program's own word, for the evidence of effects no operand carries.

    ``piped``: its standard input comes from a pipe or a file; ``when`` and ``unless`` know this by that name.
    """
    parsed = parse(node, words)
    if piped:
        parsed.filled.add("piped")
    reading = _Interpreter(parsed, name).read()
    if not asks_help(parsed):
        for special in dict.fromkeys(n.special for n in parsed.nodes if n.special):
            specials()[special](reading, name, words)
        if not reading.items and not reading.answered and reading.reads_stdin is None and operands_missing(parsed.node):
            text = f"{name.text}: what it works on is missing"
            reading.items.append(Hidden(OpaqueReason.PARSE_ERROR, name.span, text))
        if parsed.cut is not None:
            reading.reads_stdin = None
            text = f"{name.text}: the value of {parsed.cut.text} is missing"
            reading.items.append(Hidden(OpaqueReason.PARSE_ERROR, parsed.cut.span, text))
    return reading


def asks_help(parsed: Parsed) -> bool:
    """Whether it only prints its help. Code given before that word is never taken for unread: interpreters differ."""
    wanted = parsed.node.help
    for hit in parsed.hits:
        if hit.option and hit.option.meaning.delegate and hit.option.meaning.delegate.kind in {"code", "shell"}:
            return False
        if hit.spelling in wanted and hit.value is None:
            # GNU programs look for options after operands too, others take that word for one more operand
            return not (parsed.node.file.startswith("coreutils/") and _follows(hit.word, parsed))
    return False


def _follows(word: Word, parsed: Parsed) -> bool:
    return any(operand.span[1] <= word.span[0] for operand in parsed.operands if operand.span[1])


@cache
def specials() -> dict[str, Special]:
    """Grammars in Python, one file each in ``special/``: they add to the reading what the language cannot say."""
    return dict(discover("classifiers.knowledge.special", "SPECIAL"))


class _Interpreter:
    def __init__(self, parsed: Parsed, name: Word) -> None:
        self.parsed, self.node, self.name = parsed, parsed.node, name
        self.out = Reading(parsed)
        self.whole = (
            name.span[0],
            max((w.span[1] for w in (*(h.word for h in parsed.hits), *parsed.operands)), default=name.span[1]),
        )
        self.values = self.collect()
        self.arguments: tuple[Word, ...] = ()
        self.sets: Json = {k: v for node in parsed.nodes if node.sets for k, v in node.sets.items()}
        self.via = next((n.via for n in reversed(parsed.nodes) if n.via), "") or " ".join(
            (name.text.rpartition("/")[2], *(s.text for s in parsed.subs))
        )

    def collect(self) -> dict[str, list[str]]:
        """Values by option name and spelling, and the subcommand words."""
        values: dict[str, list[str]] = {}
        for hit in self.parsed.hits:
            if hit.value is None:
                continue
            names = (
                {s.lstrip("-+") for s in hit.option.spellings} | {hit.option.name}
                if hit.option
                else {hit.spelling.lstrip("-+")}
            )
            for name in names:
                values.setdefault(name, []).append(hit.value.text)
        for i, sub in enumerate(self.parsed.subs, 1):
            values[f"sub{i}"] = values["sub"] = [sub.text]
        return values

    def read(self) -> Reading:
        if self.parsed.hits and asks_help(self.parsed):
            return self.out
        if self.parsed.unknown_sub is not None and self.node.unknown_subcommand == "opaque":
            return self.unknown_subcommand(self.parsed.unknown_sub)
        meanings = [(hit, self.chosen(hit.option.meaning, hit.value)) for hit in self.parsed.hits if hit.option]
        for _, meaning in meanings:
            self.merge(meaning)
        override = next((m.operands for _, m in reversed(meanings) if m.operands is not None), None)
        slots = self.node.slots if override is None else override
        for hit, meaning in meanings:
            if meaning.unread:
                self.out.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, hit.word.span, meaning.unread))
        instead = next(((m.instead, hit.value) for hit, m in reversed(meanings) if m.instead is not None), None)
        self.out.answered = instead is not None or override is not None
        assigned = self.assign(slots)
        addresses.spread(self.values)
        for hit, meaning in meanings:
            self.option(hit, meaning)
        for word in named_files(self.parsed):
            self.out.items.append(Told(Verb.READ, Domain.FILESYSTEM, word.text, _FILE, word.span, word))
        if instead is not None:
            for t in instead[0]:
                self.tell_all((t,), instead[1] if _AT_HAND.search(t.target or "") else None, None)
        else:
            self.own(assigned, override=bool(override))
        told = frozenset(i.action for i in self.out.items if isinstance(i, Told))
        for word in unlisted(self.parsed, assigned, told):
            self.out.items.append(Hidden(OpaqueReason.UNKNOWN_EXECUTABLE, word.span, f"{self.via} {word.text}"))
        return self.out

    def own(self, assigned: list[tuple[Slot, list[Word]]], *, override: bool) -> None:
        node, operands = self.node, self.parsed.operands
        if node.no_operands is not None and not operands:
            self.tell_all(node.no_operands, None, None)
        self.tell_all(node.effects, None, None)
        if node.unread and not self.sets.get("dry_run"):
            self.out.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, self.whole, node.unread))
        for slot, words in assigned:
            self.slot(slot, words)
        if node.keyed is not None:
            self.keyed()
        handed = any(isinstance(i, Handed) for i in self.out.items)
        if node.stdin and not handed and not override and not any(ws for s, ws in assigned if s.meaning.delegate):
            where = fill(node.stdin.where, None, self.values)[0] if node.stdin.where else ""
            self.out.reads_stdin = replace(node.stdin, where=where or "")
            self.out.server = self.server() if node.stdin.kind == "sql" else {}

    def unknown_subcommand(self, word: Word) -> Reading:
        span = (self.name.span[0], word.span[1])
        program = self.name.text
        self.out.items.append(Told(Verb.EXECUTE, Domain.PROCESS, program, {"destructive": None}, span, word))
        self.out.items.append(Hidden(OpaqueReason.UNKNOWN_EXECUTABLE, word.span, f"{self.via} {word.text}"))
        return self.out

    def chosen(self, meaning: Meaning, value: Word | None) -> Meaning:
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

    def merge(self, meaning: Meaning) -> None:
        for key, value in (meaning.sets or _NOTHING).items():
            if key == "tags":
                self.sets["tags"] = [*self.sets.get("tags", []), *value]
            else:
                self.sets[key] = value

    def assign(self, slots: tuple[Slot, ...]) -> list[tuple[Slot, list[Word]]]:
        """Operands to slots: ``first`` from the left, ``last`` from the right, the rest to ``rest``."""
        filled: dict[str, list[Word]] = {}
        for hit in self.parsed.hits:
            if hit.option and hit.option.fills and hit.value is not None:
                filled.setdefault(hit.option.fills, []).append(hit.value)
        given = self.parsed.given
        live = [s for s in slots if (not s.when or given(*s.when)) and not (s.unless and given(*s.unless))]
        open_slots = [s for s in live if s.role not in filled]
        operands = list(self.parsed.operands)
        taken: dict[int, list[Word]] = {}
        for slot in open_slots:
            if slot.at == "first" and operands:
                taken[id(slot)] = [operands.pop(0)]
        has_rest = any(s.at == "rest" for s in open_slots)
        for slot in reversed(open_slots):
            if slot.at == "last" and len(operands) >= (2 if has_rest else 1):
                taken[id(slot)] = [operands.pop()]
        for slot in open_slots:
            if slot.at == "rest":
                taken[id(slot)], operands = operands, []
        out = [(s, filled.get(s.role) or taken.get(id(s), [])) for s in live]
        for slot, words in out:
            if slot.role == "arguments":
                self.arguments = tuple(words)
            if slot.role and words:
                self.parsed.filled.add(slot.role)
                self.values.setdefault(slot.role, []).extend(w.text for w in words)
        return out

    def option(self, hit: Hit, meaning: Meaning) -> None:
        current = hit.value if hit.value is not None else None
        self.tell_all(meaning.effects, current, None, hit.word.span)
        if meaning.delegate and meaning.delegate.kind != "none" and hit.value is not None:
            self.hand(meaning.delegate, [hit.value], hit.value.span)

    def slot(self, slot: Slot, words: list[Word]) -> None:
        meaning = slot.meaning
        if meaning.delegate and (not meaning.by_value or meaning.delegate.kind == "argv"):
            if meaning.delegate.join and len(words) > 1 and words[0].text == "--":  # ``ssh host -- command``
                words = words[1:]
            if words:  # the first word says what all are: a command, or by its value a script and its arguments
                first = self.chosen(meaning, words[0])
                self.tell_all(first.effects, words[0], None)
                to = first.delegate or meaning.delegate
                if to.kind != "none":
                    self.hand(to, words, _span(words))
            return
        for word in words:
            special = self.chosen(meaning, word)
            self.tell_all(special.effects, word, special.sets)
            if special.delegate:
                self.hand(special.delegate, [word], word.span)
            if special.unread:
                self.out.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, word.span, special.unread))

    def keyed(self) -> None:
        """Operands like ``if=file`` (dd, and others with keyword operands)."""
        table = self.node.keyed or {}
        for word in self.parsed.operands:
            key, eq, value = word.text.partition("=")
            meaning = table.get(key) if eq else None
            if meaning is not None:
                current = word.with_text(value)
                special = self.chosen(meaning, current)
                self.tell_all(special.effects, current, special.sets)

    def tell_all(
        self,
        templates: Iterable[Template],
        current: Word | None,
        sets: Json | None,
        span: tuple[int, int] | None = None,
    ) -> None:
        given = self.parsed.given
        for t in templates:
            if (t.when and not given(*t.when)) or (t.unless and given(*t.unless)):
                continue
            self.tell(t, current, sets, current.span if current is not None else span or self.whole)

    def tell(self, t: Template, current: Word | None, sets: Json | None, span: tuple[int, int]) -> None:
        fields, action, domain = t.fields, t.action, t.domain
        if self.sets or sets:
            fields = {**fields, **self.sets, **(sets or _NOTHING)}
            tags = [*t.fields.get("tags", ()), *self.sets.get("tags", ()), *(sets or _NOTHING).get("tags", ())]
            if tags:
                fields["tags"] = tags
            if "action" in fields:
                action = Verb(fields.pop("action"))
            elif action in _READS:
                fields = _as_read(fields, t.fields)
            if "domain" in fields:
                domain = Domain(fields.pop("domain"))
        template = fields.get("target", t.target)
        if "where" in fields:
            fields = {
                **fields,
                "where": fill(fields["where"], current.text if current is not None else None, self.values)[0]
                or "unknown",
            }
        if fields.get("dry_run"):
            action, fields = _rehearsed(action, fields)
        targets = (
            [None] if template is None else fill(template, current.text if current is not None else None, self.values)
        )
        for target in targets:
            self.out.items.append(Told(action, domain, target, fields, span, current))

    def hand(self, to: Delegate, words: Sequence[Word], span: tuple[int, int]) -> None:
        fields: Json = {k: self.sets[k] for k in ("privilege", "condition", "where", "certainty") if k in self.sets}
        for key in ("where", "privilege", "condition", "certainty"):
            value = getattr(to, key)
            if value:
                fields[key] = value
        if "where" in fields:
            fields["where"] = fill(fields["where"], None, self.values)[0] or "unknown"
        if to.cwd and (folder := fill(to.cwd, None, self.values)[-1]):
            fields["cwd"] = folder
        if to.kind == "sql":  # which server and database the statements go to
            fields |= self.server()
        if to.part:
            words = [w.with_text(FILTERS[to.part](w.text)) for w in words]
        if "{" in to.program:
            to = replace(to, program=fill(to.program, None, self.values)[0] or "")
        if "{" in to.replace and to.replace != "{}":
            to = replace(to, replace=fill(to.replace, None, self.values)[0] or "{}")
        given = self.arguments if to.kind in {"code", "script"} else ()
        self.out.items.append(Handed(to, tuple(words), fields, span, to.via or self.via, given))

    def server(self) -> Json:
        names = {"host": ("host", "h"), "database": ("dbname", "database", "d", "D")}
        return {role: next((v for n in keys for v in self.values.get(n, ())), None) for role, keys in names.items()}


_AT_HAND = re.compile(r"\{[!:}]")  # a template names the value at hand
_READS = frozenset({Verb.READ, Verb.RECEIVE})


def _as_read(fields: Json, own: Json) -> Json:
    """What an option says of a command's changes (loses, overwrites) is not true of what it only reads."""
    tags = [t for t in fields.get("tags", ()) if t != "overwrite"]
    return {**fields, "tags": tags, **{k: own[k] for k in ("destructive", "reversibility") if k in own}}


def _rehearsed(action: Verb, fields: Json) -> tuple[Verb, Json]:
    """A dry run reads what it would change."""
    action = action if action in {Verb.READ, Verb.RECEIVE, Verb.SEND} else Verb.READ
    return action, {**fields, "destructive": False, "reversibility": "read_only", "tags": []}


def _span(words: Sequence[Word]) -> tuple[int, int]:
    return (words[0].span[0], words[-1].span[1])
