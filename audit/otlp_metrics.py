"""An instance's figures as OTLP metrics, under the names Prometheus knows them by.

In: figures. Out: one protobuf request: counters as cumulative sums, gauges as gauges, each series a double.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AggregationTemporality,
    Gauge,
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from audit.otlp_encode import SCOPE, attributes_of, service
from audit.sinks import Figure

_UNITS = {"seconds": "s", "bytes": "By"}  # UCUM, by the word at the end of the name


def measured(figures: Sequence[Figure], log_id: str, start_ns: int, now_ns: int) -> ExportMetricsServiceRequest:
    """``start_ns``: since when the sums are watched here; they may have been counted longer (an analyzer goes on)."""
    said = service() | {"service.instance.id": log_id or None, "host.name": socket.gethostname()}
    scope = ScopeMetrics(scope=SCOPE, metrics=[_metric(f, start_ns, now_ns) for f in figures if f.series])
    grouped = ResourceMetrics(resource=Resource(attributes=attributes_of(said)), scope_metrics=[scope])
    return ExportMetricsServiceRequest(resource_metrics=[grouped])


def _metric(figure: Figure, start_ns: int, now_ns: int) -> Metric:
    points = [
        NumberDataPoint(
            attributes=attributes_of(dict(labels)),
            start_time_unix_nano=start_ns if figure.counter else 0,
            time_unix_nano=now_ns,
            as_double=value,
        )
        for labels, value in figure.series
    ]
    unit = _UNITS.get(figure.name.removesuffix("_total").rpartition("_")[2], "1")
    metric = Metric(name=figure.name, unit=unit, description=figure.help)
    if figure.counter:
        cumulative = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
        metric.sum.CopyFrom(Sum(data_points=points, aggregation_temporality=cumulative, is_monotonic=True))
    else:
        metric.gauge.CopyFrom(Gauge(data_points=points))
    return metric
