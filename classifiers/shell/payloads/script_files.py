"""Files that are executed: a path in, what the file does out when this very call wrote it, else ``execute`` of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers import paths
from classifiers.effects import Domain, FlowKind, OpaqueReason, Tag, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.words import Word
from classifiers.shell import descriptors
from classifiers.shell.emit import tell
from classifiers.shell.payloads.elsewhere import read_elsewhere
from classifiers.shell.payloads.orders import SHELLS
from classifiers.shell.payloads.scripts import run_text, with_arguments
from classifiers.shell.payloads.stdin import feed
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator


_NET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/(.+)")
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


def given(name: str, arguments: Sequence[Word]) -> tuple[str, ...]:
    """What a script finds in ``$0``, ``$1`` …: nothing to say without arguments, or when a word may be several."""
    return (name, *(w.text for w in arguments)) if arguments and not any(w.glob for w in arguments) else ()


def run_file(ev: Evaluator, word: Word, state: State, scope: Scope, *, language: str) -> Stream:
    """A file that is executed: read when this very call wrote it, else ``execute`` with its path."""
    path = paths.canonical(word.text, state.context.cwd, state.context.home) if ev.known(word.text) else word.text
    if word.text in ev.mark_streams:  # bash <(curl …)
        return feed(ev, ev.mark_streams[word.text], language, word.span, state, scope)
    held = descriptors.opened(word.text, state)
    if held is not None:  # bash /dev/fd/3
        return feed(ev, held, language or "shell", word.span, state, scope)
    socket = _socket(ev, word, state, scope)
    if socket is not None:
        return feed(ev, Stream(None, (socket,), network=True), language or "shell", word.span, state, scope)
    known = state.files.get(state.key(word.text)) if scope.where == "local" and ev.known(word.text) else None
    if known is not None and known.text is not None and ev.known(known.text):
        return _run_written(ev, known.text, word, language, state, scope)
    if language == "crontab":
        ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(word.span), "the jobs are in a file outside the call")
        return Stream(None)
    domain = Domain.CODE if language else Domain.PROCESS
    index = tell(ev, Verb.EXECUTE, domain, path, word.span, state, scope, destructive=None)
    if index is None:
        return Stream(None)
    if language:
        ev.out.hide(
            OpaqueReason.PAYLOAD_UNREADABLE,
            scope.span(word.span),
            f"the script {ev.unknowns.reveal(word.text)} is not in the call",
        )
    if known is None and not word.text.startswith(("/", "~")):  # within what was cloned or unpacked
        for source in state.fetched:
            ev.out.flow(FlowKind.REMOTE_CODE, source, index)
            ev.out.tag(index, Tag.REMOTE_CODE)
    if known is not None and known.sources:
        received = [s for s in known.sources if ev.out.effects[s].action is Verb.RECEIVE]
        for source in received or known.sources[-1:]:
            ev.out.flow(FlowKind.REMOTE_CODE if received else FlowKind.WRITE_THEN_EXECUTE, source, index)
        if received:
            ev.out.tag(index, Tag.REMOTE_CODE)
            if not language:
                ev.out.hide(
                    OpaqueReason.PAYLOAD_UNREADABLE, scope.span(word.span), "what was downloaded is not in the call"
                )
    return Stream(None)


def _socket(ev: Evaluator, word: Word, state: State, scope: Scope) -> int | None:
    """The effect of the connection a name stands for: ``. /dev/tcp/host/port``, ``source /dev/fd/3``."""
    if held := _DESCRIPTOR.fullmatch(word.text):
        return state.sockets.get(int(held[1]))
    if net := _NET.fullmatch(word.text):
        told = {"destructive": None, "reversibility": "externally_reversible"}
        return tell(ev, Verb.SEND, Domain.NETWORK, f"{net[1]}:{net[2]}", word.span, state, scope, **told)
    return None


def _run_written(ev: Evaluator, text: str, word: Word, language: str, state: State, scope: Scope) -> Stream:
    kind = language or shebang(text)
    index = tell(ev, Verb.EXECUTE, Domain.CODE, word.text, word.span, state, scope, destructive=False)
    written = paths.canonical(word.text, state.context.cwd, state.context.home)
    source = next(
        (i for i, e in enumerate(ev.out.effects) if e.target == written and e.action in {Verb.MODIFY, Verb.CREATE}),
        None,
    )
    ev.out.flow(FlowKind.WRITE_THEN_EXECUTE, source, index)
    inner = replace(scope, fixed=scope.span(word.span), via=(*scope.via, word.text))
    if kind in SHELLS or kind == "shell":
        local = with_arguments(state, scope.given)
        return run_text(ev, text, local, replace(inner, given=()), [], scope.span(word.span))
    return read_elsewhere(ev, "code", text, Delegate("code", kind), word.span, (word,), state, inner)


def shebang(text: str) -> str:
    """The language the first line of a script names; a shell's when it names none."""
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        return "shell"
    words = first[2:].split()
    name = words[-1] if words and words[0].endswith("/env") else (words[0] if words else "sh")
    name = name.rpartition("/")[2].rstrip("0123456789.")
    return "shell" if name in SHELLS else name
