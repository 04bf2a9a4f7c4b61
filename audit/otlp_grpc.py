"""The gRPC side of the OTLP sink (extra ``grpc``): same requests, same reading of the answer.

In: export requests. Out: responses. Status codes to try again are those of the OTLP specification, "Failures".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

try:
    import grpc
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import LogsServiceStub
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
except ImportError as error:
    raise ValueError("sink otlp: protocol grpc needs the extra: pip install 'onlooker[grpc]'") from error

from audit.sinks import RefusedError, SinkError

RETRYABLE = {
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS,
}


class GrpcWire:
    def __init__(self, endpoint: str, headers: Mapping[str, str], timeout_s: float) -> None:
        parts = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}")
        target = f"{parts.hostname}:{parts.port or 4317}"
        options = [("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 5000)]
        secure = parts.scheme == "https"
        self._channel = (
            grpc.secure_channel(target, grpc.ssl_channel_credentials(), options=options)
            if secure
            else grpc.insecure_channel(target, options=options)
        )
        self._metadata, self._timeout_s = tuple(headers.items()), timeout_s
        stubs: dict[str, Any] = {"logs": LogsServiceStub, "traces": TraceServiceStub, "metrics": MetricsServiceStub}
        self._stubs: dict[str, Any] = {name: stub(self._channel) for name, stub in stubs.items()}

    def post(self, signal: str, message: Any) -> Any:
        try:
            return self._stubs[signal].Export(
                message, timeout=self._timeout_s, metadata=self._metadata, compression=grpc.Compression.Gzip
            )
        except grpc.RpcError as error:
            code = error.code()
            if code in RETRYABLE:
                raise SinkError(f"otlp {signal}: {code.name}") from error
            raise RefusedError(f"otlp {signal}: {code.name}") from error

    def close(self) -> None:
        self._channel.close()
