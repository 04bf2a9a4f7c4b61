"""OpenCode: base URLs of its providers, overridden by configuration given in a variable.

In: the environment and opencode.json. Out: OPENCODE_CONFIG_CONTENT with the providers' base URLs, nothing else.
Source: OpenCode configuration reference, read 2026-11: precedence of configuration, ``provider.<id>.options.baseURL``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proxy.run import Address, Pointing

# Providers it knows by itself, our route for them, and what its SDK expects behind the address.
_BUILT_IN = {"anthropic": ("anthropic", "/v1"), "openai": ("openai", "/v1"), "google": ("gemini", "/v1beta")}


class OpenCode:
    name = "opencode"

    def adapt(self, environment: Mapping[str, str], home: Path, address: Address) -> Pointing:
        given = _parsed(environment.get("OPENCODE_CONFIG_CONTENT", ""))
        providers = {name: {"options": {"baseURL": address(r) + s}} for name, (r, s) in _BUILT_IN.items()}
        routes: dict[str, dict[str, Any]] = {}
        for config in (*_configs(environment, home), given):
            for name, entry in (config.get("provider") or {}).items():
                url = ((entry or {}).get("options") or {}).get("baseURL")
                if isinstance(url, str) and url.startswith("http"):
                    route = f"opencode-{name}"
                    routes[route] = {"url": url.rstrip("/"), "agui": False}
                    providers[name] = {"options": {"baseURL": address(route)}}
        content = _merged(given, {"provider": providers})
        return Pointing({"OPENCODE_CONFIG_CONTENT": json.dumps(content)}, (), routes)


def _configs(environment: Mapping[str, str], home: Path) -> Iterator[dict[str, Any]]:
    """Global, named and project configuration, weakest first."""
    folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    named = environment.get("OPENCODE_CONFIG")
    for path in (folder / "opencode.json", folder / "opencode.jsonc", Path(named) if named else None, *_project()):
        if path is not None and path.is_file():
            yield _parsed(path.read_text(encoding="utf-8", errors="replace"))


def _project() -> list[Path]:
    here = Path.cwd()
    return [p / "opencode.json" for p in reversed((here, *here.parents))]


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _merged(base: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = _merged(out[key], value) if both else value
    return out


ADAPTER = OpenCode()
