"""Codex: its provider's base URL is set with ``-c``, for the provider config.toml selects.

In: the environment and config.toml. Out: ``-c`` arguments and the upstream they replace. Source: Codex configuration
reference, read 2026-11: ``model_provider``, ``[model_providers.X] base_url``, ``openai_base_url``, ``-c key=value``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proxy.run import Address, Pointing

ROUTE = "codex"


class Codex:
    name = "codex"

    def adapt(self, environment: Mapping[str, str], home: Path, address: Address) -> Pointing:
        config = _config(Path(environment.get("CODEX_HOME") or home / ".codex") / "config.toml")
        provider = config.get("model_provider")
        base = ((config.get("model_providers") or {}).get(provider) or {}).get("base_url") if provider else None
        if isinstance(base, str) and base.startswith("http"):
            key = f"model_providers.{provider}.base_url"
            return Pointing({}, _override(key, address(ROUTE)), {ROUTE: {"url": base.rstrip("/"), "agui": False}})
        if provider:
            return Pointing(
                notes=(f"the provider {provider} of config.toml has no base_url here: its traffic is not seen",)
            )
        url = config.get("openai_base_url")
        routes = {"openai": {"url": url.rstrip("/").removesuffix("/v1"), "agui": False}} if isinstance(url, str) else {}
        return Pointing({}, _override("openai_base_url", address("openai") + "/v1"), routes)


def _override(key: str, value: str) -> tuple[str, ...]:
    return ("-c", f"{key}={json.dumps(value)}")


def _config(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


ADAPTER = Codex()
