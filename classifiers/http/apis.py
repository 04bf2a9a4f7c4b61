"""Well-known web APIs: method, host and path in, the domain's effects out (none: not a known API).

The tables are ``http/apis/*.yaml``: hosts, then rules tried in order, each a method set and a path pattern whose
``{name}`` segments fill the holes of the effect line (``{name**}``: the rest), and so do the query's parameters.
``*`` is any one segment, ``**`` the rest, ``(a|b)`` one of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from classifiers.address import Address
from classifiers.clock import loading
from classifiers.context import NOWHERE
from classifiers.datafile import tables
from classifiers.effects import Effect
from classifiers.templates import Given, fill_all, template

_METHODS = {
    "read": frozenset({"GET", "HEAD", "OPTIONS"}),
    "write": frozenset({"POST", "PUT", "PATCH", "DELETE"}),
    "any": frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}),
}


_FORM = re.compile(r"[\w.%+-]+=[^\s{}<>]*\Z")


@dataclass(frozen=True, slots=True)
class _Rule:
    methods: frozenset[str]
    path: re.Pattern[str]
    effects: tuple[str, ...]
    body: re.Pattern[str] | None
    open: bool = False  # it runs what nobody has read


@dataclass(frozen=True, slots=True)
class _Api:
    names: frozenset[str]  # hosts spelled out: they come before patterns that cover them
    hosts: tuple[re.Pattern[str], ...]
    rules: tuple[_Rule, ...]


def api_effects(method: str, where: Address, body: Any = None) -> list[Effect]:
    found = _rule_of(method, where, body)
    if found is None:
        return []
    rule, groups = found
    return fill_all(rule.effects, lambda key: _group(groups, key), NOWHERE)


def runs_unread(method: str, where: Address, body: Any = None) -> bool:
    """The request has a command run somewhere else (an exec, a script) that is not read here."""
    found = _rule_of(method, where, body)
    return found is not None and found[0].open


def _rule_of(method: str, where: Address, body: Any) -> tuple[_Rule, dict[str, str | None]] | None:
    """The first rule for the request, and what its holes are filled from."""
    for api in sorted(_apis(), key=lambda a: where.host not in a.names):
        host = next((m for m in (h.fullmatch(where.host) for h in api.hosts) if m), None)
        if host is None:
            continue
        for rule in api.rules:
            found = rule.path.fullmatch((where.segments or where.path).rstrip("/") or "/")
            if found is not None and method in rule.methods and _body_matches(rule, body, where.query):
                named = _named(where.query, body)
                return rule, {**named, **host.groupdict(), **found.groupdict(), "host": where.host}
    return None


def _body_matches(rule: _Rule, body: Any, query: str) -> bool:
    """Some APIs put the operation in the body (GraphQL, AWS Action=, RPC): the pattern is searched for there."""
    if rule.body is None:
        return True
    text = body if isinstance(body, str) else repr(body) if isinstance(body, Mapping | list) else ""
    if isinstance(body, Mapping) and isinstance(body.get("Action"), str):
        text = f"Action={body['Action']}&{text}"
    return rule.body.search((query + "\n" + text)[:20_000]) is not None


def _named(query: str, body: Any) -> dict[str, str]:
    """What the query, a form or an object in the body names: ``InstanceId.1`` is the first InstanceId."""
    form = body if isinstance(body, str) and _FORM.match(body) else ""
    pairs = {k: v[0] for part in (query, form) for k, v in parse_qs(part[:2000]).items()}
    if isinstance(body, Mapping):
        pairs |= {k: v for k, v in list(body.items())[:100] if isinstance(k, str) and isinstance(v, str)}
    plain = {k.removesuffix(".1"): v for k, v in pairs.items()}
    return {k: v for k, v in plain.items() if k.isidentifier()}


def _group(groups: Mapping[str, str | None], key: str) -> Given | None:
    value = next((groups[k] for k in key.split("|") if groups.get(k)), None)
    if key == "kind" and value is not None:
        value = _singular(value)
    return None if not value else Given(value.replace("%2F", "/"), value)


def _singular(resource: str) -> str:
    """A path's ``deployments`` is the kind ``deployment``, as commands and targets spell it."""
    if resource.endswith("ies"):
        return resource[:-3] + "y"
    if resource.endswith(("sses", "xes", "ches")):
        return resource[:-2]
    return resource if resource == "endpoints" or not resource.endswith("s") else resource[:-1]


@cache
@loading()
def _apis() -> tuple[_Api, ...]:
    return tuple(_api(values) for _name, found in tables("http/apis") for values in found["apis"])


def _api(values: dict[str, Any]) -> _Api:
    return _Api(
        frozenset(values["hosts"]),
        tuple(re.compile(_host(h)) for h in values["hosts"]),
        tuple(_rule(rule) for rule in values["rules"]),
    )


def _rule(values: dict[str, Any]) -> _Rule:
    for line in values["effects"]:
        template(line)
    methods: set[str] = set()
    for word in values["on"].split():
        methods |= _METHODS.get(word, frozenset({word}))
    body = values.get("body")
    return _Rule(
        frozenset(methods),
        re.compile(_path(values["path"])),
        tuple(values["effects"]),
        re.compile(body, re.IGNORECASE) if body else None,
        bool(values.get("open")),
    )


def _host(pattern: str) -> str:
    """``*.example`` is any depth of names; ``{region}`` one label."""
    out = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^.:]+)", re.escape(pattern))
    return out.replace(r"\*", r"[^/:]+")


def _path(pattern: str) -> str:
    out = re.sub(r"\\\{(\w+)\\\*\\\*\\\}", r"(?P<\1>.+)", re.escape(pattern))
    out = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", out)
    out = out.replace(r"\(", "(?:").replace(r"\)", ")").replace(r"\|", "|")  # ``(a|b)``: one of these
    return out.replace(r"/\*\*", "(?:/.*)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]+")
