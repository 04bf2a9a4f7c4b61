"""The PowerShell surface: role ``command`` (a script)."""

from __future__ import annotations

from classifiers.context import Context
from classifiers.effects import Action
from classifiers.powershell import classify_powershell
from classifiers.surface import CallParts


class PowerShellSurface:
    name = "powershell"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        text = call_parts.values.get("command")
        if not isinstance(text, str):
            return None
        return classify_powershell(text, context, call_parts.path_of("command"), call_parts.depth)


SURFACE = PowerShellSurface()
