"""The relays' shared counters page and the supervisor's restarts, as a metrics snapshot.

In: the state folder. Out: the figures counted where the traffic is, by the names of docs/metrics.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from proxy.metrics import Metrics, Snapshot
from proxy.relay.counters import read


def running(state: Path) -> dict[str, Any]:
    """What the supervisor says it runs, with the addresses really bound; {} when it does not."""
    try:
        value = orjson.loads((state / "running.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def relay_counters(state: Path) -> Snapshot:
    found = running(state)
    slots = read(Path(found["counters"])) if found.get("counters") else []
    metrics = Metrics()
    for slot in slots:
        metrics.inc("onlooker_exchanges_total", slot["exchanges"])
        metrics.inc("onlooker_bytes_total", slot["bytes_in"], side="request")
        metrics.inc("onlooker_bytes_total", slot["bytes_out"], side="response")
    alive = [s for s in slots if s["pid"]]
    metrics.set("onlooker_connections_open", sum(s["connections_open"] for s in alive))
    metrics.set("onlooker_relay_tick_max_seconds", max((s["loop_lag_max_us"] for s in alive), default=0) / 1e6)
    for process, count in (found.get("restarts") or {}).items():
        metrics.inc("onlooker_process_restarts_total", count, process=process)
    shown = {"exchanges_total", "bytes_total", "connections_open", "relay_tick_max_seconds", "process_restarts_total"}
    return {name: rows for name, rows in metrics.snapshot().items() if name.removeprefix("onlooker_") in shown}
