"""Who may see the review page, and what its answers allow a browser to do.

In: requests below ``/review``; Host and Origin were checked before (``proxy/control/doors.py``). Out: the page, the
login form, or 401/403. A login is a signed cookie (SameSite=Strict, HttpOnly, 12 h), not the token; a form carries a
value derived from that cookie, and must come from the very origin it was sent to.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

COOKIE = "onlooker_review"
SESSION_S = 12 * 3600
OPEN = ("/review/login", "/review/static/")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser sends "Origin: null" with our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Gate:
    token: str

    def opens(self, given: str) -> bool:
        return hmac.compare_digest(_bytes(given.strip()), self.token.encode())

    def new_cookie(self, now: float | None = None) -> str:
        body = f"{int((now or time.time()) + SESSION_S)}.{secrets.token_urlsafe(12)}"
        return f"{body}.{self._sign('login', body)}"

    def knows(self, cookie: str, now: float | None = None) -> bool:
        body, _, signature = cookie.rpartition(".")
        ends = body.partition(".")[0]
        signed = hmac.compare_digest(_bytes(signature), self._sign("login", body).encode())
        return signed and ends.isdigit() and int(ends) > (now or time.time())

    def form_value(self, request: web.Request) -> str:
        """What a form of this login must carry."""
        return self._sign("form", request.cookies.get(COOKIE, ""))

    def admits(self, request: web.Request) -> bool:
        kind, _, given = request.headers.get("Authorization", "").partition(" ")
        return (kind.lower() == "bearer" and self.opens(given)) or self.knows(request.cookies.get(COOKIE, ""))

    async def form(self, request: web.Request) -> dict[str, str]:
        """The text fields of a form this login was given. Raises HTTPForbidden."""
        fields = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
        origin = request.headers.get("Origin")
        same = origin is None or urlsplit(origin).netloc == request.headers.get("Host")
        given = _bytes(fields.get("form", ""))
        if not same or not hmac.compare_digest(given, self.form_value(request).encode()):
            raise web.HTTPForbidden(text="This form is not from this login; go back and reload the page.")
        return fields

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self.token.encode(), _bytes(f"review {purpose}:{text}"), sha256).hexdigest()


def guard(gate: Gate) -> Middleware:
    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            answer = await _let_in(gate, request, handler)
        except web.HTTPException as error:
            error.headers.update(HEADERS)
            raise
        if not answer.prepared:
            answer.headers.update({k: v for k, v in HEADERS.items() if k not in answer.headers})
        return answer

    return check


async def _let_in(gate: Gate, request: web.Request, handler: Handler) -> web.StreamResponse:
    if request.path.startswith(OPEN) or gate.admits(request):
        return await handler(request)
    if request.method == "GET" and "text/html" in request.headers.get("Accept", ""):
        raise web.HTTPSeeOther("/review/login")
    return web.json_response({"error": "log in at /review/login, or send 'Authorization: Bearer …'"}, status=401)


def _bytes(text: str) -> bytes:
    """Of a header's text as aiohttp gives it."""
    return text.encode("utf-8", "surrogateescape")
