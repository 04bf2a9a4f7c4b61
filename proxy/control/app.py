"""The control plane as one aiohttp application: health, figures, hooks, admin, review.

In: the configuration, the token, the relay's counters. Out: the application; ``proxy/control/__main__.py`` serves it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from aiohttp import web

from proxy.control.api import Api
from proxy.control.doors import doors
from proxy.control.health import Health
from proxy.control.hooks import Hooks
from proxy.control.sinks import Sinks
from proxy.inbox import Outbox, inbox_file
from proxy.metrics import Snapshot
from proxy.review.app import review_app
from proxy.settings import Config


def make_app(config: Config, token: str, relay_counters: Callable[[], Snapshot]) -> web.Application:
    names = frozenset({"localhost", *config.control_hosts})
    outbox = Outbox(inbox_file(config.spool.dir))
    sinks = Sinks(config)
    health, api, hooks = Health(config, relay_counters, sinks), Api(config, outbox), Hooks(outbox)
    app = web.Application(middlewares=[doors(token, names)], client_max_size=8 << 20)
    app.add_routes(
        [
            web.get("/healthz", health.healthz),
            web.get("/readyz", health.readyz),
            web.get("/metrics", health.metrics),
            web.post("/hooks/{client}", hooks.receive),
            web.get("/api/v1/status", api.status),
            web.get("/api/v1/sessions", api.sessions),
            web.get("/api/v1/records", api.records),
            web.get("/api/v1/records/{id}", api.record),
            web.get("/api/v1/objectives", api.objectives),
            web.put("/api/v1/objectives/{id}", api.put_objective),
            web.put("/api/v1/objectives/{id}/bindings", api.put_binding),
        ]
    )
    app.add_subapp("/review", review_app(config, token, outbox))

    async def feed_sinks(_app: web.Application) -> AsyncIterator[None]:
        sinks.start(health.figures)
        yield
        await sinks.stop()
        outbox.close()

    app.cleanup_ctx.append(feed_sinks)
    return app
