"""Split a command's words by its option grammar: words in, ``Parsed`` (options given, operands, subcommand) out.

Understands clusters (``-rf``), values apart or attached (``-o x``, ``-ox``, ``--o=x``, ``--o x``), unambiguous
abbreviations of long options, ``--``, options before and after subcommands, single-dash long options and tar's first
word (POSIX.1-2017 §12; GNU getopt_long).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from classifiers.knowledge.build import build
from classifiers.knowledge.grammar import ATTACHED
from classifiers.knowledge.model import NO_MEANING, Node, Option
from classifiers.knowledge.words import Word

_OPTIONAL = ATTACHED["optional"]
_SUFFIX = ATTACHED["suffix"]  # of ``Option.values``
_BARE = re.compile(r"--(?:no-.+|yes|force|quiet|verbose|debug|wait|recursive|recurse)")  # never has a value
_ENDING = re.compile(r"\.[\w-]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """One option as given. ``option`` None: the grammar does not know it; ``following``: the word after it.

    ``rest``: every word after the value, of an option that makes operands of them (``last``).
    """

    option: Option | None
    spelling: str
    value: Word | None
    word: Word
    following: Word | None = None
    rest: tuple[Word, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether nobody gave this option a meaning, listed or not."""
        return self.option is None or self.option.meaning == NO_MEANING


@dataclass(slots=True)
class Parsed:
    node: Node
    hits: list[Hit] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    subs: list[Word] = field(default_factory=list)
    unknown_sub: Word | None = None
    nodes: list[Node] = field(default_factory=list)
    dashed: int = -1  # operands before ``--``
    filled: set[str] = field(default_factory=set)  # operand roles that got a word
    cut: Word | None = None  # an option whose value is missing: the text ends before it

    def values(self) -> dict[str, str]:
        """The text each option was given, by its spelling without dashes."""
        return {h.spelling.lstrip("-"): h.value.text for h in self.hits if h.value is not None}

    def words_of(self, *spellings: str) -> list[Word]:
        """The values given to an option by any of these spellings, in the order they were given."""
        return [h.value for h in self.hits if h.spelling in spellings and h.value is not None]

    def given(self, *spellings: str) -> bool:
        """Whether any of these holds: an option, ``--``, an operand role, ``operands``, ``no_operands``."""
        for wanted in spellings:
            if wanted in self.filled or (wanted == "--" and self.dashed >= 0):
                return True
            if wanted == "operands" and self.operands:
                return True
            if wanted == "no_operands" and not self.operands:
                return True
            for hit in self.hits:
                if hit.spelling == wanted or (hit.option and wanted in hit.option.spellings):
                    return True
        return False

    def occupied(self, session: tuple[str, ...]) -> bool:
        """Whether it has something to do without a person: one of ``session`` was given, or a ``!`` one was not."""
        return any(not self.given(w[1:]) if w[:1] == "!" else self.given(w) for w in session)


def parse(node: Node, words: Sequence[Word]) -> Parsed:
    """``words`` are the arguments without the program's name."""
    parsed = Parsed(node, nodes=[node])
    queue = _Queue(words)
    while (word := queue.next()) is not None:
        text = word.text
        if text == "--":
            parsed.dashed = len(parsed.operands)
            if parsed.node.subcommands is not None and not parsed.operands:
                continue
            parsed.operands += queue.rest()
        elif _is_option(text, parsed):
            _option(parsed, word, queue)
        elif parsed.node.subcommands is not None and parsed.unknown_sub is None and not parsed.operands:
            _descend(parsed, word, queue)
        elif parsed.node.style == "cluster_first" and not parsed.operands and not parsed.hits:
            _old_cluster(parsed, word, queue)
        else:
            parsed.operands.append(word)
            if parsed.node.posix and (parsed.node.posix != "second" or len(parsed.operands) > 1):
                parsed.operands += queue.rest()
    return parsed


class _Queue:
    __slots__ = ("at", "words")

    def __init__(self, words: Sequence[Word]) -> None:
        self.words, self.at = words, 0

    def next(self) -> Word | None:
        if self.at >= len(self.words):
            return None
        self.at += 1
        return self.words[self.at - 1]

    def peek(self) -> Word | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def left(self) -> int:
        return len(self.words) - self.at

    def rest(self) -> Iterator[Word]:
        while (word := self.next()) is not None:
            yield word


def _is_option(text: str, parsed: Parsed) -> bool:
    node = parsed.node
    if node.style == "none":
        return text in node.options
    if len(text) > 1 and text[0] == "-":
        return True
    return text[:1] in {"+", "/"} and (text in node.options or (text[0] == "/" and node.style == "windows"))


def _option(parsed: Parsed, word: Word, queue: _Queue) -> None:
    text, node = word.text, parsed.node
    if text.startswith("--"):
        _long(parsed, word, queue)
    elif node.style in {"single_dash", "windows"} or text in node.options or text.partition("=")[0] in node.options:
        _single(parsed, word, queue)
    else:
        _short(parsed, word, queue)


