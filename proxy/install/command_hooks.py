"""Clients whose hooks are shell commands in a JSON file: one curl that posts what it is given, and says nothing.

In: the client's file, its events, the control plane's address. Out: changes of its ``hooks`` section, other hooks
untouched. ``$ONLOOKER_CONTROL`` is set inside ``onlooker run``; ``$PPID`` is the agent that ran the hook, by which its
sight joins the model's call. Sources: Codex's and Gemini CLI's hooks references, read 2026-11; run with 0.171 and 0.61.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SECONDS = 2  # an onlooker that is gone must not hold the agent


@dataclass(frozen=True, slots=True)
class Client:
    """``timeout`` is in the client's own unit. ``events``: name -> matcher of tools, or None."""

    name: str
    variable: str
    folder: str
    file: str
    timeout: int
    events: Mapping[str, str | None]

    def path(self, home: Path, environment: Mapping[str, str]) -> Path:
        return Path(environment.get(self.variable) or home / self.folder) / self.file


CODEX = Client(
    "codex", "CODEX_HOME", ".codex", "hooks.json", 5, {"PreToolUse": "", "PostToolUse": "", "SessionEnd": None}
)
GEMINI = Client(
    "gemini-cli",
    "",  # its folder has no variable
    ".gemini",
    "settings.json",
    5000,
    {"BeforeTool": "*", "AfterTool": "*", "SessionEnd": None},
)


def command(client: str, control: str) -> str:
    """Exit 0 and no output whatever happens: no opinion."""
    url = f'"http://${{ONLOOKER_CONTROL:-{control}}}/hooks/{client}"'
    return (
        f"curl -s -m {_SECONDS} --noproxy '*' -o /dev/null -H \"X-Onlooker-Pid: $PPID\" --data-binary @- {url} || true"
    )


class PutIn:
    def __init__(self, client: Client, control: str) -> None:
        self._client, self._command = client, command(client.name, control)

    def __call__(self, value: dict[str, Any]) -> list[str]:
        lines: list[str] = []
        hooks = value.setdefault("hooks", {})
        for event, matcher in self._client.events.items():
            groups = hooks.setdefault(event, [])
            if any(h.get("command") == self._command for g in groups for h in g["hooks"]):
                continue
            entry: dict[str, Any] = {} if matcher is None else {"matcher": matcher}
            groups.append(
                entry | {"hooks": [{"type": "command", "command": self._command, "timeout": self._client.timeout}]}
            )
            lines.append(f"+   {event}: {self._command}")
        return lines


class TakeOut:
    """Every command of ours for this client, whatever address it names; what it leaves empty goes with it."""

    def __init__(self, client: Client) -> None:
        self._end = f'/hooks/{client.name}" || true'

    def __call__(self, value: dict[str, Any]) -> list[str]:
        lines: list[str] = []
        hooks = value.get("hooks") or {}
        for event in list(hooks):
            found = [h for g in hooks[event] for h in g["hooks"] if str(h.get("command")).endswith(self._end)]
            if not found:
                continue
            lines += [f"-   {event}: {h['command']}" for h in found]
            kept = [g | {"hooks": [h for h in g["hooks"] if h not in found]} for g in hooks[event]]
            hooks[event] = [g for g in kept if g["hooks"]]
            if not hooks[event]:
                del hooks[event]
        if lines and not hooks:
            del value["hooks"]
        return lines
