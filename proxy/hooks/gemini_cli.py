"""Gemini CLI's command hooks: BeforeTool asks, AfterTool reports, SessionEnd ends.

In: one hook's JSON. Out: ``HookSeen``. Neither the call's id nor, on the wire, the session's is told: the sight joins
the model's call by tool, arguments and process. Source: the hooks reference shipped with 0.61; recorded with it.
"""

from __future__ import annotations

from typing import Any

from classifiers.call import Outcome
from proxy.events import CallClosed, Event, ResultSeen
from proxy.hooks import HookSeen
from proxy.hooks._shapes import call, result, seen, text


class GeminiCli:
    client = "gemini-cli"

    def read(self, body: dict[str, Any], shared: dict[str, Any]) -> HookSeen:  # noqa: ARG002 - each report is whole
        event, name = body.get("hook_event_name"), text(body.get("tool_name"))
        events: list[Event] = []
        if event == "BeforeTool" and name:
            events.append(CallClosed(call(name, body.get("tool_input"), None)))
        elif event == "AfterTool" and name:
            answer = body.get("tool_response")
            error = answer.get("error") if isinstance(answer, dict) else None
            outcome = Outcome.ERROR if error else Outcome.UNKNOWN
            events.append(ResultSeen(result(name, answer, None, outcome, error)))
        return seen(text(body.get("session_id")), events, body.get("cwd"), ended=event == "SessionEnd")


HOOK = GeminiCli()
