"""Live updates: one line of JSON each time the log gained records (server-sent events).

In: ``GET /review/events``. Out: ``{newest, actions, flagged}``. A browser that sees them asks for its page again.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from aiohttp import web

from proxy.review.index import Index
from proxy.review.site import Site

MAX_WATCHING = 50
KEEP_ALIVE_S = 15.0
REST_S = 0.3  # at most about three events a second
HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def routes(site: Site) -> list[web.RouteDef]:
    async def watch(request: web.Request) -> web.StreamResponse:
        if site.watching >= MAX_WATCHING:
            raise web.HTTPServiceUnavailable(text="too many pages are watching")
        index = await site.fresh()
        answer = web.StreamResponse(headers=HEADERS)
        site.watching += 1
        try:
            await answer.prepare(request)
            await _tell(site, index, answer)
        except (ConnectionResetError, asyncio.CancelledError):
            pass  # the page was left
        finally:
            site.watching -= 1
        return answer

    async def verify(request: web.Request) -> web.Response:
        await site.gate.form(request)
        site.verification.start()
        raise web.HTTPSeeOther("/review/#holds")

    return [web.get("/events", watch), web.post("/verify", verify)]


async def _tell(site: Site, index: Index, answer: web.StreamResponse) -> None:
    said: dict[str, Any] = {}
    loop = asyncio.get_running_loop()
    quiet_since = loop.time()
    while True:
        now = await asyncio.to_thread(_now, index) | {
            "verified": site.verification.last.at if site.verification.last else 0
        }
        if now != said:
            await answer.write(b"data: " + orjson.dumps(now) + b"\n\n")
            said, quiet_since = now, loop.time()
            await asyncio.sleep(REST_S)
        elif loop.time() - quiet_since > KEEP_ALIVE_S:
            await answer.write(b": still here\n\n")
            quiet_since = loop.time()
        async with site.changed:
            await site.changed.wait()


def _now(index: Index) -> dict[str, Any]:
    counts = {
        r["text"]: r["n"] for r in index.rows("SELECT text, n FROM keys WHERE text IN ('counted:yes', 'severity:none')")
    }
    calls = counts.get("counted:yes", 0)
    return {"newest": index.newest, "actions": calls, "flagged": calls - counts.get("severity:none", 0)}
