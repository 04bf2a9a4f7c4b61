"""Text written where it will be run by itself (start-up files, hooks, jobs, units, settings that name programs).

In: the path and the text one command put there. Out: what its commands do, ``deferred``; a job or a hook whose text the
call does not hold makes the action incomplete (docs/effects.md, "deferred unread payload").
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from classifiers import paths
from classifiers.datafile import table
from classifiers.effects import Condition, OpaqueReason, Tag
from classifiers.knowledge.model import Delegate
from classifiers.pathglobs import compile_globs
from classifiers.shell.flows import is_remote
from classifiers.shell.payloads.elsewhere import read_elsewhere
from classifiers.shell.payloads.later_readers import READERS
from classifiers.shell.payloads.orders import SHELLS
from classifiers.shell.payloads.script_files import shebang
from classifiers.shell.payloads.scripts import run_text
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class _Row:
    matches: Callable[[str], bool]
    reader: str
    unread: bool
    here: bool


@cache
def _rows() -> tuple[_Row, ...]:
    rows = table("shell/payloads/later.yaml")["later"]
    return tuple(
        _Row(compile_globs(r["patterns"]), r["reader"], bool(r.get("unread")), bool(r.get("here"))) for r in rows
    )


def _row(path: str, home: str | None) -> _Row | None:
    seen = paths.tilde(path, home)
    return next((row for row in _rows() if row.matches(seen)), None)


def is_run_from(path: str, home: str | None) -> bool:
    """Whether text in this file makes something run by itself."""
    return _row(path, home) is not None


def runs_later(ev: Evaluator, path: str, stream: Stream, index: int | None, state: State, scope: Scope) -> None:
    """``stream`` was put into ``path`` by effect ``index``: read what will run, or say that nobody can."""
    row = _row(path, state.context.home)
    if row is None or index is None:
        return
    evidence = ev.out.effects[index].evidence
    span = (evidence.start, evidence.end) if evidence is not None else (0, 0)
    if stream.text is None:
        if row.unread or stream.network or any(is_remote(ev.out.effects[i]) for i in stream.sources):
            ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, span, f"what will run from {path} is not in the call")
        return
    if scope.depth >= _MAX_DEPTH:
        ev.out.hide(OpaqueReason.DEPTH_CAP, span, path)
        return
    inner = replace(
        scope.under(Condition.DEFERRED), stdin=None, fixed=span, via=(*scope.via, posixpath.basename(path)),
        given=(), depth=scope.depth + 1,
    )  # fmt: skip
    before = len(ev.out.effects)
    _read(ev, row, stream.text, span, _then(state, here=row.here), inner)
    if len(ev.out.effects) > before:
        ev.out.tag(index, Tag.PERSISTENCE)


def _then(state: State, *, here: bool) -> State:
    """What a later process knows of now: the files, and for a repository's own hooks the folder."""
    later = State(state.context, files=dict(state.files))
    if not here:
        later.chdir(None)
    return later


def _read(ev: Evaluator, row: _Row, text: str, span: tuple[int, int], state: State, scope: Scope) -> None:
    language = shebang(text) if row.reader == "script" else "shell"
    if row.reader in READERS:
        for script in READERS[row.reader](text):
            run_text(ev, script, state.copy(), scope, [], span)
    elif language == "shell" or language in SHELLS:
        run_text(ev, text, state, scope, [], span)
    else:
        read_elsewhere(ev, "code", text, Delegate("code", language), span, (), state, scope)
