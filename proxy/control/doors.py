"""Who may speak to the control plane: names it answers to, pages it does not, and the token.

In: a request. Out: the handler's answer, or 401/403. A page that rebinds its name to 127.0.0.1 sends its own name as
Host; an address cannot be rebound, so addresses and localhost pass, other names only when configured.
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

OPEN_PATHS = ("/healthz", "/readyz", "/metrics", "/hooks/")  # no token: nothing secret goes out, nothing is decided


def is_ours(host: str, names: frozenset[str]) -> bool:
    """Whether a Host (or an Origin's host) names this control plane; the port does not matter."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def doors(token: str, names: frozenset[str]) -> Middleware:
    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or not is_ours(hosts[0], names):
            return _refused(403, "this Host is not one the control plane answers to")
        if origin is not None and not is_ours(origin.partition("://")[2], names):
            return _refused(403, "pages of other origins may not call the control plane")
        if not _is_open(request.path) and not _has_token(request, token):
            return _refused(401, "the token in <state>/control.token goes as 'Authorization: Bearer …'")
        return await handler(request)

    return check


def _is_open(path: str) -> bool:
    """``/review`` has a login of its own (``proxy/review/gate.py``); Host and Origin are checked here for it too."""
    return path.startswith(OPEN_PATHS) or path == "/review" or path.startswith("/review/")


def _has_token(request: web.Request, token: str) -> bool:
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _refused(status: int, why: str) -> web.Response:
    return web.json_response({"error": why}, status=status)
