"""Loops without an end that start work and never wait for it: a loop in, whether its turns pile up out.

Each turn adds a process, so the machine runs out of them (setrlimit(2), RLIMIT_NPROC). A turn that waits, sleeps,
reads, leaves the loop or runs its work in front does not pile up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from classifiers.shell import ir

_ALWAYS = re.compile(r"(?:true|:|/bin/true|\[\[?\s*(?:1|true)\s*\]?\]|\(\(\s*[1-9]\d*\s*\)\))")
_NEVER = re.compile(r"(?:false|/bin/false)")
_PAUSES = frozenset({"wait", "sleep", "usleep", "read", "inotifywait", "tail", "timeout"})
_LEAVES = frozenset({"break", "exit", "return", "kill"})


def piles_up(node: ir.Loop) -> bool:
    """Whether every turn leaves a process behind and nothing ends or slows the loop."""
    if not _endless(node):
        return False
    if not any(isinstance(s, ir.Background) for s in _all(node.body)):
        return False
    if any(isinstance(s, ir.Simple) and _name(s) in _PAUSES for s in node.body):
        return False
    return not any(isinstance(s, ir.Simple) and _name(s) in _LEAVES for s in _all(node.body))


def _endless(node: ir.Loop) -> bool:
    if node.condition is None:
        return node.variable == "" and not node.assigns  # for ((;;))
    if len(node.condition) != 1:
        return False
    only = node.condition[0]
    raw = only.raw if isinstance(only, ir.Test) else _name(only) if isinstance(only, ir.Simple) else ""
    return (_NEVER if node.until else _ALWAYS).fullmatch(raw) is not None


def _name(node: ir.Simple) -> str:
    return node.words[0].raw if node.words else ""


def _all(body: ir.Body) -> Iterator[ir.Stmt]:
    """The statements of a body and those inside them, functions left out."""
    for node in body:
        yield node
        match node:
            case ir.Group():
                yield from _all(node.body)
            case ir.AndOr():
                yield from _all([node.left, node.right])
            case ir.Pipeline():
                yield from _all(node.items)
            case ir.Background():
                yield from _all([node.body])
            case ir.If():
                for condition, inner in node.branches:
                    yield from _all([*condition, *inner])
                yield from _all(node.otherwise or [])
            case ir.Case():
                for _, inner in node.arms:
                    yield from _all(inner)
            case _:
                pass
