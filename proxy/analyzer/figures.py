"""Figures that are looked at rather than counted, and the label sets that have to exist before they count.

In: the running analyzer. Out: gauges set, counters born at 0: one per provider and surface, one per rule and result.
"""

from __future__ import annotations

from typing import Any

from classifiers.discover import discover
from classifiers.effects import Surface
from proxy.analyzer.start import Running
from proxy.metrics import Metrics

_RESULTS = ("match", "undetermined", "excepted", "error")


def figures(running: Running) -> None:
    metrics, judge = running.desk.metrics, running.desk.judge.status()
    _born_at_zero(metrics, judge.get("rules", []))
    _forget(metrics, {(str(policy["id"]),) for policy in judge["policies"]})
    for policy in judge["policies"]:
        fine = policy["state"] == "active" and policy["error"] is None
        metrics.set("onlooker_policy_reload_last_success", fine, policy=policy["id"])
        metrics.set("onlooker_policy_disk_matches_active", not policy["stale"] and fine, policy=policy["id"])
    lags = sorted(running.desk.lags_ns)
    for quantile in (0.5, 0.99):
        value = lags[min(len(lags) - 1, int(len(lags) * quantile))] / 1e9 if lags else 0.0
        metrics.set("onlooker_analysis_lag_seconds", value, quantile=str(quantile))
    for kind, count in _evictions(running, judge).items():
        metrics.set("onlooker_state_evictions_total", count, kind=kind)


def _forget(metrics: Metrics, known: set[tuple[str, ...]]) -> None:
    """A policy that is gone, or goes by its own id now that it could be read, is no alarm any more."""
    for name in ("onlooker_policy_reload_last_success", "onlooker_policy_disk_matches_active"):
        for key in metrics.series[name].keys() - known:
            del metrics.series[name][key]


def _born_at_zero(metrics: Metrics, rules: list[str]) -> None:
    if len(metrics.series["onlooker_calls_total"]) == len(Surface):
        for protocol in sorted({p.dialect_of or p.name for p in discover("proxy.providers", "PROVIDER")}):
            for surface in Surface:
                metrics.inc("onlooker_calls_total", 0, protocol=protocol, surface=surface)
    known = metrics.series["onlooker_rule_results_total"]
    for rule in rules:
        if (rule, _RESULTS[0]) not in known:
            for result in _RESULTS:
                metrics.inc("onlooker_rule_results_total", 0, rule=rule, result=result)


def _evictions(running: Running, judge: dict[str, Any]) -> dict[str, int]:
    book = running.desk.book
    calls = sum(s.calls.evicted for s in book.sessions.values())
    rules = int(judge.get("evictions", 0))
    own = {k: book.evicted[k] for k in ("sessions", "chains")}
    return {**own, "legs": book.legs.evicted, "calls": calls, "rates": rules}
