"""Commands given as words (``sudo``, ``env``, ``xargs`` …): the words in, what the command prints out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import OpaqueReason
from classifiers.knowledge.index import lookup
from classifiers.knowledge.reading import Handed
from classifiers.knowledge.special import parallel
from classifiers.knowledge.words import Word
from classifiers.shell.payloads.scripts import run_string
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator
    from classifiers.shell.redirects import Plan

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=|BASH_FUNC_[^=\s]+=")
_EXPORTED = re.compile(r"BASH_FUNC_(\w+)(?:%%|\(\))")
_VERSION = re.compile(r"[@=<>~\[]")
MAX_STDIN_WORDS = 50
MAX_LINES = 10


def run_words(ev: Evaluator, item: Handed, state: State, scope: Scope, plan: Plan | None) -> Stream:
    """A wrapper's command; with ``append`` or ``replace`` its input gives the words that are missing."""
    words = [Word(p, item.span) for p in item.to.program.split()] + list(item.words)
    if item.to.until:
        stop = next((i for i, w in enumerate(words) if w.text in item.to.until), len(words))
        words = words[:stop]
    if words and _ASSIGNMENT.match(words[0].text):  # sudo A=1 cmd, env A=1 cmd
        state = state.copy()
        given = []
        while words and _ASSIGNMENT.match(words[0].text):
            given.append(words.pop(0))
            _set(given[-1], state)
        words = ev.readers.assigned(ev, given, words, state, scope)
    if len(words) > 1 and words[0].text in {"-c", "-lc"}:  # flock file -c 'script'
        return run_string(ev, replace(item, words=tuple(words[1:2])), state, scope)
    if item.to.language == "entrypoint" and words and words[0].text.startswith("-"):
        return Stream(None)  # options of the program that the image starts, and the image is told already
    if item.to.language == "known" and words:
        name = words[0].text.rpartition("/")[2].partition("@")[0]
        if lookup(name) is None:
            return Stream(None)  # the wrapper has said that it runs it
        words[0] = words[0].with_text(name)
    if item.to.language == "package" and words:
        words = _from_package(words, known=ev.known(words[0].text))
        if lookup(words[0].text) is None:
            ev.out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, scope.span(item.span), words[0].text)
            return Stream(None)
    runs = [words]
    if item.to.append == "stdin" or item.to.replace:
        runs = with_input(ev, words, item, scope)
        scope = replace(scope, stdin=None)
    out = scope.stdin or Stream(None)
    for run in runs:
        if run:
            local = state if scope.where == "local" else state.copy()
            out, _ = ev.run_argv(run, local, scope, plan)
    return out


def _from_package(words: list[Word], *, known: bool) -> list[Word]:
    """The program a package is run for: ``tsc@5`` is tsc; of a scope only what is described, as ``scope__name``.

    ``npm create vite`` runs create-vite; its ``--`` ends npm's own options.
    """
    made = words[0].text == "create" and len(words) > 1
    words = [words[1], *(w for w in words[2:] if w.text != "--")] if made else list(words)
    scope, _, name = words[0].text.rpartition("/")
    name = _VERSION.split(name, maxsplit=1)[0]
    name = f"create-{name}" if made else name
    if scope:
        name = f"{scope[1:]}__{name}" if scope.startswith("@") else words[0].text
    words[0] = words[0].with_text(name if known else words[0].text)
    return words


def _set(word: Word, state: State) -> None:
    """A variable, or a function bash exports as one, for the command that follows."""
    name, _, value = word.text.partition("=")
    state.vars[name] = value
    function = _EXPORTED.fullmatch(name)
    if function is not None:
        from classifiers.shell.treesitter import parse  # noqa: PLC0415 - loads the grammar

        state.functions[function[1]] = parse(value.partition(")")[2])


def _items(text: str) -> list[str]:
    """What xargs makes of its input: words, or what NUL ends (``-0``)."""
    return [item for item in text.split("\0") if item] if "\0" in text else text.split()


def with_input(ev: Evaluator, words: list[Word], item: Handed, scope: Scope) -> list[list[Word]]:
    """xargs and parallel: input lines become operands, or replace the token ``-I`` names."""
    text = scope.stdin.text if scope.stdin is not None else None
    known = text is not None and ev.known(text)
    lines = _items(text) if text is not None and known else None
    mark = ev.unknowns.mark("<stdin>")
    if scope.stdin is not None and lines is None:
        ev.mark_streams[mark] = scope.stdin
    token = item.to.replace
    default = item.via == "parallel" and token == parallel.INPUT
    fill = parallel.fill if default else lambda t, value: t.replace(token, value)
    if token and any(fill(w.text, mark) != w.text for w in words[item.to.kind != "shell" :]):
        whole = text.strip("\n\0").split("\0" if "\0" in text else "\n") if text is not None and known else []
        values = whole if 0 < len(whole) <= MAX_LINES else [mark]
        return [[w.with_text(fill(w.text, value)) for w in words] for value in values]
    if not words:
        return []
    fed = lines if lines is not None and len(lines) <= MAX_STDIN_WORDS else [mark]
    return [[*words, *(Word(t, item.span, glob=t == mark) for t in fed)]]
