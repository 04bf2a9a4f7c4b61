"""Claude Code's transcripts: ``~/.claude/projects/<project>/<session>.jsonl`` (or below $CLAUDE_CONFIG_DIR).

In: one transcript. Out: entries. A resumed session copies its past into a new file: a block already seen is not told
again (the caller keeps one reader per scan). Source: files written by 2.1.197 on loopback, 2026-11; vendor's
"transcript_path" in the hooks reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from classifiers.call import Outcome
from proxy.events import CallClosed, Event, ResultSeen
from proxy.scan import Entry
from proxy.scan.lines import imported_call, imported_result, json_lines, seconds

_MARKS = (b'"tool_use"', b'"tool_result"')


class ClaudeCode:
    agent = "claude-code"

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def files(self, home: Path, environment: Mapping[str, str]) -> list[Path]:
        root = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
        return sorted(root.rglob("*.jsonl"), key=lambda p: p.stat().st_mtime) if root.is_dir() else []

    def read(self, path: Path) -> Iterator[Entry]:
        otherwise = path.stat().st_mtime
        for line, size in json_lines(path, _MARKS):
            if not isinstance(line, dict):
                yield Entry(path.stem, otherwise, problem="line is no JSON", size_bytes=size)
                continue
            at = seconds(line.get("timestamp"), otherwise)
            events = tuple(self._events(line, at))
            cwd = line.get("cwd")
            facts = {"cwd": cwd, "cwd_source": "hook"} if isinstance(cwd, str) else {}
            facts |= {"agent_id": line["agentId"]} if isinstance(line.get("agentId"), str) else {}
            if events:
                yield Entry(
                    str(line.get("sessionId") or path.stem),
                    at,
                    events,
                    version=str(line["version"]) if line.get("version") else None,
                    facts=facts,
                    turn=line.get("type") == "assistant",
                    size_bytes=size,
                )

    def _events(self, line: dict[str, Any], at: float) -> Iterator[Event]:
        content = (line.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            name = (
                block.get("id") if kind == "tool_use" else block.get("tool_use_id") if kind == "tool_result" else None
            )
            if not isinstance(name, str) or (str(kind), name) in self._told:
                continue
            self._told.add((str(kind), name))
            if kind == "tool_use":
                parent = line.get("message", {}).get("id")
                yield CallClosed(
                    imported_call(str(block.get("name")), block.get("input"), name, at, parent_message=parent)
                )
            else:
                outcome = Outcome.ERROR if block.get("is_error") is True else Outcome.UNKNOWN
                yield ResultSeen(imported_result(name, block.get("content"), outcome))


READER = ClaudeCode
