"""Shell text in, Action out: ``classify_shell``.

``treesitter`` reads the text, ``evaluate.py`` is the walk, ``control.py`` and ``run.py`` say how statements and
commands are read, ``knowledge`` what programs do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from classifiers.clock import loading
from classifiers.context import NOWHERE, Context
from classifiers.effects import Action, Domain, Effect, Evidence, Opaque, OpaqueReason, Surface, Verb
from classifiers.knowledge import knowledge
from classifiers.knowledge.interpret import specials
from classifiers.paths import facts
from classifiers.shell.blocks import forms, without_blocks
from classifiers.shell.builtins import BUILTINS
from classifiers.shell.collect import Collector, OutOfTimeError
from classifiers.shell.conditions import arithmetic
from classifiers.shell.control import STATEMENTS
from classifiers.shell.environment import assigned_by_wrapper
from classifiers.shell.evaluate import MAX_PAYLOADS, Evaluator, Readers
from classifiers.shell.guesses import guess
from classifiers.shell.ir import Body
from classifiers.shell.programs import run_program
from classifiers.shell.run import run_argv
from classifiers.shell.second import second_reading
from classifiers.shell.state import Scope, State

MAX_TEXT = 200_000
_READERS = Readers(STATEMENTS, BUILTINS, run_argv, run_program, arithmetic, assigned_by_wrapper)


def classify_shell(
    text: str, context: Context = NOWHERE, *, path: str = "command", depth: int = 0, both: bool = True
) -> Action:
    """What a shell script could do. Never raises; what cannot be read is opaque with its reason.

    ``both``: ask the second parser too, after the answer (``second.py``); a difference makes the action incomplete.
    ``path`` is the JSON path of ``text`` within the call's arguments; evidence spans are code points of ``text``.
    """
    _warm()
    collector = Collector(context.max_ms)
    if len(text) > MAX_TEXT:
        return _given_up(collector, text, path, OpaqueReason.SIZE_CAP, f"{len(text)} characters")
    if depth > MAX_PAYLOADS:
        return _given_up(collector, text, path, OpaqueReason.DEPTH_CAP, f"{depth} payloads deep")
    try:
        return _classify(text, context, path, depth, collector, both=both)
    except OutOfTimeError:
        return _given_up(collector, text, path, OpaqueReason.SIZE_CAP, f"over {context.max_ms:g} ms")
    except RecursionError:
        return _given_up(collector, text, path, OpaqueReason.DEPTH_CAP, "nested too deep")
    except Exception as error:  # our own fault is an unread command, never a lost one
        return _given_up(collector, text, path, OpaqueReason.PARSE_ERROR, f"the reader failed: {type(error).__name__}")


@cache
@loading()
def _warm() -> None:
    """Load knowledge, tables and the grammar before the first command's clock starts."""
    from classifiers.shell.treesitter import parse  # noqa: PLC0415 - loads the grammar

    knowledge()
    specials()
    forms()
    facts("/", NOWHERE)
    parse(":")


def _classify(text: str, context: Context, path: str, depth: int, collector: Collector, *, both: bool) -> Action:
    from classifiers.shell.treesitter import TooDeepError, TooLongError, parse  # noqa: PLC0415 - loads the grammar

    text = without_blocks(text, lambda lines: classify_shell(lines, context, depth=depth + 1, both=False))
    try:
        body = parse(text, collector.tick)
    except TooLongError:
        return _given_up(collector, text, path, OpaqueReason.SIZE_CAP, f"{len(text)} characters")
    except TooDeepError:
        return _given_up(collector, text, path, OpaqueReason.DEPTH_CAP, "nested too deep")
    state = State(replace(context, workspace=context.workspace or context.cwd or ""))
    evaluator = Evaluator(context, path, collector, _READERS)
    evaluator.body(body, state, Scope(depth=depth))
    if depth == 0:
        guess(evaluator, text, state, Scope())
    parsers = _second(text, body, collector) if both and depth == 0 else ("tree-sitter",)
    return collector.action(parsers, state.context.cwd if state.context.cwd != context.cwd else None)


def _second(text: str, body: Body, collector: Collector) -> tuple[str, ...]:
    """Ask bashlex; a difference is how guards get evaded, so it makes the action incomplete with both readings."""
    reading = second_reading(text, body)
    if reading.agrees is None:
        return ("tree-sitter",)
    if not reading.agrees:
        said = f"tree-sitter reads {list(reading.first)}, bashlex {list(reading.second)}"
        collector.hide(OpaqueReason.PARSERS_DISAGREE, None, said)
        collector.note(f"the parsers differ in {reading.why}: {said}")
    return ("tree-sitter", "bashlex")


def _given_up(collector: Collector, text: str, path: str, reason: OpaqueReason, why: str) -> Action:
    """What was read so far, one unknown effect for the rest, and the reason."""
    rest = Effect(Domain.UNKNOWN, Verb.UNKNOWN, destructive=None, evidence=Evidence(path, 0, len(text)))
    done = collector.action(("tree-sitter",), None)
    opaque = (*done.opaque, Opaque(reason, (0, len(text)), why))
    return Action(Surface.SHELL, (*done.effects, rest), done.flows, opaque, done.parsers, done.notes)
