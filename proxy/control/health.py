"""Is it alive, is it ready, and what are its figures.

In: the supervisor's pids, the analyzer's status file, the relay's port. Out: /healthz, /readyz, /metrics. Ready means
that traffic flows, is analysed, and reaches the log; what works but not fully is named as degraded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aiohttp import web

from proxy.control.counters import running
from proxy.control.sinks import Sinks
from proxy.metrics import Metrics, Snapshot, merge, render
from proxy.settings import Config, host_port
from proxy.status import alive, is_fresh, read_pids, read_status, status_file


class Health:
    """``relay_counters``: the shared counters page as a metrics snapshot (the supervisor's side of the figures)."""

    def __init__(self, config: Config, relay_counters: Callable[[], Snapshot], sinks: Sinks) -> None:
        self._config, self._relay_counters, self._sinks = config, relay_counters, sinks
        self._status = status_file(config.spool.dir)

    async def healthz(self, _request: web.Request) -> web.Response:
        return web.json_response({"status": "alive"})

    async def readyz(self, _request: web.Request) -> web.Response:
        found = await self.readiness()
        return web.json_response(found, status=200 if found["ready"] else 503)

    async def readiness(self) -> dict[str, Any]:
        status = await asyncio.to_thread(read_status, self._status)
        pids = await asyncio.to_thread(read_pids, self._config.pids_file)
        fresh = is_fresh(status)
        parts = {
            "relay": "ok" if await self._relay_answers(pids) else "not running",
            "analyzer": "ok" if fresh else "not running" if status is None else "silent",
            "log": "unknown" if not fresh or status is None else status.get("log", {}).get("error") or "ok",
        }
        degraded = [*([] if status is None else status.get("degraded", [])), *self._sinks.degraded()]
        return {"ready": all(v == "ok" for v in parts.values()), "parts": parts, "degraded": degraded}

    async def metrics(self, _request: web.Request) -> web.Response:
        snapshot, _ = await self.figures()
        return web.Response(text=render(snapshot), content_type="text/plain", charset="utf-8")

    async def figures(self) -> tuple[Snapshot, str]:
        """The figures of all processes, and the id of the log (empty before the analyzer said it)."""
        status = await asyncio.to_thread(read_status, self._status)
        own = Metrics()
        own.set("onlooker_build_info", 1, version=version("onlooker"))
        ours = [own.snapshot(), self._sinks.metrics((status or {}).get("log", {}))]
        snapshots = [*ours, (status or {}).get("metrics", {}), await asyncio.to_thread(self._relay_counters)]
        return merge(snapshots), str((status or {}).get("log", {}).get("id") or "")

    async def _relay_answers(self, pids: dict[str, Any]) -> bool:
        if not any(alive(p) for p in pids.get("relays", [])):
            return False
        bound = (await asyncio.to_thread(running, Path(self._config.state))).get("listen") or [self._config.listen]
        host, port = host_port(bound[0])
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), 1.0)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True
