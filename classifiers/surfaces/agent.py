"""The agent surface: tools of the harness itself (plans, notes, sub-agents). Role: operation; nothing else is read.

Tool maps list these as effects; a user's mapping may name the surface alone, which means: no effect outside the agent.
"""

from __future__ import annotations

from classifiers.context import Context
from classifiers.effects import Action, Surface
from classifiers.surface import CallParts


class AgentSurface:
    name = "agent"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:  # noqa: ARG002 - the seam's shape
        return Action(Surface.AGENT)


SURFACE = AgentSurface()
