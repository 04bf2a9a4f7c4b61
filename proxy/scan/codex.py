"""Codex's rollouts: ``~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`` (or below $CODEX_HOME).

In: one rollout. Out: entries. Source: files written by Codex 0.171 on loopback, 2026-11: ``session_meta``,
``turn_context`` (the working directory), ``response_item`` with the Responses API's items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from classifiers.call import Outcome
from proxy.events import CallClosed, Event, ResultSeen
from proxy.scan import Entry
from proxy.scan.lines import imported_call, imported_result, json_lines, seconds

_MARKS = (b'"session_meta"', b'"turn_context"', b'_call"', b'_call_output"')


class Codex:
    agent = "codex"

    def files(self, home: Path, environment: Mapping[str, str]) -> list[Path]:
        root = Path(environment.get("CODEX_HOME") or home / ".codex") / "sessions"
        return sorted(root.rglob("rollout-*.jsonl"), key=lambda p: p.stat().st_mtime) if root.is_dir() else []

    def read(self, path: Path) -> Iterator[Entry]:
        otherwise, session, version, cwd = path.stat().st_mtime, path.stem, None, None
        for line, size in json_lines(path, _MARKS):
            payload = line.get("payload") if isinstance(line, dict) else None
            if not isinstance(payload, dict):
                yield Entry(session, otherwise, problem="line is no rollout item", size_bytes=size)
                continue
            at = seconds(line.get("timestamp"), otherwise)
            if line.get("type") == "session_meta":
                session, version = str(payload.get("id") or session), payload.get("cli_version")
            cwd = payload["cwd"] if isinstance(payload.get("cwd"), str) else cwd
            events = tuple(_events(payload, at)) if line.get("type") == "response_item" else ()
            if events:
                facts = {"cwd": cwd, "cwd_source": "turn_metadata"} if cwd else {}
                turn = any(isinstance(e, CallClosed) for e in events)
                yield Entry(session, at, events, version, facts, turn=turn, size_bytes=size)


def _events(item: dict[str, Any], at: float) -> Iterator[Event]:
    kind, call_id = item.get("type"), item.get("call_id")
    match kind:
        case "function_call":
            yield CallClosed(imported_call(str(item.get("name")), item.get("arguments"), call_id, at))
        case "custom_tool_call":
            arguments = orjson.dumps({"input": item.get("input")}).decode()
            yield CallClosed(imported_call(str(item.get("name")), arguments, call_id, at))
        case "local_shell_call":
            yield CallClosed(imported_call("local_shell", item.get("action"), call_id, at))
        case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
            yield ResultSeen(imported_result(call_id, item.get("output"), Outcome.UNKNOWN))
        case _:
            return


READER = Codex
