"""What a cmd.exe command line or batch text could do. In: text. Out: one Action; positions are those of the text."""

from __future__ import annotations

import re

from classifiers.cmdexe.read import Batch
from classifiers.cmdexe.split import commands
from classifiers.context import NOWHERE, Context
from classifiers.effects import Action, Condition, OpaqueReason, Surface
from classifiers.gather import Gather
from classifiers.windows.programs import warm

__all__ = ["classify_cmd"]

_LEAVES = re.compile(r"exit(\s+/b)?(\s+-?\d+)?|goto\s*:?\s*\w+", re.IGNORECASE)
_LABEL = re.compile(r"^\s*:\s*\w", re.MULTILINE)
MAX_TEXT = 60_000
MAX_LINE = 8191  # characters of one command: cmd.exe takes no more
MAX_COMMANDS = 400


def classify_cmd(text: str, context: Context = NOWHERE, path: str = "arguments.command", depth: int = 0) -> Action:
    """Never raises. ``depth``: how many payloads deep the text is."""
    out = Gather(Surface.CMD, at=path, parsers=["cmd"])
    warm()
    out.start_clock(context.max_ms)
    if len(text) > MAX_TEXT:
        out.hide(OpaqueReason.SIZE_CAP, (MAX_TEXT, len(text)), "text over the size cap")
    batch = Batch(context, depth, out)
    left = -1  # where the text was left for good: what follows is not run, up to the next label
    for i, command in enumerate(commands(text[:MAX_TEXT])):
        if i >= MAX_COMMANDS or out.out_of_time():
            out.hide(OpaqueReason.SIZE_CAP, (command.start, len(text)), "commands beyond the cap")
            break
        if command.end - command.start > MAX_LINE:
            out.hide(OpaqueReason.SIZE_CAP, (command.start, command.end), "a command longer than cmd.exe takes")
            continue
        if left >= 0 and _LABEL.search(text, left, command.start) is None:
            continue
        batch.read(command)
        gone = command.depth == 0 and command.condition is Condition.ALWAYS and _LEAVES.fullmatch(command.text.strip())
        left = command.end if gone and not command.piped else -1
    return out.action()
