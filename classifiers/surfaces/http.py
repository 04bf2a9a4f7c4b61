"""The http surface: role ``url`` (below ``base``) with ``method``, ``headers`` and ``body``.

``graphql`` is an operation to send, ``urls_in`` text that holds URLs to fetch, ``save`` the file an answer is kept in.
A ``url`` that is a JSON object holds ``url`` and ``data`` itself (LangChain's requests tools).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from classifiers.context import Context
from classifiers.effects import Action, Domain, Effect, Surface, Tag, Verb
from classifiers.gather import Gather
from classifiers.http import classify_http
from classifiers.paths import located
from classifiers.surface import CallParts

_OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override")  # the server obeys these, not the method
_PACKED = 100_000  # characters of a request that is one JSON object
_URL = re.compile(r"https?://[^\s<>\"'`\])]+")


class HttpSurface:
    name = "http"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        values = call_parts.values
        url, text = values.get("url"), values.get("urls_in")
        if isinstance(url, str) and url.lstrip().startswith("{"):
            return self._packed(call_parts, url, context)
        if isinstance(url, str) and url:
            body, headers = values.get("body") or _graphql(url, values), _headers(values.get("headers"))
            method = values.get("method")
            verb = method if isinstance(method, str) and method else _implied(body)
            verb = next((headers[name] for name in _OVERRIDES if headers.get(name)), verb)
            if "x-amz-target" in headers:
                order = headers["x-amz-target"].rpartition(".")[2]  # the query protocol's word for it
                body = {"Action": order, **body} if isinstance(body, Mapping) else f"Action={order}&{body}"
            action = classify_http(verb, _joined(values.get("base"), url), body, context, call_parts.path_of("url"))
            return _saved(action, call_parts, context)
        if isinstance(text, str):
            out = Gather(Surface.HTTP)
            for found in list(_URL.finditer(text))[:50]:
                action = classify_http("GET", found.group().rstrip(".,;"), None, context, call_parts.path_of("urls_in"))
                out.at = call_parts.path_of("urls_in")
                out.absorb(action, span=found.span())
            return out.action() if out.effects else None
        return None

    def _packed(self, parts: CallParts, text: str, context: Context) -> Action | None:
        """A request written as one JSON object; None when it is none."""
        try:
            given = json.loads(text[:_PACKED])
        except (ValueError, RecursionError):
            return None
        if not isinstance(given.get("url"), str) or given["url"].lstrip().startswith("{"):
            return None
        values = {**parts.values, "url": given["url"], "body": given.get("data")}
        return self.classify(replace(parts, values=values), context)


def _graphql(url: str, values: Mapping[str, object]) -> dict[str, object] | None:
    """The body of a GraphQL tool's request, whose operation is an argument of its own."""
    text = values.get("graphql")
    is_address = url.partition("?")[0].rstrip("/").lower().endswith(("graphql", "/gql"))
    return {"query": text} if isinstance(text, str) and text and is_address else None


def _saved(action: Action, parts: CallParts, context: Context) -> Action:
    """The action, and the file its answer is written to."""
    path = parts.values.get("save")
    if not isinstance(path, str) or not path:
        return action
    out = Gather(Surface.HTTP, at=parts.path_of("save"))
    out.absorb(action)
    kept = Effect(Domain.FILESYSTEM, Verb.MODIFY, path, destructive=None, tags=(Tag.OVERWRITE,))
    out.put(located(kept, context), (0, len(path)))
    return out.action()


def _headers(given: object) -> dict[str, str]:
    """Header names in lower case; a mapping, or a list of ``Name: value`` lines."""
    if isinstance(given, Mapping):
        return {str(k).lower(): v for k, v in list(given.items())[:100] if isinstance(v, str)}
    lines = given.splitlines() if isinstance(given, str) else given if isinstance(given, list) else []
    pairs = [line.partition(":") for line in lines[:100] if isinstance(line, str)]
    return {name.strip().lower(): value.strip() for name, _colon, value in pairs}


def _joined(base: object, url: str) -> str:
    """A path below a base address, as clients join them."""
    if isinstance(base, str) and base and "://" not in url:
        return f"{base.rstrip('/')}/{url.lstrip('/')}"
    return url


def _implied(body: object) -> str:
    """A request without a method: a body makes it a POST, as curl -d does."""
    return "POST" if body else "GET"


SURFACE = HttpSurface()
