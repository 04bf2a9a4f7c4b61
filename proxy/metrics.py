"""Counters and gauges by the names of docs/metrics.md, and their Prometheus text.

In: ``inc`` / ``set`` from one process, or snapshots of several. Out: a JSON-ready snapshot, and the exposition text.
Every label set that can be named beforehand exists at 0 from the start: ``increase()`` does not see a counter that is
born at 1. Format: Prometheus text exposition 0.0.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from classifiers.effects import Domain, OpaqueReason, Surface, Verb
from policies.verdict import Severity, Verdict
from proxy.events import UNREAD_LABELS

MAX_SERIES = 5000  # per metric: a label an upstream can choose must not grow without end

Labels = tuple[str, ...]
Snapshot = dict[str, list[list[Any]]]


@dataclass(frozen=True, slots=True)
class Definition:
    """``values``: one tuple of values per label, pre-created at 0; a label whose values come later has none."""

    name: str
    kind: str  # counter | gauge
    help: str
    labels: Labels = ()
    values: tuple[tuple[str, ...], ...] = ()


def _values(enum: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(v) for v in enum)


_SIDES = (("request", "response"),)
_KINDS = (
    *("action", "outcome", "sighting", "session", "gap", "unread", "opaque_flow", "refusal", "disposition"),
    *("attestation", "checkpoint", "policy_loaded", "policy_reload_failed", "recovered", "clock_step"),
    *("analysis_failed", "segment", "retention"),
)
_STAGES = ("assemble", "session", "classify", "policy", "record", "result")
_PROTOCOLS = ("unknown",)  # the analyzer adds the names of its providers: see proxy/analyzer/figures.py

DEFINITIONS: tuple[Definition, ...] = (
    Definition("onlooker_build_info", "gauge", "Always 1.", ("version",)),
    Definition("onlooker_exchanges_total", "counter", "Exchanges offered, counted by the relay before the first send."),
    Definition("onlooker_exchanges_recorded_total", "counter", "Exchanges the analyzer read to their end."),
    Definition("onlooker_exchanges_gap_total", "counter", "Exchanges declared lost in gap records."),
    Definition("onlooker_bytes_total", "counter", "Bytes offered.", ("side",), _SIDES),
    Definition("onlooker_bytes_gap_total", "counter", "Bytes declared lost.", ("side",), _SIDES),
    Definition("onlooker_connections_open", "gauge", "Client connections now."),
    Definition("onlooker_refusals_total", "counter", "Typed refusals answered by the relay.", ("status",)),
    Definition("onlooker_relay_tick_max_seconds", "gauge", "Longest loop tick of any relay."),
    Definition("onlooker_spool_bytes", "gauge", "Captured and not yet analysed."),
    Definition("onlooker_spool_moved_segments_total", "counter", "Segments moved to disk (spool.overflow)."),
    Definition(
        "onlooker_analysis_lag_seconds",
        "gauge",
        "Last byte of a call relayed to its record written, last 1,000 calls.",
        ("quantile",),
        (("0.5", "0.99"),),
    ),
    Definition(
        "onlooker_calls_total",
        "counter",
        "Calls recorded.",
        ("protocol", "surface"),
        (_PROTOCOLS, _values(Surface)),
    ),
    Definition(
        "onlooker_effects_total",
        "counter",
        "Effects recorded.",
        ("domain", "action"),
        (_values(Domain), _values(Verb)),
    ),
    Definition("onlooker_verdicts_total", "counter", "Objective verdicts.", ("verdict",), (_values(Verdict),)),
    Definition(
        "onlooker_irreversible_verdicts_total",
        "counter",
        "Calls with an irreversible effect, by the worst verdict on such an effect.",
        ("verdict",),
        (_values(Verdict),),
    ),
    Definition("onlooker_findings_total", "counter", "Matches of stable rules.", ("severity",), (_values(Severity),)),
    Definition("onlooker_rule_results_total", "counter", "Results per rule.", ("rule", "result")),
    Definition("onlooker_incomplete_calls_total", "counter", "Calls cut off before they closed."),
    Definition(
        "onlooker_opaque_actions_total",
        "counter",
        "Actions not read completely.",
        ("reason",),
        (_values(OpaqueReason),),
    ),
    Definition("onlooker_unread_total", "counter", "Bodies that could not be read.", ("reason",), (UNREAD_LABELS,)),
    Definition("onlooker_unread_bytes_total", "counter", "Their bytes."),
    Definition("onlooker_opaque_flows_total", "counter", "Tunnels nobody reads."),
    Definition(
        "onlooker_analysis_failures_total",
        "counter",
        "Stages that failed and became a record.",
        ("stage",),
        (_STAGES,),
    ),
    Definition(
        "onlooker_classifier_seconds_total",
        "counter",
        "Processor time spent on reading what calls could do.",
        ("surface",),
        (_values(Surface),),
    ),
    Definition("onlooker_parser_disagreements_total", "counter", "Shell readings that differ."),
    Definition(
        "onlooker_state_evictions_total",
        "counter",
        "Sessions, chains, calls dropped from memory.",
        ("kind",),
        (("sessions", "chains", "legs", "calls", "rates", "sequences"),),
    ),
    Definition("onlooker_records_written_total", "counter", "Audit lines written.", ("kind",), (_KINDS,)),
    Definition("onlooker_log_write_errors_total", "counter", "Failed or short writes of the log."),
    Definition("onlooker_sink_lag_records", "gauge", "Records written and not yet delivered.", ("sink",)),
    Definition("onlooker_sink_errors_total", "counter", "Failed deliveries (they are retried).", ("sink",)),
    Definition("onlooker_sink_refused_total", "counter", "Records a receiver refused for good.", ("sink",)),
    Definition("onlooker_sink_lost_total", "counter", "Records deleted by retention before delivery.", ("sink",)),
    Definition("onlooker_policy_reload_last_success", "gauge", "1 or 0.", ("policy",)),
    Definition("onlooker_policy_disk_matches_active", "gauge", "0: a file changed and did not load.", ("policy",)),
    Definition(
        "onlooker_process_restarts_total",
        "counter",
        "Restarts by the supervisor.",
        ("process",),
        (("relay", "analyzer", "control"),),
    ),
)
_BY_NAME = {d.name: d for d in DEFINITIONS}


@dataclass(slots=True)
class Metrics:
    """One process's values. Unknown names and wrong labels are our own mistake and raise KeyError or ValueError."""

    series: dict[str, dict[Labels, float]] = field(
        default_factory=lambda: {
            d.name: dict.fromkeys(product(*d.values), 0.0) if d.values or not d.labels else {} for d in DEFINITIONS
        }
    )

    def inc(self, name: str, amount: float = 1, **labels: str) -> None:
        values, key = self._place(name, labels)
        values[key] = values.get(key, 0.0) + amount

    def set(self, name: str, value: float, **labels: str) -> None:
        values, key = self._place(name, labels)
        values[key] = value

    def total(self, name: str) -> float:
        return sum(self.series[name].values())

    def snapshot(self) -> Snapshot:
        return {name: [[list(k), v] for k, v in values.items()] for name, values in self.series.items()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Counters go on where a checkpoint left them; names and labels no longer known are dropped."""
        for name, rows in snapshot.items():
            if name in self.series and _BY_NAME[name].kind == "counter":
                self.series[name].update({tuple(k): float(v) for k, v in rows})

    def _place(self, name: str, labels: Mapping[str, str]) -> tuple[dict[Labels, float], Labels]:
        wanted = _BY_NAME[name].labels
        if set(wanted) != set(labels):
            raise ValueError(f"{name} has the labels {wanted}, not {tuple(labels)}")
        values, key = self.series[name], tuple(labels[w] for w in wanted)
        return values, key if key in values or len(values) < MAX_SERIES else tuple("other" for _ in wanted)


def merge(snapshots: Iterable[Snapshot]) -> Snapshot:
    """Counters of several processes added up, gauges of the last one that has them set."""
    out: dict[str, dict[Labels, float]] = {}
    for snapshot in snapshots:
        for name, rows in snapshot.items():
            values = out.setdefault(name, {})
            counter = _BY_NAME[name].kind == "counter"
            for labels, value in rows:
                key = tuple(labels)
                values[key] = values.get(key, 0.0) + value if counter else value
    return {name: [[list(k), v] for k, v in values.items()] for name, values in out.items()}


def render(snapshot: Snapshot) -> str:
    """The exposition text; names in the table's order."""
    lines: list[str] = []
    for definition in DEFINITIONS:
        rows = snapshot.get(definition.name, [])
        lines += [f"# HELP {definition.name} {definition.help}", f"# TYPE {definition.name} {definition.kind}"]
        lines += [f"{definition.name}{_labels(definition.labels, labels)} {_number(value)}" for labels, value in rows]
    return "\n".join(lines) + "\n"


def _labels(names: Labels, values: list[str]) -> str:
    pairs = ",".join(f'{n}="{_escape(v)}"' for n, v in zip(names, values, strict=True))
    return f"{{{pairs}}}" if pairs else ""


def _escape(value: str) -> str:
    kept = "".join(c if c.isprintable() or c == "\n" else "?" for c in value)
    return kept.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
