"""Login with the control token, and logout.

In: the form. Out: the signed cookie, and the overview. The token itself is in no cookie, no address and no page.
"""

from __future__ import annotations

from aiohttp import web

from proxy.review.gate import COOKIE, SESSION_S
from proxy.review.site import Site


def routes(site: Site) -> list[web.RouteDef]:
    def form(status: int, problem: str) -> web.Response:
        text = site.render("login.html", {"problem": problem})
        return web.Response(text=text, content_type="text/html", status=status)

    async def show(request: web.Request) -> web.Response:
        if site.gate.admits(request):
            raise web.HTTPSeeOther("/review/")
        return form(200, "")

    async def log_in(request: web.Request) -> web.Response:
        given = (await request.post()).get("token", "")
        if not isinstance(given, str) or not site.gate.opens(given):
            return form(401, "That is not this instance's token.")
        answer = web.HTTPSeeOther("/review/")
        answer.set_cookie(
            COOKIE, site.gate.new_cookie(), path="/review", httponly=True, samesite="Strict", max_age=SESSION_S,
            secure=request.secure,
        )  # fmt: skip
        raise answer

    async def log_out(request: web.Request) -> web.Response:
        await site.gate.form(request)
        answer = web.HTTPSeeOther("/review/login")
        answer.del_cookie(COOKIE, path="/review")
        raise answer

    return [web.get("/login", show), web.post("/login", log_in), web.post("/logout", log_out)]
