"""What a relay is started with: one JSON-safe mapping, as ``proxy/relay/serve.py`` reads it.

In: the supervisor's configuration and places, the relay's slot and its end of the link. Out: the mapping.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proxy.folders import private_directory
from proxy.supervisor.listeners import Listeners

DRAIN_S = 30.0  # how long exchanges may take to finish when nothing else is said


def relay_config(
    config: dict[str, Any], listeners: Listeners, *, state: Path, root: Path, counters: Path, slot: int, link_fd: int
) -> dict[str, Any]:
    """``slot``: of the counters page. ``link_fd``: where the relay says "ready" and "draining"."""
    control = listeners.control_address
    return {
        "routes": config["routes"],
        "spool_dir": str(root),
        "spool_cap": config.get("spool_cap"),
        "key_file": str(config.get("key_file") or private_directory(state / "keys") / "fingerprint.key"),
        "counters": str(counters),
        "slot": slot,
        **listeners.descriptors(),
        "forward": config.get("forward", {}),
        "upstream_proxy": config.get("upstream_proxy"),
        "no_proxy": config.get("no_proxy", []),
        "own": [control] if control else [],
        "control_fd": link_fd,
        "drain_s": config.get("drain_s", DRAIN_S),
        "loop": config.get("loop", "auto"),
    }
