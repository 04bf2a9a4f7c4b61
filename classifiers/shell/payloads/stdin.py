"""Standard input that is executed: a stream and who reads it in, what that does out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.words import Word
from classifiers.shell.emit import inner_scope, tell
from classifiers.shell.payloads.elsewhere import read_elsewhere
from classifiers.shell.payloads.orders import ESCAPES, SHELLS, SILENT_ALONE, orders
from classifiers.shell.payloads.place import place
from classifiers.shell.payloads.scripts import run_text, with_arguments
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator
    from classifiers.shell.redirects import Plan


def read_stdin(
    ev: Evaluator,
    to: Delegate,
    words: Sequence[Word],
    name: str,
    state: State,
    scope: Scope,
    plan: Plan | None,
    server: dict[str, str | None] | None = None,
) -> None:
    """A program that takes its payload from standard input when no operand gives one."""
    stdin = scope.stdin
    word = words[0]
    socket = (plan is not None and plan.network is not None) or (stdin is not None and stdin.network)
    if stdin is None and to.kind == "sql":
        target = _database(to.language, server or {})
        tell(ev, Verb.EXECUTE, Domain.DATABASE, target, word.span, state, scope, destructive=None)
        return
    if to.language == "letter" and (stdin is None or stdin.text is None or not ev.known(stdin.text)):
        return  # a letter is text
    if stdin is None and to.where:  # a session on another machine, which is told already
        return
    if socket and to.kind == "shell":
        told = {"destructive": None, "tags": ("reverse_shell",)}
        tell(ev, Verb.EXECUTE, Domain.CODE, name, word.span, state, scope, **told)
    elif stdin is None or socket:
        if to.kind in {"shell", "code"} and to.language not in SILENT_ALONE:
            tell(ev, Verb.EXECUTE, Domain.PROCESS, name, word.span, state, scope, destructive=None)
    else:
        fields = {k: getattr(to, k) for k in ("where", "privilege", "condition") if getattr(to, k)}
        inner = inner_scope(scope, fields, to.via or name)
        there = place(ev, {"where": to.where} if to.where else {}, state, inner)
        feed(ev, stdin, to.language if to.kind == "code" else to.kind, word.span, there, inner, to, server)


def feed(
    ev: Evaluator,
    stream: Stream,
    language: str,
    span: tuple[int, int],
    state: State,
    scope: Scope,
    to: Delegate | None = None,
    server: dict[str, str | None] | None = None,
) -> Stream:
    """Content of a stream, executed. ``server``: the host and database SQL goes to."""
    text = stream.text
    inner = replace(scope, stdin=None, fixed=scope.span(span))
    commands = None if text is None else orders(language, text, known=ev.known(text), server=server or {})
    if commands == "" and language in ESCAPES:
        return Stream(None)  # text without an escape: what comes of it is not known, but nothing runs
    if commands is not None:
        return run_text(ev, commands, state.copy(), inner, [], scope.span(span))
    if text is not None and (ev.known(text) or language in {"shell", "bash", "sh"}):
        if language in {"shell", *SHELLS}:
            fed = [stream] if stream.decoded or stream.sources else []
            local = with_arguments(state, scope.given)
            return run_text(ev, text, local, replace(inner, given=()), fed, scope.span(span))
        if text.strip():
            kind = to.kind if to is not None else "code"
            return read_elsewhere(ev, kind, text, to or Delegate("code", language), span, (), state, inner, server)
        return Stream(None)
    if to is not None and to.kind == "files":  # a patch in a file: which files it names is not in the call
        tell(ev, Verb.MODIFY, Domain.FILESYSTEM, ".", span, state, scope, destructive=False, reversibility="reversible")
        return Stream(None)
    if language == "sql" and stream.dump and to is not None:  # one database put into another
        _restore(ev, to.language, server or {}, span, state, scope)
        return Stream(None)
    _unread(ev, stream, language, span, state, scope)
    return Stream(None)


def _unread(ev: Evaluator, stream: Stream, language: str, span: tuple[int, int], state: State, scope: Scope) -> None:
    domain = Domain.DATABASE if language in {"sql", "redis"} else Domain.CODE
    index = tell(ev, Verb.EXECUTE, domain, None, span, state, scope, destructive=None)
    ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(span), "what is piped in is not in the call")
    if index is not None:
        ev.code_flow(stream, index)


def _restore(
    ev: Evaluator, engine: str, server: dict[str, str | None], span: tuple[int, int], state: State, scope: Scope
) -> None:
    target = _database(engine, server)
    tell(ev, Verb.MODIFY, Domain.DATABASE, target, span, state, scope, destructive=None, reversibility="unknown")


def _database(engine: str, server: dict[str, str | None]) -> str:
    return f"db:{engine}:{server.get('host') or '*'}/{server.get('database') or '*'}"
