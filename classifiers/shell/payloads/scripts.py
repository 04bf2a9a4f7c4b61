"""Scripts in strings (``bash -c``, ``eval``, ``ssh host '…'``): the text in, what it prints out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import Certainty, Domain, FlowKind, OpaqueReason, Tag, Verb
from classifiers.knowledge.reading import Handed
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.state import Scope, State, Stream, stronger

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator


def run_string(ev: Evaluator, item: Handed, state: State, scope: Scope) -> Stream:
    """A script one word holds, or several words joined; those after it are its ``$0``, ``$1`` …"""
    words = item.words
    if item.to.vars:
        state = state.copy()
        for name, _, value in (pair.partition("=") for pair in item.to.vars.split()):
            state.vars[name] = value
            state.globby.add(name)
    if len(words) > 1 and not item.to.join:
        state = state.copy()
        state.vars.update({str(i): w.text for i, w in enumerate(words[1:])})
        state.vars["@"] = [w.text for w in words[2:]]
        words = words[:1]
    text = " ".join(w.text for w in words)
    if len(words) == 1 and not item.to.join and item.to.condition:
        scope = replace(scope, condition=stronger(scope.condition, scope.condition))
    streams = ev.streams_in(list(words))
    if len(words) == 1 and not ev.known(text) and len(text.strip()) == 1:
        return _unread(ev, words[0], streams, state, scope)
    decoded = any(s.decoded for s in streams)
    span = scope.span(item.span)
    fixed = scope.fixed
    offset = scope.offset
    word = words[0]
    if len(words) == 1 and fixed is None and word.span[1] - word.span[0] == len(text) + 2:
        offset = span[0] + 1  # a plainly quoted string: positions inside it are the argument's own
    else:
        fixed = span
    inner = replace(scope, offset=offset, fixed=fixed, certainty=Certainty.DECODED if decoded else scope.certainty)
    return run_text(ev, text, state, inner, streams, span)


def _unread(ev: Evaluator, word: Word, streams: list[Stream], state: State, scope: Scope) -> Stream:
    index = tell(ev, Verb.EXECUTE, Domain.CODE, word.text, word.span, state, scope, destructive=None)
    ev.out.hide(OpaqueReason.DYNAMIC_COMMAND, scope.span(word.span), ev.unknowns.reveal(word.text))
    if index is not None:
        if state.sockets:
            ev.out.tag(index, Tag.REVERSE_SHELL)
        for stream in streams:
            ev.code_flow(stream, index)
    return Stream(None)


def with_arguments(state: State, given: tuple[str, ...]) -> State:
    """The state a script starts in: its ``$0``, ``$1`` … and ``$@`` are what it was ``given``."""
    local = state.copy()
    local.vars |= {str(i): value for i, value in enumerate(given)}
    local.vars |= {"@": list(given[1:])} if given else {}
    return local


def run_text(
    ev: Evaluator, text: str, state: State, scope: Scope, streams: list[Stream], span: tuple[int, int]
) -> Stream:
    """Read ``text`` as a script."""
    from classifiers.shell.treesitter import TooDeepError, TooLongError, parse  # noqa: PLC0415 - loads the grammar

    ev.out.tick()
    before = len(ev.out.effects)
    if any(s.decoded for s in streams):
        index = tell(
            ev, Verb.EXECUTE, Domain.CODE, None, (0, 0), state, replace(scope, fixed=span), destructive=False,
            certainty="decoded", tags=("decoded_code", "obfuscated"),
        )  # fmt: skip
        ev.out.flow(FlowKind.DECODED_CODE, None, index)
        scope = replace(scope, certainty=Certainty.DECODED)
    try:
        body = parse(text, ev.out.tick)
    except TooLongError:
        ev.out.hide(OpaqueReason.SIZE_CAP, span, f"{len(text)} characters")
        return Stream(None)
    except (TooDeepError, RecursionError):
        ev.out.hide(OpaqueReason.DEPTH_CAP, span, "nested too deep")
        return Stream(None)
    stream, _ = ev.body(body, state, scope)
    for source in streams:
        for index in range(before, len(ev.out.effects)):
            if source.sources and ev.out.effects[index].domain is Domain.CODE:
                ev.code_flow(source, index)
    return stream
