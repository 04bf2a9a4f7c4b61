"""Records as OTLP messages: one LogRecord each, one ``execute_tool`` span per action, counters over a batch.

In: records. Out: protobuf requests of ``opentelemetry-proto``. Ids are made from the record's id, so a batch that is
sent twice can be told from two batches. Built directly: the SDK's exporters throw the response, and with it
``partial_success``, away.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AggregationTemporality,
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from opentelemetry.sdk.resources import Resource as SdkResource

from audit import otel_names as names
from audit.summary import findings, severity, what

Record = dict[str, Any]
SCOPE = InstrumentationScope(name="onlooker.audit", version="1")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


def resource(record: Record) -> Resource:
    """Service, host and pod, and what OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME add."""
    said = {"service.instance.id": record["log_id"], "host.name": names.look(record, "origin.host")}
    pod = names.look(record, "origin.pod")
    return Resource(attributes=attributes_of(service() | said | {"k8s.pod.name": pod}))


@cache
def service() -> dict[str, Any]:
    found = dict(SdkResource.create({}).attributes)
    if str(found.get("service.name", "unknown_service")).startswith("unknown_service"):
        found["service.name"] = "onlooker"
    return {k: v for k, v in found.items() if not k.startswith("telemetry.sdk.")}


def logs(batch: Sequence[Record], *, arguments: bool = False) -> ExportLogsServiceRequest:
    entries = [_log(r, arguments=arguments) for r in batch]
    scope = ScopeLogs(scope=SCOPE, log_records=entries)
    return ExportLogsServiceRequest(resource_logs=[ResourceLogs(resource=resource(batch[0]), scope_logs=[scope])])


def spans(batch: Sequence[Record], *, arguments: bool = False) -> ExportTraceServiceRequest | None:
    """None: no action in the batch."""
    entries = [_span(r, arguments=arguments) for r in batch if r["kind"] == "action"]
    if not entries:
        return None
    scope = ScopeSpans(scope=SCOPE, spans=entries)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(resource=resource(batch[0]), scope_spans=[scope])])


def metrics(totals: Counter[tuple[str, str]], like: Record, start_ns: int, now_ns: int) -> ExportMetricsServiceRequest:
    """Cumulative counters {(kind, severity or "none"): count}, monotonic since ``start_ns``."""
    points = [
        NumberDataPoint(
            attributes=attributes_of({"kind": kind, "severity": worst}),
            start_time_unix_nano=start_ns,
            time_unix_nano=now_ns,
            as_int=count,
        )
        for (kind, worst), count in sorted(totals.items())
    ]
    cumulative = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
    total = Sum(data_points=points, aggregation_temporality=cumulative, is_monotonic=True)
    metric = Metric(name="onlooker.records", unit="{record}", description="Records exported.", sum=total)
    scope = ScopeMetrics(scope=SCOPE, metrics=[metric])
    grouped = ResourceMetrics(resource=resource(like), scope_metrics=[scope])
    return ExportMetricsServiceRequest(resource_metrics=[grouped])


def _log(record: Record, *, arguments: bool) -> LogRecord:
    trace, span, flags = trace_ids(record)
    worst = severity(record)
    return LogRecord(
        time_unix_nano=_ns(record["ts"]),
        observed_time_unix_nano=_ns(record["ts"]),
        severity_number=names.SEVERITY_NUMBER.get(worst, 9),  # type: ignore[arg-type]
        severity_text=worst or "none",
        event_name=names.EVENT_PREFIX + record["kind"],
        body=AnyValue(string_value=orjson.dumps(record if arguments else _without_arguments(record)).decode()),
        attributes=attributes_of(attributes(record, arguments=arguments) | {"onlooker.summary": what(record)}),
        trace_id=trace,
        span_id=span,
        flags=flags,
    )


def _span(record: Record, *, arguments: bool) -> Span:
    """Zero length: the request was seen, when it ran is not known (``onlooker.timing``)."""
    trace, span, flags = trace_ids(record)
    parent = _TRACEPARENT.fullmatch(str(names.look(record, "exchange.traceparent") or ""))
    said = attributes(record, arguments=arguments) | {names.OPERATION: names.SPAN_NAME}
    return Span(
        trace_id=trace,
        span_id=span,
        parent_span_id=bytes.fromhex(parent[2]) if parent else b"",
        flags=flags,
        name=f"{names.SPAN_NAME} {names.look(record, 'call.name') or 'unknown'}",
        kind=Span.SpanKind.SPAN_KIND_INTERNAL,
        start_time_unix_nano=_ns(record["ts"]),
        end_time_unix_nano=_ns(record["ts"]),
        attributes=attributes_of(said | {"onlooker.timing": "reconstructed", "onlooker.summary": what(record)}),
    )


def trace_ids(record: Record) -> tuple[bytes, bytes, int]:
    """The caller's trace when it was seen, else one per session; the span is the action's (an outcome shares it)."""
    parent = _TRACEPARENT.fullmatch(str(names.look(record, "exchange.traceparent") or ""))
    action = record["id"] if record["kind"] == "action" else record.get("action") or record["id"]
    span = hashlib.sha256(f"span {action}".encode()).digest()[:8]
    if parent and parent[1].strip("0"):
        return bytes.fromhex(parent[1]), span, int(parent[3], 16)
    owner = names.look(record, "session.id") or record["log_id"]
    return hashlib.sha256(f"trace {owner}".encode()).digest()[:16], span, 1


def attributes(record: Record, *, arguments: bool) -> dict[str, Any]:
    said = {name: names.look(record, path) for name, path in names.FROM_RECORD.items()}
    host, _, port = str(names.look(record, "exchange.upstream") or "").rpartition(":")
    said |= {"server.address": host or None, "server.port": int(port) if port.isdigit() else None}
    effects = names.look(record, "classification.effects") or []
    said |= {name: [e[field] or "" for e in effects] or None for name, field in names.FROM_EFFECTS.items()}
    if record["kind"] == "action":
        said |= {"onlooker.action": "observed"} | _rules(record)
    if record["kind"] == "outcome":
        said["error.type"] = names.ERROR_TYPE.get(record["outcome"])
    given = names.look(record, "call.arguments")
    if arguments and given is not None:
        said[names.ARGUMENTS] = orjson.dumps(given).decode()
    return said


def _rules(record: Record) -> dict[str, Any]:
    found = findings(record)
    if not found:
        return {}
    owner = next(p for p in record["policy"] if found[0] in p["findings"])
    rule = {names.RULE_NAME: found[0]["rule"], names.RULE_UUID: f"{owner['id']}/{found[0]['rule']}"}
    version = {names.RULE_VERSION: owner["version"], names.RULESET: owner["id"]}
    return rule | version | {"onlooker.rules": [f["rule"] for f in found]}


def _without_arguments(record: Record) -> Record:
    call = record.get("call")
    return record if not call or "arguments" not in call else {**record, "call": {**call, "arguments": None}}


def attributes_of(said: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=k, value=_value(v)) for k, v in said.items() if v is not None]


def _value(value: Any) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=[_value(v) for v in value]))
    return AnyValue(string_value=str(value))


def _ns(ts: str) -> int:
    return round(datetime.fromisoformat(ts).timestamp() * 1000) * 1_000_000
