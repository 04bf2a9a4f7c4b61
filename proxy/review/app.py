"""The review page as an application below ``/review`` of the control plane.

In: the configuration, the token, the inbox's writing end. Out: routes for every page found in ``proxy/review/pages``,
login, exports, live events, dispositions.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jinja2
from aiohttp import web
from aiohttp.typedefs import Handler

from classifiers.discover import discover
from proxy.inbox import Outbox
from proxy.review import candidate, disposition, events, export, login
from proxy.review.gate import guard
from proxy.review.page import NotThereError, Page, Wanted
from proxy.review.site import Site
from proxy.settings import Config

_STATIC = Path(__file__).parent / "static"
# A record of another shape, an index that is locked, a log that is gone: one page says so, the others go on.
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, sqlite3.Error, jinja2.TemplateError)
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def review_app(config: Config, token: str, outbox: Outbox) -> web.Application:
    site = Site(config, token, outbox)
    app = web.Application(middlewares=[guard(site.gate)], client_max_size=1 << 20)
    pages: tuple[Page, ...] = discover("proxy.review.pages", "PAGE")
    nav = [(path, title) for _, title, path in sorted((*p.nav, p.path) for p in pages if p.nav)]
    app.add_routes([web.get(p.path or "/", _handler(site, p, nav)) for p in pages])
    app.add_routes([web.get("", _handler(site, p, nav)) for p in pages if not p.path])
    app.add_routes([web.get("/static/{name}", _static)])
    for part in (login, export, events, disposition, candidate):
        app.add_routes(part.routes(site))

    async def close(_app: web.Application) -> AsyncIterator[None]:
        yield
        await site.close()
        await site.verification.stop()

    app.cleanup_ctx.append(close)
    return app


def _handler(site: Site, page: Page, nav: list[tuple[str, str]]) -> Handler:
    async def show(request: web.Request) -> web.Response:
        if not page.path:
            site.verification.start_if_small()
        wanted = Wanted(dict(request.match_info), tuple(request.query.items()))
        common = {
            "nav": nav,
            "here": page.path,
            "form_value": site.gate.form_value(request),
            "said": request.query.get("said", ""),
        }
        try:
            index = await site.fresh()
            status, text = await asyncio.to_thread(_made, site, page, wanted, common)
            del index
        except _UNREADABLE as error:
            values = {**common, "title": "Not readable", "why": str(error), "problem": True, **_state(site, 0)}
            status, text = 503, site.render("missing.html", values)
        return web.Response(text=text, content_type="text/html", status=status)

    return show


def _made(site: Site, page: Page, wanted: Wanted, common: dict[str, Any]) -> tuple[int, str]:
    index = site.index
    common |= _state(site, index.newest)
    try:
        return 200, site.render(page.template, {**common, **page.load(site, index, wanted)})
    except NotThereError as error:
        values = {**common, "title": "Not there", "why": str(error), "problem": False}
        return 404, site.render("missing.html", values)


def _state(site: Site, newest: int) -> dict[str, Any]:
    return {"behind": site.behind, "newest": newest, "index_error": site.error}


async def _static(request: web.Request) -> web.Response:
    """The package's own files, by name: no path of a request reaches the disk."""
    known = {p.name: p for p in _STATIC.iterdir() if p.suffix in _TYPES}
    path = known.get(request.match_info["name"])
    if path is None:
        raise web.HTTPNotFound
    body = await asyncio.to_thread(path.read_bytes)
    return web.Response(
        body=body, content_type=_TYPES[path.suffix], charset="utf-8", headers={"Cache-Control": "no-cache"}
    )