def _long(parsed: Parsed, word: Word, queue: _Queue) -> None:
    name, eq, attached = word.text.partition("=")
    if name not in parsed.node.options and word.text.partition(":")[0] in parsed.node.options:
        name, eq, attached = word.text.partition(":")  # nim's --out:app
    option = parsed.node.options.get(name) or _abbreviated(parsed.node, name)
    if option is None and parsed.node.style == "single_dash":
        option = parsed.node.options.get(name[1:])
    value = word.with_text(attached) if eq else None
    _take(parsed, option, name, value, word, queue)


def _abbreviated(node: Node, name: str) -> Option | None:
    if len(name) < 3 or node.strict or node.unknown_options == "value":
        return None  # not every option is listed: the shorter name may be another (``--direct``, ``--directory``)
    found = {node.options[s].name: node.options[s] for s in node.long_names if s.startswith(name)}
    option = next(iter(found.values())) if len(found) == 1 else None
    if option and option.values > 0 and any(s.startswith(name + "-") for s in option.spellings):
        return None  # ``--freq`` beside ``--freq-count``: whole words more likely are an option of their own
    return None if option and option.values > 0 and node.long_options == "whole" else option


def _single(parsed: Parsed, word: Word, queue: _Queue) -> None:
    name, eq, attached = word.text.partition("=")
    options = parsed.node.options
    if word.text in options:
        name, eq = word.text, ""
    elif word.text.partition(":")[0] in options:  # java's -javaagent:a.jar
        name, eq, attached = word.text.partition(":")
    option = options.get(name) or options.get("-" + name)
    if option is None and parsed.node.style == "windows":
        option = options.get(name.lower()) or options.get(name.upper())
    _take(parsed, option, name, word.with_text(attached) if eq else None, word, queue)


def _short(parsed: Parsed, word: Word, queue: _Queue) -> None:
    letters = word.text[1:]
    for i, letter in enumerate(letters):
        option = parsed.node.options.get("-" + letter)
        rest = letters[i + 1 :]
        if option is None or option.values == 0 or _in_cluster(option, rest, parsed.node):
            parsed.hits.append(Hit(option, "-" + letter, None, word))
            continue
        value = word.with_text(rest.removeprefix("=")) if rest else None
        _take(parsed, option, "-" + letter, value, word, queue)
        return


def _in_cluster(option: Option, rest: str, node: Node) -> bool:
    """Whether letters after a letter that may have a value are options too: that value would mean nothing, they do."""
    if option.values != _OPTIONAL or option.meaning != NO_MEANING or not rest:
        return False
    return all("-" + letter in node.options for letter in rest)


def _old_cluster(parsed: Parsed, word: Word, queue: _Queue) -> None:
    """The first word of tar, without a dash: letters take their values from the next words (GNU tar, "Old Options")."""
    for letter in word.text:
        option = parsed.node.options.get("-" + letter)
        if option is None or option.values == 0:
            parsed.hits.append(Hit(option, "-" + letter, None, word))
        else:
            _take(parsed, option, "-" + letter, None, word, queue)


def _take(parsed: Parsed, option: Option | None, name: str, value: Word | None, word: Word, queue: _Queue) -> None:
    """Record one option, with its value from the next word where its grammar says so."""
    following = queue.peek()
    if option is None:
        if (
            value is None
            and parsed.node.unknown_options == "value"
            and not _BARE.fullmatch(name)
            and following
            and not following.text.startswith("-")
        ):
            value = queue.next()
    elif value is None and option.values > 0:
        value = queue.next()
        if value is None:
            parsed.cut = word
        for _ in range(option.values - 1):
            last = queue.next()
            value = last or value
    elif value is None and option.values == _SUFFIX and following is not None and not name.startswith("--"):
        value = _suffix(following, queue)
    rest = tuple(queue.rest()) if option is not None and option.last else ()
    parsed.hits.append(Hit(option, name, value, word, following, rest))
    parsed.operands += rest


def _suffix(following: Word, queue: _Queue) -> Word | None:
    """BSD's ``sed -i .old …``: the word after is the suffix of the backup, and when it is empty there is none."""
    if not following.text:
        queue.next()
    elif _ENDING.fullmatch(following.text) and queue.left() > 1:  # no sed script begins with a full stop
        return queue.next()
    return None


def _descend(parsed: Parsed, word: Word, queue: _Queue) -> None:
    node = parsed.node
    child = find_sub(node, word.text)
    if child is not None:
        parsed.node = child
        parsed.nodes.append(child)
        parsed.subs.append(word)
    elif node.unknown_subcommand == "operand":
        parsed.unknown_sub = word
        parsed.operands += [word, *queue.rest()] if node.posix else [word]
    else:
        parsed.unknown_sub = word


def find_sub(node: Node, text: str) -> Node | None:
    """The subcommand ``text`` names: exactly, else the first pattern that matches."""
    subs = node.subcommands or {}
    compiled = subs.get(text)
    if compiled is None:
        patterns = ((k, v) for k, v in subs.items() if "*" in k or "?" in k)
        compiled = next((v for k, v in patterns if fnmatchcase(text, k)), None)
    if isinstance(compiled, str):
        compiled = subs[compiled]
    if compiled is None:
        return None
    key = (id(compiled), id(node))
    if key not in _BUILT:
        _BUILT[key] = (build(compiled, node.file, node), compiled, node)  # kept alive, so the ids stay theirs
    return _BUILT[key][0]


_BUILT: dict[tuple[int, int], tuple[Node, object, Node]] = {}
