"""Where a Windows path lies and what a registry key is for. From ``places.yaml``.

In: an effect whose target (or raw target) is a path or key as written, ``%TEMP%`` and ``$env:TEMP`` included. Out: the
effect with scope, sensitivity, tags and the domain the place implies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from classifiers.datafile import table
from classifiers.effects import Domain, Effect, PathScope, Reversibility, Sensitivity, Tag, Verb
from classifiers.gather import tagged

_WRITES = frozenset({Verb.CREATE, Verb.MODIFY, Verb.DELETE})
_KEY = re.compile(r"^(microsoft\.powershell\.core\\)?(registry::)?(hk(lm|cu|cr|u|cc)\b|hkey_)", re.IGNORECASE)
_PROVIDER = re.compile(r"^(microsoft\.powershell\.core\\)?registry::", re.IGNORECASE)
_HIVE = re.compile(r"^(hk\w+):\\*", re.IGNORECASE)  # PowerShell's drive of a hive
_ENVIRONMENT = re.compile(r"^env:\\?([\w*?]*)\\?$", re.IGNORECASE)  # PowerShell's drive of variables
_DRIVE = re.compile(r"^(cert|variable|function|alias|wsman):", re.IGNORECASE)  # its other drives that hold no files
_PROVIDERS = {"iis": Domain.SERVICES, "wsman": Domain.SERVICES, "ad": Domain.IDENTITY, "sqlserver": Domain.DATABASE}
_PROVIDED = re.compile(rf"^({'|'.join(_PROVIDERS)}):(?=[\\/])", re.IGNORECASE)  # drives of modules
_UNSET = re.compile(r"%[\w()]+%|%~?\w\b|!\w+!|(?<!\w)\$[{(]?[A-Za-z_]")  # not known before the command runs
_VARIABLE = re.compile(r"%[\w()]+%|%\*|!\w+!|\$(env:|\{)?\w+|%~?\w")


def load_places() -> None:
    """Read the tables now rather than in the middle of a call."""
    _tables()
    _registry()


def is_registry(text: str | None) -> bool:
    if text is None:
        return False
    key = text.strip("'\"")
    elsewhere = key.lstrip("\\").partition("\\")[2] if key.startswith("\\\\") else ""  # \\host\HKLM\...
    return _KEY.match(key.lstrip("\\")) is not None or _KEY.match(elsewhere) is not None


def placed(effect: Effect) -> Effect:
    """``effect`` with what its Windows path or registry key says; other effects are given back as they are."""
    text = effect.target if effect.target is not None else effect.target_raw
    if text is not None and effect.domain is Domain.FILESYSTEM:
        if drive := _ENVIRONMENT.match(text):
            return _unlost(replace(effect, domain=Domain.ENVIRONMENT, target=f"env:{drive[1] or '*'}", path_scope=None))
        if (drive := _DRIVE.match(text)) and not (effect.action in _WRITES and drive[1].lower() == "wsman"):
            kept = effect.action in _WRITES and drive[1].lower() == "cert"
            moved = replace(effect, domain=Domain.SECRETS if kept else Domain.ENVIRONMENT, path_scope=None)
            return _unlost(moved) if drive[1].lower() in {"variable", "function", "alias"} else moved
        if (drive := _PROVIDED.match(text)) and (effect.action in _WRITES or drive[1].lower() != "wsman"):
            return replace(effect, domain=_PROVIDERS[drive[1].lower()], path_scope=None)
    if text is None or effect.domain not in {Domain.FILESYSTEM, Domain.SECRETS, Domain.ENVIRONMENT}:
        return effect
    if is_registry(text):
        return _key(effect, text)
    if effect.domain is Domain.ENVIRONMENT:
        return effect
    scope, row = _facts(text.replace("\\", "/").lower())
    unresolved = effect.target is not None and _VARIABLE.search(text) is not None
    more: dict[str, Any] = {"target": None, "target_raw": text} if unresolved else {}
    if scope is not None and (effect.path_scope in {None, PathScope.UNKNOWN, PathScope.OUTSIDE} or unresolved):
        more["path_scope"] = scope
    if row is not None:
        more |= _row_facts(effect, row)
    return replace(effect, **more)


def _unlost(effect: Effect) -> Effect:
    """A name of the session that is set, as ``export`` sets one."""
    if effect.action not in {Verb.CREATE, Verb.MODIFY}:
        return effect
    return replace(effect, action=Verb.MODIFY, destructive=False, reversibility=Reversibility.REVERSIBLE, tags=())


def unset(effect: Effect) -> Effect:
    """A name with a variable in it is nobody's name yet; paths and registry keys are looked at where they lie."""
    text = effect.target or ""
    if effect.domain in {Domain.FILESYSTEM, Domain.SECRETS, Domain.ENVIRONMENT} or _UNSET.search(text) is None:
        return effect
    return replace(effect, target=None, target_raw=text)


def _row_facts(effect: Effect, row: Mapping[str, Any]) -> dict[str, Any]:
    writes = effect.action in _WRITES
    tags = row.get("erase_tags" if effect.action is Verb.DELETE else "tags", ()) if writes else ()
    more: dict[str, Any] = {"sensitivity": Sensitivity(row["sensitivity"])}
    if tags:
        more["tags"] = tagged(effect, *(Tag(t) for t in tags)).tags
    domain = row.get("write") if writes else row.get("read") if effect.action is Verb.READ else None
    if domain:
        more["domain"] = Domain(domain)
    return more


def _key(effect: Effect, text: str) -> Effect:
    """A registry key: what it configures decides the domain; autostart keys are scheduler, services are services."""
    key = _PROVIDER.sub("", text.strip("'\"")).replace("/", "\\")
    key = _HIVE.sub(r"\1\\", key).rstrip("\\")
    if effect.action in {Verb.READ, Verb.RECEIVE}:
        secret = re.search(table("windows/places.yaml")["secrets"]["match"], key, re.IGNORECASE)
        return replace(effect, domain=Domain.SECRETS if secret else Domain.ENVIRONMENT, target=key)
    for row in _registry():
        if row[0].search(key):
            tags = tuple(Tag(t) for t in row[2])
            if effect.action is Verb.DELETE and Tag.PERSISTENCE in tags:
                tags = ()
            return tagged(replace(effect, domain=Domain(row[1]), target=key, target_raw=None), *tags)
    return replace(effect, domain=Domain.ENVIRONMENT, target=key, target_raw=None)


@lru_cache(maxsize=2048)
def _facts(path: str) -> tuple[PathScope | None, Mapping[str, Any] | None]:
    values = _tables()
    scope = next((PathScope(s) for s, patterns in values[0] if any(p.search(path) for p in patterns)), None)
    return scope, next((row for pattern, row in values[1] if pattern.search(path)), None)


@cache
def _tables() -> tuple[list[tuple[str, list[re.Pattern[str]]]], list[tuple[re.Pattern[str], Mapping[str, Any]]]]:
    values = table("windows/places.yaml")
    scopes = [(scope, [re.compile(p) for p in patterns]) for scope, patterns in values["scopes"].items()]
    return scopes, [(re.compile(row["match"]), row) for row in values["files"]]


@cache
def _registry() -> tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...]:
    rows = table("windows/places.yaml")["registry"]
    return tuple((re.compile(r["match"], re.IGNORECASE), r["domain"], tuple(r["tags"])) for r in rows)
