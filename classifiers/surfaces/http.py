"""The http surface: role ``url`` with ``method`` and ``body``; ``urls_in`` is text that holds URLs to fetch."""

from __future__ import annotations

import re

from classifiers.context import Context
from classifiers.effects import Action, Surface
from classifiers.gather import Gather
from classifiers.http import classify_http
from classifiers.surface import CallParts

_URL = re.compile(r"https?://[^\s<>\"'`\])]+")


class HttpSurface:
    name = "http"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        values = call_parts.values
        url, text = values.get("url"), values.get("urls_in")
        if isinstance(url, str) and url:
            method = values.get("method")
            verb = method if isinstance(method, str) and method else _implied(values.get("body"))
            return classify_http(verb, url, values.get("body"), context, call_parts.path_of("url"))
        if isinstance(text, str):
            out = Gather(Surface.HTTP)
            for found in list(_URL.finditer(text))[:50]:
                action = classify_http("GET", found.group().rstrip(".,;"), None, context, call_parts.path_of("urls_in"))
                out.at = call_parts.path_of("urls_in")
                out.absorb(action, span=found.span())
            return out.action() if out.effects else None
        return None


def _implied(body: object) -> str:
    """A request without a method: a body makes it a POST, as curl -d does."""
    return "GET" if body in {None, "", ()} or body in ([], {}) else "POST"


SURFACE = HttpSurface()
