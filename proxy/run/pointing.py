"""A command and the user's environment in, what to set so that it talks to onlooker out.

A base URL the user has set already is the upstream they want: the route goes there, and the variable to us.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from classifiers.discover import discover
from classifiers.strict_yaml import load
from proxy.run import Adapter, Address, Pointing

FOLDER = Path(__file__).with_name("profiles")
GENERIC = "generic"


@cache
def profiles() -> dict[str, dict[str, Any]]:
    found = (load(p.read_text(encoding="utf-8"), p.name).value for p in sorted(FOLDER.glob("*.yaml")))
    return {p["agent"]: p for p in found}


def profile_of(command: Sequence[str]) -> dict[str, Any]:
    """The profile of the program ``command`` starts, by its file name; the generic one for all others."""
    name = Path(command[0]).name if command else ""
    return next((p for p in profiles().values() if name in p["commands"]), profiles()[GENERIC])


def point(profile: Mapping[str, Any], environment: Mapping[str, str], home: Path, address: Address) -> Pointing:
    """Everything to set for ``profile``; the SDK variables too, for what the agent itself starts."""
    own = _variables(profile["variables"], environment, address)
    generic = _variables(profiles()[GENERIC]["variables"], environment, address)
    adapter = next((a for a in _adapters() if a.name == profile.get("adapter")), None)
    more = adapter.adapt(environment, home, address) if adapter else Pointing()
    moved = {v["route"] for v in profile["variables"] if environment.get(v["name"])}
    keep = {} if moved else {k: v for k, v in profile.get("keep", {}).items() if k not in environment}
    return Pointing(
        variables={**generic.variables, **own.variables, **keep, **more.variables},
        arguments=more.arguments,
        routes={**generic.routes, **own.routes, **more.routes},
        notes=(profile.get("says", ""), *more.notes),
    )


def _variables(entries: Sequence[Mapping[str, str]], environment: Mapping[str, str], address: Address) -> Pointing:
    variables, routes = {}, {}
    for entry in entries:
        suffix, wanted = entry.get("suffix", ""), environment.get(entry["name"], "").rstrip("/")
        if wanted.startswith(("http://", "https://")):
            through = wanted.removesuffix(suffix)
            routes[entry["route"]] = {"url": through, "agui": False}
            suffix = suffix if wanted != through else ""
        elif wanted:
            continue  # not a URL (OLLAMA_HOST may be a bare address): left alone
        variables[entry["name"]] = address(entry["route"]) + suffix
    return Pointing(variables, (), routes)


def _adapters() -> tuple[Adapter, ...]:
    return discover("proxy.run", "ADAPTER")
