"""OpenCode's plugin events, as the plugin of ``onlooker install opencode`` posts them.

In: ``{event: tool.execute.before|after, session, call, tool, args, cwd?, output?, exit?}``. Out: ``HookSeen``. Call and
session ids are those of the wire. The exit code of a command is told here and not on the wire.
Source: the plugin reference, read 2026-11; recorded with 1.18.33.
"""

from __future__ import annotations

from typing import Any

from classifiers.call import Outcome
from proxy.events import CallClosed, Event, ResultSeen
from proxy.hooks import HookSeen
from proxy.hooks._shapes import call, result, seen, text


class OpenCode:
    client = "opencode"

    def read(self, body: dict[str, Any], shared: dict[str, Any]) -> HookSeen:  # noqa: ARG002 - each report is whole
        event, name, use = body.get("event"), text(body.get("tool")), text(body.get("call"))
        events: list[Event] = []
        if event == "tool.execute.before" and name:
            events.append(CallClosed(call(name, body.get("args"), use)))
        elif event == "tool.execute.after" and name:
            events.append(ResultSeen(result(name, body.get("output"), use, _outcome(body.get("exit")))))
        return seen(text(body.get("session")), events, body.get("cwd"))


def _outcome(code: Any) -> Outcome:
    if not isinstance(code, int) or isinstance(code, bool):
        return Outcome.UNKNOWN
    return Outcome.ERROR if code else Outcome.OK


HOOK = OpenCode()
