"""A person's word on a finding: taken from a form, written to the log by the analyzer, never by this process.

In: ``POST /review/actions/{id}/disposition``. Out: a message in the analyzer's inbox, and the action's page once the
record is there. The record is appended; the action's own line stays as it is.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from proxy.review.index import Index
from proxy.review.lines import number_of_id
from proxy.review.site import Site

STATES = ("benign", "escalated", "open")
MAX_REASON, MAX_BY = 2000, 200
WAIT_S = 2.0


class WrongMarkError(ValueError):
    """The form cannot be taken as it is. The message says what was expected."""


def mark(values: dict[str, Any]) -> dict[str, str | None]:
    """A disposition's body from form fields. Raises WrongMarkError."""
    state, reason, by = (str(values.get(name, "")).strip() for name in ("state", "reason", "by"))
    if state not in STATES:
        raise WrongMarkError(f"Choose one of {', '.join(STATES)}.")
    if not reason:
        raise WrongMarkError("Say why: a mark without a reason helps nobody.")
    return {"state": state, "reason": reason[:MAX_REASON], "by": by[:MAX_BY] or None}


def routes(site: Site) -> list[web.RouteDef]:
    async def receive(request: web.Request) -> web.Response:
        form = await site.gate.form(request)
        identity = request.match_info["id"]
        index = await site.fresh()
        number = await asyncio.to_thread(number_of_id, index, identity)
        if number is None:
            raise web.HTTPNotFound(text="No record of this id is in the log.")
        try:
            body = mark(form)
        except WrongMarkError as error:
            raise web.HTTPBadRequest(text=str(error)) from None
        if not site.status():
            raise web.HTTPServiceUnavailable(
                text="The analyzer, which writes the log, is not running; nothing was marked."
            )
        before = await asyncio.to_thread(_marks, index, number)
        if not site.outbox.put("disposition", {"action": identity, **body}):
            raise web.HTTPServiceUnavailable(text="The analyzer is behind: its inbox is full; nothing was marked.")
        seen = await _appears(site, index, number, before)
        raise web.HTTPSeeOther(f"/review/actions/{identity}?said={'marked' if seen else 'sent'}#marks")

    return [web.post("/actions/{id:[^/]+}/disposition", receive)]


async def _appears(site: Site, index: Index, number: int, before: int) -> bool:
    """Until the record is in the log, for a moment."""
    try:
        async with asyncio.timeout(WAIT_S):
            while await asyncio.to_thread(_marks, index, number) <= before:
                await site.fresh()
    except TimeoutError:
        return False
    return True


def _marks(index: Index, number: int) -> int:
    return int(index.rows("SELECT count(*) FROM records WHERE about = ? AND kind = 'disposition'", (number,))[0][0])
