"""Whether a call was advertised, and what its definition was: ToolsOffered in, completed calls out.

Only a client-executed call of a tool that a present list lacks is ``no``; what the other side runs itself never needed
advertising. A tool that only shapes the answer and was forced is structured output, not an action.
"""

from __future__ import annotations

from dataclasses import replace

from classifiers.call import Advertised, Definition, ExecutedBy, ToolCall
from proxy.events import ToolsOffered

SHAPING = frozenset({"final_result", "json", "json_tool_call", "structured_output", "structuredoutput", "__output__"})
_THEIR_OWN = frozenset({ExecutedBy.PROVIDER, ExecutedBy.AGENT, ExecutedBy.MCP_SERVER})
_KEEP = 2048


def _without_arguments(call: ToolCall) -> ToolCall:
    """A closed call whose argument text is "" has no arguments: many servers send that, and clients read it as {}."""
    if call.arguments_text.strip():
        return call
    return replace(call, arguments={}, arguments_valid=None, arguments_error=None)


class Offer:
    """The tools on offer so far; later lists add to earlier ones (a socket may update its session)."""

    def __init__(self) -> None:
        self._definitions: dict[str, Definition] = {}
        self._present = False
        self._forced: str | None = None

    def note(self, offered: ToolsOffered) -> None:
        self._present = self._present or offered.present
        self._forced = offered.forced if offered.present else self._forced
        for definition in offered.definitions[:_KEEP]:
            self._definitions[definition.name] = definition

    def complete(self, call: ToolCall, response_id: str | None, shaping: tuple[str, ...] = ()) -> ToolCall:
        """The call with its definition, and the message it came in where the wire says that once for all of them.

        ``shaping``: names of tools that only shape the answer, beside the usual ones.
        """
        served = self._definitions.get(f"mcp:{call.server}/{call.name}") if call.server else None
        definition = call.definition or served or self._definitions.get(call.name)
        parent = call.parent_message if call.parent_message is not None or call.stream_id else response_id
        advertised = call.advertised
        if advertised is Advertised.UNKNOWN:
            advertised = self._advertised(call, definition)
        purpose = "structured_output" if self._shapes(call, shaping) else call.purpose
        said = replace(call, advertised=advertised, definition=definition, purpose=purpose, parent_message=parent)
        return _without_arguments(said) if call.complete and call.arguments_valid is False else said

    def _advertised(self, call: ToolCall, definition: Definition | None) -> Advertised:
        if call.executed_by in _THEIR_OWN:
            return Advertised.NOT_NEEDED
        if not self._present:
            return Advertised.UNKNOWN
        if definition is not None:
            return Advertised.YES
        return Advertised.NO if call.executed_by is ExecutedBy.CLIENT else Advertised.UNKNOWN

    def _shapes(self, call: ToolCall, shaping: tuple[str, ...]) -> bool:
        forced = self._forced in ("*", call.name)
        return call.purpose == "action" and forced and (call.name.lower() in SHAPING or call.name in shaping)
