"""The admin API: status, sessions, records, objectives and their bindings.

In: authenticated requests. Out: JSON. Reading is from the analyzer's status file and the log's tail; a change is a
message to the analyzer, which records it before it takes effect.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from audit.tail import last_records
from classifiers.strict_yaml import StrictYamlError, load
from proxy.inbox import Outbox
from proxy.settings import Config
from proxy.status import read_pids, read_status, status_file

MAX_BODY_BYTES = 1 << 20
MAX_RECORDS = 20_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_BINDABLE = {"session", "api_key_hmac", "agent", "listener", "header", "path_segment"}


class Api:
    def __init__(self, config: Config, outbox: Outbox) -> None:
        self._config, self._outbox = config, outbox
        self._status = status_file(config.spool.dir)

    async def status(self, _request: web.Request) -> web.Response:
        found = await self._read()
        pids = await asyncio.to_thread(read_pids, self._config.pids_file)
        return web.json_response({"pids": pids, **{k: v for k, v in found.items() if k not in {"metrics", "sessions"}}})

    async def sessions(self, _request: web.Request) -> web.Response:
        return web.json_response({"sessions": (await self._read()).get("sessions", [])})

    async def records(self, request: web.Request) -> web.Response:
        """The newest records, oldest first: ``?kind=``, ``?session=``, ``?limit=``."""
        query = request.query
        limit = min(int(query["limit"]) if query.get("limit", "").isdigit() else 100, MAX_RECORDS)
        found = [
            r
            for r in await self._tail(MAX_RECORDS if len(query) > ("limit" in query) else limit)
            if query.get("kind") in (None, r["kind"])
            and query.get("session") in (None, (r.get("session") or {}).get("id"))
        ]
        return _json({"records": found[-limit:]})

    async def record(self, request: web.Request) -> web.Response:
        wanted = request.match_info["id"]
        found = next((r for r in await self._tail(MAX_RECORDS) if r.get("id") == wanted), None)
        return _json(found) if found else _problem(404, f"no record {wanted} among the newest {MAX_RECORDS}")

    async def objectives(self, _request: web.Request) -> web.Response:
        return web.json_response({"objectives": (await self._read()).get("judge", {}).get("objectives", [])})

    async def put_objective(self, request: web.Request) -> web.Response:
        """An objective file (YAML), kept in the state folder; the analyzer checks it whole and records the outcome."""
        wanted = request.match_info["id"]
        text = (await request.content.read(MAX_BODY_BYTES)).decode("utf-8", "replace")
        if not _ID.fullmatch(wanted):
            return _problem(400, "an objective's id is letters, digits, '.', '_' and '-'")
        try:
            value = load(text, "objective").value
        except StrictYamlError as error:
            return _problem(400, str(error))
        if not isinstance(value, dict) or value.get("id") != wanted:
            return _problem(400, f"the file's id is not {wanted}")
        await asyncio.to_thread(_keep, self.objectives_dir / f"{wanted}.yaml", text)
        return self._sent("objective", {"id": wanted})

    async def put_binding(self, request: web.Request) -> web.Response:
        """``{"session": …}`` or one of the other ways to bind; trust: operator. 404: there is no such objective."""
        wanted = request.match_info["id"]
        try:
            value = orjson.loads(await request.content.read(MAX_BODY_BYTES))
        except orjson.JSONDecodeError as error:
            return _problem(400, f"not JSON: {error}")
        if not isinstance(value, dict) or len(value) != 1 or not set(value) <= _BINDABLE:
            return _problem(400, f"expected one of {', '.join(sorted(_BINDABLE))} with its value")
        if not await self._may_be_there(wanted):
            return _problem(
                404, f"no objective {wanted}; expected one of GET /api/v1/objectives, or PUT it there first"
            )
        return self._sent("binding", {"id": wanted, "bind": value})

    async def _may_be_there(self, objective: str) -> bool:
        """Known to the analyzer, broken or not, or given to it and not yet read. One that has not said: perhaps."""
        judge = (await self._read()).get("judge", {})
        if "objectives" not in judge or objective in judge.get("broken_objectives", {}):
            return True
        if objective in {o["id"] for o in judge["objectives"]}:
            return True
        kept = self.objectives_dir / f"{objective}.yaml"
        return _ID.fullmatch(objective) is not None and await asyncio.to_thread(kept.exists)

    @property
    def objectives_dir(self) -> Path:
        return Path(self._config.state) / "objectives"

    def _sent(self, kind: str, body: dict[str, Any]) -> web.Response:
        if not self._outbox.put(kind, body):
            return _problem(503, "the analyzer is behind: its inbox is full")
        return web.json_response({"accepted": body}, status=202)

    async def _read(self) -> dict[str, Any]:
        return await asyncio.to_thread(read_status, self._status) or {}

    async def _tail(self, count: int) -> list[dict[str, Any]]:
        log_id = (await self._read()).get("log", {}).get("id")
        if not log_id:
            return []
        return await asyncio.to_thread(last_records, self._config.audit_dir, log_id, count)


def _keep(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _json(value: Any) -> web.Response:
    return web.Response(body=orjson.dumps(value), content_type="application/json")


def _problem(status: int, why: str) -> web.Response:
    return web.json_response({"error": why}, status=status)
