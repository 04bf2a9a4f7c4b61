"""A real OTLP receiver for tests: HTTP/protobuf and gRPC, with faults handed in.

``fault(signal, count)`` is asked before each request is taken: None takes it, an int answers that status (gRPC:
UNAVAILABLE), "partial" takes all but the last item and says so, "drop" closes the connection, "after" takes it and then
closes the connection, so that the sender must send it again.
"""

from __future__ import annotations

import contextlib
import gzip
import http.server
import socket
import threading
from collections import Counter

from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs_pb
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_pb

REQUESTS = {
    "logs": (logs_pb.ExportLogsServiceRequest, logs_pb.ExportLogsServiceResponse),
    "traces": (trace_pb.ExportTraceServiceRequest, trace_pb.ExportTraceServiceResponse),
    "metrics": (metrics_pb.ExportMetricsServiceRequest, metrics_pb.ExportMetricsServiceResponse),
}


def items(signal, request):
    if signal == "logs":
        return [r for g in request.resource_logs for s in g.scope_logs for r in s.log_records]
    if signal == "traces":
        return [r for g in request.resource_spans for s in g.scope_spans for r in s.spans]
    return [r for g in request.resource_metrics for s in g.scope_metrics for r in s.metrics]


class Received:
    def __init__(self, fault=lambda signal, count: None):
        self.fault = fault
        self.logs, self.traces, self.metrics = [], [], []
        self.headers = []
        self.counts = Counter()
        self.changed = threading.Condition()

    def take(self, signal, request):
        """(fault, response)."""
        with self.changed:
            self.counts[signal] += 1
            fault = self.fault(signal, self.counts[signal])
            found = items(signal, request)
            response = REQUESTS[signal][1]()
            if fault == "partial" and len(found) > 0:
                found = found[:-1]
                name = {"logs": "rejected_log_records", "traces": "rejected_spans", "metrics": "rejected_data_points"}
                setattr(response.partial_success, name[signal], 1)
                response.partial_success.error_message = "one was not understood"
            if fault in {None, "partial", "after"}:
                getattr(self, signal).extend(found)
            self.changed.notify_all()
            return fault, response

    def wait(self, predicate, timeout=120):
        with self.changed:
            return self.changed.wait_for(predicate, timeout)


def attributes(item):
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in item.attributes}


def serve_http(received, port=0):
    """A started server; ``.server_address[1]`` is its port, ``stop(server)`` ends it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def setup(self):
            super().setup()
            self.server.open_connections.append(self.connection)

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            received.headers.append(dict(self.headers))
            signal = self.path.rpartition("/")[2]
            request = REQUESTS[signal][0].FromString(body)
            fault, response = received.take(signal, request)
            if fault in {"drop", "after"}:
                self.close_connection = True
                self.connection.close()
                return
            data = b"" if isinstance(fault, int) else response.SerializeToString()
            self.send_response(fault if isinstance(fault, int) else 200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(data)))
            if fault == 429:
                self.send_header("retry-after", "0")
            self.end_headers()
            self.wfile.write(data)

    class Server(http.server.ThreadingHTTPServer):
        allow_reuse_address = True
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request, client_address):
            """A connection closed on purpose is no news."""

    server = Server(("127.0.0.1", port), Handler)
    server.open_connections = []
    server.thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    server.thread.start()
    return server


def stop(server):
    server.shutdown()
    server.server_close()
    server.thread.join()
    for connection in getattr(server, "open_connections", ()):
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


def serve_grpc(received, port=0):
    """(server, port)."""
    from concurrent import futures

    import grpc
    from opentelemetry.proto.collector.logs.v1 import logs_service_pb2_grpc as logs_grpc
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_grpc
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as trace_grpc

    def servicer(base, signal):
        class Servicer(base):
            def Export(self, request, context):
                fault, response = received.take(signal, request)
                if isinstance(fault, int) or fault in {"drop", "after"}:
                    context.abort(grpc.StatusCode.UNAVAILABLE, "fault")
                return response

        return Servicer()

    server = grpc.server(futures.ThreadPoolExecutor(2))
    logs_grpc.add_LogsServiceServicer_to_server(servicer(logs_grpc.LogsServiceServicer, "logs"), server)
    trace_grpc.add_TraceServiceServicer_to_server(servicer(trace_grpc.TraceServiceServicer, "traces"), server)
    metrics_grpc.add_MetricsServiceServicer_to_server(servicer(metrics_grpc.MetricsServiceServicer, "metrics"), server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound
