"""The second reading: bashlex on the same skeleton, its simple commands against tree-sitter's; a difference is told.

In: the script and the first parser's statements. Out: ``Reading`` (agree, no reading, or the two readings that differ).
Names are compared first, then words, after one shared resolution that drops quoting, so formatting never counts.
bashlex does not read ``[[ ]]``, arrays, ``case``, C-style ``for``, arithmetic; that is "no reading", not a difference.
Its time grows with the square of the words (8 s for 100 kB), hence the caps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from classifiers.shell import bashlex_progress, ir
from classifiers.shell.heredocs import lift

MAX_BYTES = 4096
MAX_WORDS = 300
MAX_DEPTH = 60
Words = tuple[str, ...]
_TESTS = frozenset({"[", "test"})  # tree-sitter gives tests a node of their own; they have no effects
_UNREADABLE = re.compile(
    r"\[\[|\{\w+\}[<>]|\d<<<|\$\{\w+[#%/^,][^}]*(?:\$\(|`)|\bcase\b|\bselect\b|\bcoproc\b|\btime\b|\$\(\(|\(\(|=\(|\bfor\s*\(\(|[?*+@!]\("
    r"|'[^']*\"[^']*'(?:\$\(|`)"  # a double quote within single quotes hides the substitution after them from bashlex
)

_ELEMENT = re.compile(r"[A-Za-z_]\w*\[[^\]]*\]\+?=")


@dataclass(frozen=True, slots=True)
class Reading:
    """``agrees`` None: bashlex gave no reading. ``first`` and ``second`` are the commands that differ."""

    agrees: bool | None
    why: str = ""
    first: Words = ()
    second: Words = ()


def second_reading(text: str, body: ir.Body) -> Reading:
    """Compare the two parsers on one script. Never raises."""
    skeleton, _ = lift(text)
    if not skeleton.strip():
        return Reading(None, "empty")
    if len(skeleton.encode("utf-8", "replace")) > MAX_BYTES or len(skeleton.split()) > MAX_WORDS:
        return Reading(None, "over the second parser's size cap")
    if _depth(skeleton) > MAX_DEPTH:
        return Reading(None, "nested too deep")
    if _UNREADABLE.search(skeleton):
        return Reading(None, "a construct bashlex does not read")
    try:
        theirs = _bashlex(skeleton)
    except Exception as error:  # bashlex raises many kinds on what it cannot read
        return Reading(None, f"bashlex: {type(error).__name__}")
    ours = sorted(_commands(body))
    return _compare(ours, sorted(theirs))


def _compare(ours: list[Words], theirs: list[Words]) -> Reading:
    names, others = sorted(w[0] for w in ours), sorted(w[0] for w in theirs)
    if names == others and ours == theirs:
        return Reading(True)
    left = [w for w in ours if w not in theirs]
    right = [w for w in theirs if w not in ours]
    first, second = (left[0] if left else ()), (right[0] if right else ())
    return Reading(False, "names" if names != others else "words", first, second)


def _depth(text: str) -> int:
    """Deepest nesting of brackets, quotes ignored: an upper bound is enough."""
    depth = deepest = 0
    for char in text:
        depth += 1 if char in "({" else -1 if char in ")}" else 0
        deepest = max(deepest, depth)
    return deepest


# tree-sitter's side
def _commands(body: ir.Body) -> Iterator[Words]:
    for statement in body:
        yield from _in_statement(statement)


def _in_statement(node: ir.Stmt) -> Iterator[Words]:
    match node:
        case ir.Simple():
            yield from _in_simple(node)
        case ir.Pipeline():
            yield from _commands(node.items)
        case ir.AndOr():
            yield from _commands([node.left, node.right])
        case ir.Background():
            yield from _in_statement(node.body)
        case ir.Group():
            yield from _commands(node.body)
            yield from _in_words([r.target for r in node.redirects if r.target is not None])
        case ir.If():
            for condition, body in node.branches:
                yield from _commands([*condition, *body])
            yield from _commands(node.otherwise or [])
        case ir.Loop():
            yield from _commands(node.condition or [])
            yield from _in_words(node.words or [])
            yield from _commands(node.body)
        case ir.Function():
            yield from _commands(node.body)
        case ir.Test():
            yield from _in_words(node.words)
        case ir.Case() | ir.Broken():
            return


def _in_simple(node: ir.Simple) -> Iterator[Words]:
    if node.declare:
        rest = [_resolve(w.raw) for w in node.words[1:]] + [_assigned(a) for a in node.assigns]
        yield (_resolve(node.words[0].raw), *sorted(rest))
    elif node.words and node.words[0].raw not in _TESTS:
        texts = [_resolve(w.raw) for w in node.words]
        yield (texts[0], *sorted(texts[1:]))
    values = [a.value for a in node.assigns if a.value is not None]
    yield from _in_words([*values, *node.words, *(r.target for r in node.redirects if r.target is not None)])


def _assigned(assign: ir.Assign) -> str:
    return _resolve(f"{assign.name}={assign.value.raw if assign.value else ''}")


def _in_words(words: list[ir.WordIR]) -> Iterator[Words]:
    for word in words:
        for part in word.parts:
            if isinstance(part, ir.Sub | ir.Proc):
                yield from _commands(part.body)
            elif isinstance(part, ir.Var) and part.arg is not None:
                yield from _in_words([part.arg])


# bashlex's side
def _bashlex(skeleton: str) -> list[Words]:
    out: list[Words] = []
    for tree in bashlex_progress.parse(skeleton):
        _visit(tree, skeleton, out)
    return out


def _visit(node: Any, text: str, out: list[Words]) -> None:
    if node.kind == "command":
        words = [text[p.pos[0] : p.pos[1]] for p in node.parts if p.kind == "word"]
        while words and _ELEMENT.match(words[0]):  # bashlex takes ``a[k]=v`` for a command's name
            words.pop(0)
        if words and words[0] not in _TESTS:
            out.append((_resolve(words[0]), *sorted(_resolve(w) for w in words[1:])))
    for attribute in ("parts", "list", "redirects"):
        for child in getattr(node, attribute, None) or ():
            _visit(child, text, out)
    for attribute in ("command", "output") if node.kind == "function" else ("command", "body", "output"):
        child = getattr(node, attribute, None)
        if child is not None and hasattr(child, "kind"):
            _visit(child, text, out)


def _resolve(word: str) -> str:
    """One word without its quoting marks: what both parsers' spelling of it comes to."""
    return re.sub(r"\\\n|['\"\\\s]|\$(?=['\"])", "", word)
