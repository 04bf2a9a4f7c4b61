"""OTLP over HTTP/protobuf or gRPC: logs, spans, counters; the cursor moves when all three were taken.

In: records; now and then the instance's figures. Out: export requests, gzip. ``partial_success`` is read; 429, 502,
503, 504 and a broken connection are tried again (honouring Retry-After); any other refusal is counted as rejected, so
one bad batch stops nothing.
"""

from __future__ import annotations

import gzip
import http.client
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol
from urllib.parse import urlsplit

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from audit import otlp_encode
from audit.otlp_metrics import measured
from audit.sinks import Figure, Options, Record, RefusedError, Sent, SinkError, read_options, secret
from audit.summary import severity

ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
RETRYABLE = frozenset({429, 502, 503, 504})  # OTLP specification 1.x, "Failures"
RESPONSES: Mapping[str, Any] = {
    "logs": ExportLogsServiceResponse,
    "traces": ExportTraceServiceResponse,
    "metrics": ExportMetricsServiceResponse,
}
REJECTED = {"logs": "rejected_log_records", "traces": "rejected_spans", "metrics": "rejected_data_points"}


class Wire(Protocol):
    def post(self, signal: str, message: Any) -> Any:
        """The response message. Raises SinkError to try again, RefusedError when that would not help."""

    def close(self) -> None: ...


class HttpWire:
    """One kept-alive connection; a request that fails on a connection the other side closed opens a new one."""

    def __init__(self, endpoint: str, headers: Mapping[str, str], timeout_s: float) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"sink otlp: endpoint is {endpoint!r}; expected http://host:4318 or https://…")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port or 4318, timeout=timeout_s)
        self._base = parts.path.rstrip("/")
        self._headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip", **headers}

    def post(self, signal: str, message: Any) -> Any:
        body = gzip.compress(message.SerializeToString(), 6)
        try:
            self._connection.request("POST", f"{self._base}/v1/{signal}", body, self._headers)
            reply = self._connection.getresponse()
            data = reply.read(1 << 20)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise SinkError(f"otlp {signal}: {error or type(error).__name__}") from error
        if reply.status in RETRYABLE:
            after = reply.getheader("retry-after", "")
            raise SinkError(f"otlp {signal}: HTTP {reply.status}", float(after) if after.isdigit() else None)
        if reply.status >= 300:
            raise RefusedError(f"otlp {signal}: HTTP {reply.status}")
        try:
            return RESPONSES[signal].FromString(data)
        except Exception as error:  # protobuf's DecodeError has no public home in every version
            raise RefusedError(f"otlp {signal}: the answer is not OTLP") from error

    def close(self) -> None:
        self._connection.close()


class OtlpSink:
    batch_records = 512
    linger_s = 0.0

    def __init__(self, wire: Wire, options: Mapping[str, Any], figures_wire: Wire) -> None:
        """``figures_wire``: a connection of its own, so that figures and records do not wait for each other."""
        self._wire, self._options, self._figures_wire = wire, options, figures_wire
        self.figures_s = float(options["metrics_s"]) if options["metrics"] else 0.0
        self._totals: Counter[tuple[str, str]] = Counter()
        self._start_ns = time.time_ns()
        self._at: tuple[str, str] | None = None  # the batch in hand, and the signals that have it
        self._taken: set[str] = set()

    def send(self, batch: Sequence[Record]) -> Sent:
        """Logs first: they are the record; spans and counters say the same again. Taken signals are not sent again."""
        refused, why = 0, ""
        key = (batch[0]["id"], batch[-1]["id"])
        if key != self._at:
            self._at, self._taken = key, set()
        arguments = bool(self._options["arguments"])
        if self._options["logs"]:
            refused, why = self._post("logs", lambda: otlp_encode.logs(batch, arguments=arguments))
        if not refused and self._options["traces"]:
            refused, why = self._post("traces", lambda: otlp_encode.spans(batch, arguments=arguments))
        if not refused and self._options["metrics"]:
            totals = self._totals + Counter((r["kind"], severity(r) or "none") for r in batch)
            now_ns = time.time_ns()
            _, why = self._post("metrics", lambda: otlp_encode.metrics(totals, batch[0], self._start_ns, now_ns))
            self._totals = totals
        return Sent(min(refused, len(batch)), why)

    def measure(self, figures: Sequence[Figure], log_id: str) -> None:
        try:
            reply = self._figures_wire.post("metrics", measured(figures, log_id, self._start_ns, time.time_ns()))
        except RefusedError as error:
            raise SinkError(str(error)) from error
        if refused := reply.partial_success.rejected_data_points:
            raise SinkError(f"otlp metrics: {refused} refused: {reply.partial_success.error_message}")

    def close(self) -> None:
        self._wire.close()
        self._figures_wire.close()

    def _post(self, signal: str, encode: Callable[[], Any]) -> tuple[int, str]:
        message = None if signal in self._taken else encode()
        if message is None:
            return 0, ""
        try:
            reply = self._wire.post(signal, message)
        except RefusedError as error:
            return 1 << 30, str(error)
        self._taken.add(signal)
        partial = reply.partial_success
        return getattr(partial, REJECTED[signal]), partial.error_message


class Otlp:
    name = "otlp"
    options: Options = MappingProxyType(
        {
            "endpoint": "",  # empty: OTEL_EXPORTER_OTLP_ENDPOINT, else 127.0.0.1 and the protocol's port
            "protocol": "http",
            "headers": {},
            "timeout_s": 10.0,
            "logs": True,  # False for a place that takes traces only
            "traces": True,
            "metrics": True,
            "metrics_s": 30.0,  # how often the instance's own figures are sent
            "arguments": False,
        }
    )

    def open(self, options: Options, place: Path) -> OtlpSink:  # noqa: ARG002 - every sink's signature
        chosen = read_options(self.name, self.options, options)
        headers = {k.lower(): secret(self.name, str(v)) for k, v in chosen["headers"].items()}
        if chosen["protocol"] not in {"http", "grpc"}:
            raise ValueError(f"sink otlp: protocol is {chosen['protocol']!r}; expected http or grpc")
        port = 4317 if chosen["protocol"] == "grpc" else 4318
        chosen["endpoint"] = chosen["endpoint"] or os.environ.get(ENDPOINT_VARIABLE) or f"http://127.0.0.1:{port}"
        return OtlpSink(_wire(chosen, headers), chosen, _wire(chosen, headers))


def _wire(chosen: Mapping[str, Any], headers: Mapping[str, str]) -> Wire:
    if chosen["protocol"] == "grpc":
        from audit.otlp_grpc import GrpcWire  # noqa: PLC0415 - grpcio is the extra `grpc`

        return GrpcWire(chosen["endpoint"], headers, chosen["timeout_s"])
    return HttpWire(chosen["endpoint"], headers, chosen["timeout_s"])


SINK = Otlp()
