"""Claude Code's http hook in its settings: put in and taken out, other hooks untouched.

Source: the vendor's hooks reference, read 2026-11; the http hook gets no SessionStart (measured with 2.1.197).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATH = "/hooks/claude-code"
TIMEOUT_S = 5  # the answer comes within milliseconds; an onlooker that is gone must not hold the agent
# event -> whether it is matched against a tool's name
EVENTS = {
    "PreToolUse": True,
    "PostToolUse": True,
    "PostToolUseFailure": True,
    "SubagentStop": False,
    "SessionEnd": False,
}


def settings_file(home: Path, environment: Mapping[str, str]) -> Path:
    return Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json"


class PutIn:
    """``control`` is the control plane's address."""

    def __init__(self, control: str) -> None:
        self._url = f"http://{control}{PATH}"

    def __call__(self, value: dict[str, Any]) -> list[str]:
        lines: list[str] = []
        hooks = value.setdefault("hooks", {})
        for event, matched in EVENTS.items():
            groups = hooks.setdefault(event, [])
            if any(h.get("url") == self._url for g in groups for h in g["hooks"]):
                continue
            entry: dict[str, Any] = {"matcher": "*"} if matched else {}
            groups.append(entry | {"hooks": [{"type": "http", "url": self._url, "timeout": TIMEOUT_S}]})
            lines.append(f"+   {event}: http hook {self._url}")
        return lines


def take_out(value: dict[str, Any]) -> list[str]:
    """Every http hook of ours, whatever address it names; groups, events and sections it leaves empty go with it."""
    lines: list[str] = []
    hooks = value.get("hooks") or {}
    for event in list(hooks):
        before = len(lines)
        for group in list(hooks[event]):
            ours = [h for h in group["hooks"] if h.get("type") == "http" and str(h.get("url")).endswith(PATH)]
            lines += [f"-   {event}: http hook {h['url']}" for h in ours]
            group["hooks"] = [h for h in group["hooks"] if h not in ours]
            if ours and not group["hooks"]:
                hooks[event].remove(group)
        if len(lines) > before and not hooks[event]:
            del hooks[event]
    if lines and not hooks:
        del value["hooks"]
    return lines
