"""Which upstream a request target goes to, and what the target becomes there. Pure; decided by path, never by Host.

``/<name>/rest`` goes to that route as ``<base>/rest``; anything else to the root route, if there is one.
``/o/<objective>/`` before either binds an objective. ``/_onlooker/`` is reserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from proxy.relay.refusals import RefusedError

ROOT = "/"
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Route:
    name: str
    host: str
    port: int
    tls: bool
    authority: bytes  # what Host becomes; empty: heads go on as they came
    base: bytes  # path put before the rest; no trailing slash
    ca: str | None = None
    agui: bool = False  # browsers of another origin are normal here
    cert: str | None = None  # PEM file shown to an upstream that asks who we are
    key: str | None = None  # its key, when that is in another file
    address: str | None = None  # connect here and nowhere else; ``host`` is the name TLS is verified for

    @property
    def upstream(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a target goes: the route, the target there, the objective segment."""

    route: Route
    target: bytes
    objective: str | None


def asked_of(method: bytes, target: bytes, place: Place) -> tuple[Place, bytes | None]:
    """The place for this method, and the target it may be remembered by.

    ``OPTIONS http://host`` asks of the server as a whole and arrives as ``*`` (RFC 9112 3.2.4); other methods do not.
    """
    if target[:1] in b"/*" or target.count(b"/") > 2 or b"?" in target:
        return place, target
    return (Place(place.route, b"*", place.objective) if method == b"OPTIONS" else place), None


class RouteError(ValueError):
    """A route of the configuration cannot be used; the message says which and why."""


def route(name: str, spec: Mapping[str, Any]) -> Route:
    """One configured route: ``{url, ca?, cert?, key?, agui?}``."""
    url = urlsplit(str(spec.get("url", "")))
    if url.scheme not in _DEFAULT_PORTS or not url.hostname:
        raise RouteError(
            f"route {name}: {spec.get('url')!r} is no upstream; http://host… or https://host… was expected"
        )
    if url.username is not None or url.query or url.fragment:
        raise RouteError(f"route {name}: an upstream has no user, query or fragment")
    if name != ROOT and (not name or "/" in name or name in {"o", "_onlooker"}):
        raise RouteError(f"route {name!r}: a name is one path segment and not o or _onlooker")
    port = url.port or _DEFAULT_PORTS[url.scheme]
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    authority = host if port == _DEFAULT_PORTS[url.scheme] else f"{host}:{port}"
    base = url.path.rstrip("/").encode()
    tls = url.scheme == "https"
    ca, agui = spec.get("ca"), bool(spec.get("agui"))
    return Route(name, url.hostname, port, tls, authority.encode(), base, ca, agui, spec.get("cert"), spec.get("key"))


class Routes:
    """The table of one listener. ``own`` are authorities (lower case) an absolute-form target may name."""

    def __init__(self, specs: Mapping[str, Mapping[str, Any]], own: frozenset[bytes] = frozenset()) -> None:
        made = [route(name, spec) for name, spec in specs.items()]
        self._named = {r.name.encode(): r for r in made if r.name != ROOT}
        self._root = next((r for r in made if r.name == ROOT), None)
        self._own = own
        self._upstreams = {r.authority.lower(): r for r in made if not r.tls}

    def find(self, target: bytes) -> Place:
        """The place of a target as it was received. Raises RefusedError."""
        if target[:1] != b"/":
            return self._other_form(target)
        if target.startswith(b"/o/"):
            objective, slash, rest = target[3:].partition(b"/")
            if not objective or not slash:
                raise RefusedError("reserved-path")
            return self._plain(b"/" + rest, objective.decode("latin-1"))
        return self._plain(target, None)

    def _plain(self, target: bytes, objective: str | None) -> Place:
        end = target.find(b"/", 1)
        name = target[1:end] if end > 0 else target[1:].partition(b"?")[0]
        found = self._named.get(name)
        if found is not None:
            rest = target[len(name) + 1 :]
            if rest[:1] != b"/":
                rest = (b"" if found.base else b"/") + rest
            return Place(found, found.base + rest, objective)
        if name in {b"_onlooker", b"o"}:
            raise RefusedError("reserved-path")
        if self._root is None:
            raise RefusedError("unknown-route")
        return Place(self._root, self._root.base + target, objective)

    def _other_form(self, target: bytes) -> Place:
        if target == b"*":
            if self._root is None:
                raise RefusedError("unknown-route")
            return Place(self._root, target, None)
        if target[:7].lower() != b"http://":
            raise RefusedError("absolute-form")
        authority, slash, rest = target[7:].partition(b"/")
        path = slash + rest if slash else b"/"
        authority = authority.lower().removesuffix(b":80")
        if authority in self._own:
            return self.find(path)
        upstream = self._upstreams.get(authority)
        if upstream is None:
            raise RefusedError("absolute-form")
        return Place(upstream, path, None)
