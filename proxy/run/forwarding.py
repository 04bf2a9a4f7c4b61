"""Variables that send a program's traffic through the forward proxy and make it trust the local authority.

In: the proxy's address, the authority's folder, the environment there was. Out: variables. Nothing else of the program
changes: its base URLs stay its own. Source: curl manual (lower-case http_proxy), Python urllib.request getproxies,
requests and httpx references, Go net/http ProxyFromEnvironment, Node.js CLI NODE_USE_ENV_PROXY (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proxy.ca import trust

LOCAL = ("localhost", "127.0.0.1", "::1")  # a program's own servers are not behind a proxy
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY")


def variables(
    proxy: str, folder: Path, environment: Mapping[str, str], segment: str | None = None, *, trusted: bool = True
) -> dict[str, str]:
    """``proxy``: host:port. ``segment``: ``<objective>.<nonce>``, the user name. ``trusted``: there is an authority."""
    # the password says nothing, but Python's urllib sends no user name without one
    url = f"http://{segment}:-@{proxy}" if segment else f"http://{proxy}"
    before = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    kept = [n for n in (part.strip() for part in before.split(",")) if n]
    direct = ",".join(dict.fromkeys((*kept, *LOCAL)))
    out = {n: url for name in _PROXIES for n in (name, name.lower())}
    out |= {"NO_PROXY": direct, "no_proxy": direct, "NODE_USE_ENV_PROXY": "1"}
    return out | (trust.variables(folder) if trusted else {})
