"""Claude Code's hooks as the control process receives them: the recorded wire's reader, and where the session ends.

In: one hook's JSON, and what is remembered across hooks. Out: ``HookSeen``. The payload is read by
``proxy/providers/claude_code_hooks.py``, so that a hook says the same live, imported and replayed.
"""

from __future__ import annotations

from typing import Any

from proxy.events import Facts
from proxy.exchange import Exchange
from proxy.hooks import HookSeen
from proxy.providers._calls import text
from proxy.providers.claude_code_hooks import HookPayload


class ClaudeCode:
    client = "claude-code"

    def read(self, body: dict[str, Any], shared: dict[str, Any]) -> HookSeen:
        session = text(body.get("session_id")) or None
        exchange = Exchange(id=f"hooks/{session}", request_json=body, shared=shared)
        events = list(HookPayload(exchange).request(exchange))
        facts: dict[str, Any] = {}
        for event in events:
            facts |= event.values if isinstance(event, Facts) else {}
        return HookSeen(session, events, facts, session_ended=body.get("hook_event_name") == "SessionEnd")


HOOK = ClaudeCode()
