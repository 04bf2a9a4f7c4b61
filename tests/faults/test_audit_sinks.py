"""Outages and a second collector between: every record arrives, in order."""

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from audit.sink_runner import SinkRunner
from audit.sinks import Figure
from audit.sinks.otlp import SINK as OTLP
from tests.audit.build import action_record, open_log
from tests.audit.otlp_receiver import Received, attributes, serve_grpc, serve_http, stop
from tests.ports import free_port

pytestmark = pytest.mark.faults
OUTAGE_S = float(os.environ.get("ONLOOKER_OUTAGE_S", "2"))


def ids_of(received):
    return [attributes(log)["onlooker.record.id"] for log in received.logs]


def run_while(folder, sink, done, timeout_s=120):
    runner = SinkRunner(folder / "audit", folder / "sinks", {"otlp": sink}, poll_s=0.02, wait_s=0.02)

    async def main():
        stopping = asyncio.Event()

        async def watch():
            while not done(runner.status["otlp"]):
                await asyncio.sleep(0.02)
            stopping.set()

        async with asyncio.timeout(timeout_s):
            await asyncio.gather(runner.run(stopping), watch())

    asyncio.run(main())
    return runner.status["otlp"]


def test_a_receiver_that_comes_and_goes_under_load_gets_everything_in_order(tmp_path):
    received = Received()
    port = free_port()
    log = open_log(tmp_path)
    total = 3000
    written, arrived = threading.Event(), threading.Event()

    def write():
        for _ in range(total):
            log.append(action_record())
        written.set()

    def flap():
        while not arrived.is_set():  # checkpoints are sent too: they come after the last of the actions
            server = serve_http(received, port)
            time.sleep(0.15)
            stop(server)
            time.sleep(0.1)

    threads = [threading.Thread(target=write), threading.Thread(target=flap)]
    for thread in threads:
        thread.start()
    sink = OTLP.open({"endpoint": f"http://127.0.0.1:{port}", "timeout_s": 1.0}, tmp_path)
    sink.batch_records = 100
    try:
        status = run_while(tmp_path, sink, lambda s: written.is_set() and s.sent >= log.next_seq)
    finally:
        arrived.set()
        for thread in threads:
            thread.join()
    log.close()
    seen = list(dict.fromkeys(ids_of(received)))
    assert seen == [f"{log.log_id}:{n}" for n in range(len(seen))]
    assert len(seen) >= total
    assert status.errors > 0
    assert status.lost == 0


def stormy(_signal, count):
    """503s, connections closed before and after the batch was taken, and answers later than the sender waits."""
    if count % 11 == 5:
        time.sleep(0.7)
    return {1: 503, 3: "drop", 6: "after", 8: 429}.get(count % 11)


@contextlib.contextmanager
def receiver(protocol, received, port):
    if protocol == "http":
        server = serve_http(received, port)
        yield
        stop(server)
    else:
        server, _ = serve_grpc(received, port)
        yield
        server.stop(0).wait()


@pytest.mark.timeout(2 * OUTAGE_S + 240)
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_nothing_is_lost_over_a_storm_an_outage_and_a_restart_within_it(tmp_path, protocol):
    """``ONLOOKER_OUTAGE_S=300 pytest -s -m faults -k outage``: the figure of docs/promises.md."""
    if protocol == "grpc":
        pytest.importorskip("grpc", reason="the extra `grpc` is not installed")
    received, port, enough = Received(stormy), free_port(), threading.Event()
    closed, arrived, back = threading.Event(), threading.Event(), []
    log = open_log(tmp_path)

    def write():
        while not enough.wait(0.005):
            log.append(action_record())

    def sink():
        opened = OTLP.open({"endpoint": f"http://127.0.0.1:{port}", "protocol": protocol, "timeout_s": 0.5}, tmp_path)
        opened.batch_records = 64
        return opened

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with receiver(protocol, received, port):
            storm = run_while(tmp_path, sink(), lambda s: s.sent >= 640 and s.errors >= 5, 120)
        down_at = time.monotonic()
        away = run_while(tmp_path, sink(), lambda _: time.monotonic() > down_at + OUTAGE_S / 2, OUTAGE_S + 60)
        assert (away.sent, away.errors > 0) == (0, True)
        received.fault = lambda _signal, _count: None

        def come_back():
            time.sleep(max(0.0, down_at + OUTAGE_S - time.monotonic()))
            with receiver(protocol, received, port):
                back.append(time.monotonic())
                enough.set()
                writer.join()
                log.close()
                closed.set()
                arrived.wait(180)

        returning = threading.Thread(target=come_back)
        returning.start()
        caught_up = run_while(
            tmp_path,
            sink(),
            lambda s: closed.is_set() and s.up_to == f"{log.log_id}:{log.next_seq - 1}",
            OUTAGE_S + 180,
        )
        took_s = time.monotonic() - back[0]
    finally:
        enough.set()
        arrived.set()
        writer.join()
    returning.join()
    ids = ids_of(received)
    assert list(dict.fromkeys(ids)) == [f"{log.log_id}:{n}" for n in range(log.next_seq)]
    assert (storm.lost, caught_up.lost, storm.rejected, caught_up.rejected) == (0, 0, 0, 0)
    print(
        f"\n{protocol}: {OUTAGE_S:g} s outage, {log.next_seq:,} records written, all arrived in order, "
        f"{len(ids) - log.next_seq:,} twice; {storm.errors} failures in the storm; caught up in {took_s:.1f} s"
    )


def test_through_rotel_a_real_collector(tmp_path):
    rotel = pytest.importorskip("rotel", reason="rotel is a development dependency")
    binary = Path(rotel.__file__).with_name("rotel-agent")
    received = Received()
    server = serve_http(received)
    grpc_port, http_port = free_port(), free_port()
    command = [
        *(str(binary), "start", "--otlp-grpc-endpoint", f"127.0.0.1:{grpc_port}"),
        *("--otlp-http-endpoint", f"127.0.0.1:{http_port}", "--exporter", "otlp"),
        *(
            "--otlp-exporter-endpoint",
            f"http://127.0.0.1:{server.server_address[1]}",
            "--otlp-exporter-protocol",
            "http",
        ),
    ]
    collector = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with open_log(tmp_path) as log:
            for _ in range(40):
                log.append(action_record())
        sink = OTLP.open({"endpoint": f"http://127.0.0.1:{http_port}"}, tmp_path)
        status = run_while(tmp_path, sink, lambda s: s.sent >= log.next_seq)
        sink = OTLP.open({"endpoint": f"http://127.0.0.1:{http_port}"}, tmp_path)
        series = [({"surface": s}, 2.0) for s in ("shell", "sql")]
        sink.measure([Figure("onlooker_classifier_seconds_total", "Time.", counter=True, series=series)], log.log_id)
        sink.measure([Figure("onlooker_spool_bytes", "Waiting.", counter=False, series=[({}, 7.0)])], log.log_id)
        sink.close()
        assert received.wait(lambda: len(set(ids_of(received))) >= log.next_seq and len(received.traces) >= 40)
        wanted = {"onlooker_classifier_seconds_total", "onlooker_spool_bytes", "onlooker.records"}
        assert received.wait(lambda: wanted <= {m.name for m in received.metrics})
    finally:
        collector.send_signal(signal.SIGTERM)
        collector.wait(60)
        stop(server)
    assert status.rejected == 0
    assert {log.event_name for log in received.logs} == {"onlooker.action", "onlooker.segment", "onlooker.checkpoint"}
    assert {span.name for span in received.traces} == {"execute_tool Bash"}
