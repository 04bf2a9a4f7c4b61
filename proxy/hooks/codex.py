"""Codex's command hooks: PreToolUse asks, PostToolUse reports, SessionEnd ends.

In: one hook's JSON. Out: ``HookSeen``. ``tool_use_id`` is the id of the model's call and ``session_id`` that of the
request header; tool and arguments are the harness's own words (``Bash`` for ``exec_command``). A failed command is not
marked: the outcome is unknown. Source: vendor's hooks reference, read 2026-11; recorded with 0.171.
"""

from __future__ import annotations

from typing import Any

from classifiers.call import Outcome
from proxy.events import CallClosed, Event, ResultSeen
from proxy.hooks import HookSeen
from proxy.hooks._shapes import call, result, seen, text


class Codex:
    client = "codex"

    def read(self, body: dict[str, Any], shared: dict[str, Any]) -> HookSeen:  # noqa: ARG002 - each report is whole
        event, name, use = body.get("hook_event_name"), text(body.get("tool_name")), text(body.get("tool_use_id"))
        events: list[Event] = []
        if event == "PreToolUse" and name:
            events.append(CallClosed(call(name, body.get("tool_input"), use, text(body.get("agent_id")))))
        elif event == "PostToolUse":
            events.append(ResultSeen(result(name, body.get("tool_response"), use, Outcome.UNKNOWN)))
        return seen(text(body.get("session_id")), events, body.get("cwd"), ended=event == "SessionEnd")


HOOK = Codex()
