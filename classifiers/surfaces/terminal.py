"""The terminal surface: characters typed into a program that already runs. Roles: chars, session.

Which program reads them is not in the call, so the action is incomplete; if it is a shell, the text's effects are
those listed as possible. Nothing typed is a look at the output; control characters only steer the program.
"""

from __future__ import annotations

from classifiers.context import Context
from classifiers.effects import Action, Certainty, Domain, OpaqueReason, Surface, Verb
from classifiers.gather import Gather
from classifiers.surface import CallParts, surface_named


class TerminalSurface:
    name = "terminal"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        chars, session = call_parts.values.get("chars", ""), call_parts.values.get("session")
        out = Gather(Surface.SHELL, at=call_parts.path_of("chars"))
        target = None if session is None else f"session:{session}"
        if not isinstance(chars, str) or not chars:
            out.add(Domain.PROCESS, Verb.READ, target)
            return out.action()
        span = (0, len(chars))
        out.add(Domain.PROCESS, Verb.CONTROL, target, span=span, destructive=None)
        text = "".join(c for c in chars if c >= " " or c in "\n\t").strip()
        if not text:
            return out.action()
        reader = surface_named("shell")
        inner = None if reader is None else reader.classify(CallParts("shell", {"command": text}), context)
        if inner is not None:
            out.absorb(inner, via=("typed",), span=span, certainty=Certainty.POSSIBLE)
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, span, "typed into a program that is not named")
        return out.action()


SURFACE = TerminalSurface()
