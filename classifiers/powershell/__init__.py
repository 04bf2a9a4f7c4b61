"""What a PowerShell script could do. In: text. Out: one Action; positions are those of the text.

The tree-sitter grammar does not read every script; what it cannot read is opaque (``parse_error``), the rest is read.
"""

from __future__ import annotations

from classifiers.clock import loading
from classifiers.context import NOWHERE, Context
from classifiers.effects import Action, Domain, OpaqueReason, Surface, Verb
from classifiers.gather import Gather
from classifiers.windows.programs import warm

__all__ = ["classify_powershell"]

MAX_TEXT = 30_000
MAX_DEPTH = 6


def classify_powershell(
    text: str, context: Context = NOWHERE, path: str = "arguments.command", depth: int = 0
) -> Action:
    """Never raises. ``depth``: how many payloads deep the text is."""
    with loading():
        from classifiers.code.interpret import Interpreter  # noqa: PLC0415 - the program reader knows our readers
        from classifiers.code.library import library  # noqa: PLC0415 - the same
        from classifiers.powershell.front import read  # noqa: PLC0415 - the same

        known = library("powershell")
        warm()
    out = Gather(Surface.POWERSHELL, at=path, parsers=["tree-sitter-powershell"])
    out.start_clock(context.max_ms)
    if depth > MAX_DEPTH:
        out.hide(OpaqueReason.DEPTH_CAP, (0, len(text)), "nested too deep")
        return out.action()
    if len(text) > MAX_TEXT:
        out.hide(OpaqueReason.SIZE_CAP, (MAX_TEXT, len(text)), "text over the size cap")
    try:
        reading = read(text[:MAX_TEXT], out.half_time(context.max_ms))
        for span in reading.broken:
            out.hide(OpaqueReason.PARSE_ERROR, span, text[span[0] : span[1]])
        Interpreter(text, known, context, out, depth).run(reading.nodes)
    except TimeoutError:
        out.add(Domain.CODE, Verb.EXECUTE, span=(0, len(text)), destructive=None)
        out.hide(OpaqueReason.SIZE_CAP, (0, len(text)), "a script that takes too long to parse")
    except RecursionError:
        out.hide(OpaqueReason.DEPTH_CAP, (0, len(text)), "nested too deep to read")
    return out.action()
