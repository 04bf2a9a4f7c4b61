"""What one HTTP request could do. In: method, URL, body. Out: an Action.

A well-known API's table (``apis/*.yaml``) gives the domain's effect; else reads are ``receive network`` and writes
``send network``. Addresses that hand out cloud credentials are ``read secrets``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from classifiers.address import Address, address
from classifiers.context import NOWHERE, Context
from classifiers.effects import Action, Domain, Effect, OpaqueReason, Sensitivity, Surface, Tag, Verb
from classifiers.gather import Gather
from classifiers.http.apis import api_effects, runs_unread
from classifiers.http.places import is_metadata
from classifiers.paths import located

__all__ = ["classify_http", "is_unread", "request_effects"]

# Deletion is what the method means; replacing or patching may lose what was there (RFC 9110 §9.3, RFC 5789).
# MOVE and COPY replace what stands at the destination (RFC 4918 §9.8, §9.9).
_DESTRUCTIVE: dict[str, bool | None] = {"DELETE": True, "PUT": None, "PATCH": None, "MOVE": None, "COPY": None}
READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY"})


def classify_http(
    method: str,
    url: str,
    body: Any = None,
    context: Context = NOWHERE,
    path: str = "arguments.url",
) -> Action:
    """``path`` is the JSON path of the URL for evidence. Never raises."""
    out = Gather(Surface.HTTP, at=path)
    span = (0, len(url))
    for effect in request_effects(method, url, body, context):
        out.put(effect, span)
    if is_unread(method, url, body):
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, span, "what the request has run is not read")
    if not method.strip().isalpha():
        out.hide(OpaqueReason.DYNAMIC_COMMAND, None, f"method {method[:40]!r}")
    return out.action()


def request_effects(method: str, url: str, body: Any = None, context: Context = NOWHERE) -> list[Effect]:
    """The effects of one request, for the surfaces that find requests inside code."""
    verb = method.strip().upper()
    if url.strip().lower().startswith("file:"):
        return [located(Effect(Domain.FILESYSTEM, Verb.READ, target=_file(url)), context)]
    if url.strip().lower().startswith("data:"):
        return []
    where = address(url)
    if where is None:
        return [_plain(verb, None, url, body)]
    if is_metadata(where):
        return [_metadata(where)]
    told = api_effects(verb, where, body)
    writes = told and told[0].action not in {Verb.READ, Verb.RECEIVE}
    if writes and verb == "POST" and told[0].destructive is False and _destructive(verb, url, body) is True:
        told = [replace(told[0], destructive=True), *told[1:]]
    return told or [_plain(verb, where, url, body)]


def is_unread(method: str, url: str, body: Any = None) -> bool:
    """Whether the request has something run that ``request_effects`` does not say."""
    where = address(url)
    return where is not None and runs_unread(method.strip().upper(), where, body)


_DELETES = re.compile(r"/(?:do_?)?(?:delete|destroy|purge|remove|drop|truncate|wipe)\w*/?\Z", re.IGNORECASE)
_MUTATES = re.compile(r"\bmutation\b", re.IGNORECASE)
_ERASES = re.compile(r"(?:delete|remove|destroy|purge)\w{0,60}\s{0,20}[({]", re.IGNORECASE)


def _destructive(method: str, url: str, body: Any) -> bool | None:
    """What the method means, and for a POST what its path or GraphQL mutation says it deletes."""
    if method == "POST" and _DELETES.search(url.partition("?")[0]):
        return True
    query = graphql(method, url, body)
    mutation = _MUTATES.search(query)
    if mutation is not None:
        return True if _ERASES.search(query, mutation.end()) else None
    return _DESTRUCTIVE.get(method, False)


def graphql(method: str, url: str, body: Any) -> str:
    """The operation text of a GraphQL request; empty when it is none."""
    path = url.partition("?")[0].rstrip("/").lower()
    text = body.get("query") if isinstance(body, Mapping) else body
    is_query = path.endswith(("/graphql", "/gql")) and method == "POST" and isinstance(text, str)
    return text[:20_000] if is_query and isinstance(text, str) else ""


def _plain(method: str, where: Address | None, url: str, body: Any = None) -> Effect:
    query = graphql(method, url, body)
    reads = method in READS or (bool(query) and not _MUTATES.search(query))
    return Effect(
        Domain.NETWORK,
        Verb.RECEIVE if reads else Verb.SEND,
        target=None if where is None else where.host,
        target_raw=url[:500] if where is None else None,
        destructive=_destructive(method, url, body),
    )


def _metadata(where: Address) -> Effect:
    return Effect(
        Domain.SECRETS,
        Verb.READ,
        target=where.host,
        sensitivity=Sensitivity.CREDENTIAL,
        tags=(Tag.CREDENTIAL_ACCESS,),
    )


def _file(url: str) -> str:
    return url.strip()[5:].removeprefix("//").removeprefix("localhost") or "/"
