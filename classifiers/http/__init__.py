"""What one HTTP request could do. In: method, URL, body. Out: an Action.

A well-known API's table (``apis/*.yaml``) gives the domain's effect; else reads are ``receive network`` and writes
``send network``. Addresses that hand out cloud credentials are ``read secrets``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from classifiers.address import Address, address
from classifiers.context import NOWHERE, Context
from classifiers.effects import Action, Domain, Effect, OpaqueReason, Sensitivity, Surface, Tag, Verb
from classifiers.gather import Gather
from classifiers.http.apis import api_effects
from classifiers.http.places import is_metadata
from classifiers.paths import located

__all__ = ["classify_http", "request_effects"]

# Deletion is what the method means; replacing or patching may lose what was there (RFC 9110 §9.3, RFC 5789).
_DESTRUCTIVE: dict[str, bool | None] = {"DELETE": True, "PUT": None, "PATCH": None}
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
    if (
        told
        and _destructive(verb, url, body) is True
        and verb == "POST"
        and all(e.destructive is not True for e in told)
    ):
        told = [replace(told[0], destructive=True), *told[1:]]
    return told or [_plain(verb, where, url, body)]


_DELETES = re.compile(r"/(?:do_?)?(?:delete|destroy|purge|remove|drop|truncate|wipe)\w*/?\Z", re.IGNORECASE)
_MUTATION = re.compile(r"mutation\b[^}]*\b(?:delete|remove|destroy|purge)", re.IGNORECASE)


def _destructive(method: str, url: str, body: Any) -> bool | None:
    """What the method means, and for a POST what its path or GraphQL mutation says it deletes."""
    if method == "POST" and _DELETES.search(url.partition("?")[0]):
        return True
    if method == "POST" and isinstance(body, str) and _MUTATION.search(body[:20_000]):
        return True
    return _DESTRUCTIVE.get(method, False)


def _plain(method: str, where: Address | None, url: str, body: Any = None) -> Effect:
    reads = method in READS
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
