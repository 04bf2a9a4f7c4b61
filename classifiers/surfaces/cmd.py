"""The cmd.exe surface: role ``command`` (a command line or batch text)."""

from __future__ import annotations

from classifiers.cmdexe import classify_cmd
from classifiers.context import Context
from classifiers.effects import Action
from classifiers.surface import CallParts


class CmdSurface:
    name = "cmd"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        text = call_parts.values.get("command")
        if not isinstance(text, str):
            return None
        return classify_cmd(text, context, call_parts.path_of("command"), call_parts.depth)


SURFACE = CmdSurface()
