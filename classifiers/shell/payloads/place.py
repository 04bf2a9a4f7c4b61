"""Where a payload starts: what the wrapper says and the state around it in, the state there out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.shell.state import Scope, State

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator


def place(ev: Evaluator, fields: Mapping[str, object], state: State, scope: Scope) -> State:
    """On another machine nothing local is known; a wrapper may name the folder."""
    away = "where" in fields and scope.where != "local"
    folder = fields.get("cwd")
    if away:
        state = State(replace(state.context, cwd=None, home=None, workspace=None), dict(state.vars))
    if isinstance(folder, str) and folder:
        state = state if away else state.copy()
        state.enter(folder, known=ev.known)
    return state
