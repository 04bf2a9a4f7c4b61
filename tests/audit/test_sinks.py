"""The same records through every sink; slow, failing and closed receivers lose nothing and keep the order."""

import asyncio
import hashlib
import hmac
import http.server
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from audit.cursor import Cursor
from audit.files import segments
from audit.segment_reader import lines_of
from audit.sink_runner import SinkRunner, open_sinks
from audit.sinks import TAKEN, SinkError, read_options, secret
from audit.sinks.clickhouse import SINK as CLICKHOUSE
from audit.sinks.nats import SINK as NATS
from audit.sinks.ocsf import SINK as OCSF
from audit.sinks.otlp import SINK as OTLP
from audit.sinks.parquet import SINK as PARQUET
from audit.sinks.stdout import SINK as STDOUT
from audit.sinks.stdout import StdoutSink
from audit.sinks.syslog import SINK as SYSLOG
from audit.sinks.syslog import message
from audit.sinks.webhook import SINK as WEBHOOK
from classifiers.discover import discover
from tests.audit.build import AROUND, action_record, every_kind, open_log
from tests.audit.otlp_receiver import Received, attributes, serve_grpc, serve_http, stop
from tests.ports import free_port

WAIT_S = 60.0  # against hanging only: nothing here is a promise about time
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def folder(tmp_path):
    with open_log(tmp_path) as log:
        for record in every_kind():
            log.append(record)
        joined = replace(AROUND, exchange={**AROUND.exchange, "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"})
        log.append(action_record("ls /", around=joined))
    return tmp_path / "audit"


def written(folder):
    return [orjson.loads(x) for s in segments(folder) for x in lines_of(s.path)]


def drain(folder, name, sink):
    runner = SinkRunner(folder, folder.parent / "sinks", {name: sink})
    asyncio.run(runner.drain())
    sink.close()
    return runner.status[name]


def run_until(folder, sinks, done, timeout_s=WAIT_S):
    """Run the real loop until ``done()`` holds."""
    runner = SinkRunner(folder, folder.parent / "sinks", sinks, poll_s=0.01, wait_s=0.01)

    async def main():
        stopping = asyncio.Event()

        async def watch():
            while not done(runner):
                await asyncio.sleep(0.005)
            stopping.set()

        async with asyncio.timeout(timeout_s):
            await asyncio.gather(runner.run(stopping), watch())

    asyncio.run(main())
    return runner


def test_every_sink_is_found_and_says_its_options():
    found = {s.name for s in discover("audit.sinks", "SINK")}
    assert found == {"stdout", "otlp", "syslog", "webhook", "parquet", "ocsf", "nats", "clickhouse", "kafka"}


def test_the_page_names_every_sink_with_its_options():
    page = (Path(__file__).parents[2] / "docs" / "sinks.md").read_text("utf-8")
    said = {
        m[1]: set(re.findall(r"`([a-z_]+)`", m[2])) for m in re.finditer(r"^\| `(\w+)` \|(.*)\|$", page, re.MULTILINE)
    }
    for sink in discover("audit.sinks", "SINK"):
        assert set(sink.options) <= said.pop(sink.name), sink.name
    assert not said


@pytest.mark.parametrize(
    ("sink", "options", "said"),
    [
        (OTLP, {"endpoint": "ftp://x"}, "expected http://host:4318"),
        (OTLP, {"protocol": "udp"}, "expected http or grpc"),
        (OTLP, {"timeout_s": "soon"}, "timeout_s is 'soon'; expected float"),
        (OTLP, {"endpoints": "x"}, "unknown option 'endpoints'"),
        (OTLP, {"headers": {"authorization": "env:ONLOOKER_NOT_SET"}}, "the environment has no ONLOOKER_NOT_SET"),
        (SYSLOG, {"address": "tcp:nowhere"}, "expected unix:/PATH, tcp:HOST:PORT"),
        (WEBHOOK, {"url": "x"}, "expected https://host/path"),
        (WEBHOOK, {"url": "https://h.example/x"}, "secret is missing"),
        (WEBHOOK, {"url": "https://h.example/x", "secret": "s", "severity": "bad"}, "severity is 'bad'"),
        (CLICKHOUSE, {"url": "clickhouse:9000"}, "expected http(s)://host[:port]"),
        (CLICKHOUSE, {"url": "http://h", "table": "x; DROP TABLE y"}, "expected name or database.name"),
        (STDOUT, {"style": "loud"}, "expected auto, json or console"),
    ],
)
def test_a_wrong_option_is_named(tmp_path, sink, options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        sink.open(options, tmp_path)


def test_an_unknown_sink_is_named(tmp_path):
    with pytest.raises(ValueError, match="unknown sink 'carrier-pigeon'; expected clickhouse, kafka, nats, ocsf, otlp"):
        open_sinks([{"carrier-pigeon": {}}], tmp_path)


def test_two_sinks_of_a_kind_have_cursors_of_their_own(tmp_path):
    assert list(open_sinks([{"ocsf": {}}, {"ocsf": None}], tmp_path)) == ["ocsf", "ocsf-2"]


def test_secrets_may_stand_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("ONLOOKER_TEST", "v")
    (tmp_path / "f").write_text("w\n")
    assert [secret("x", s) for s in ("env:ONLOOKER_TEST", f"file:{tmp_path / 'f'}", "u")] == ["v", "w", "u"]
    assert read_options("x", {"a": 1.0}, {"a": 2}) == {"a": 2}


# -- stdout


def test_stdout_gives_each_record_as_json(folder):
    stream = io.StringIO()
    drain(folder, "stdout", StdoutSink(stream, "json"))
    lines = [json.loads(x) for x in stream.getvalue().splitlines()]
    assert [x["event"] for x in lines][:2] == ["onlooker.segment", "onlooker.action"]
    assert [x["record"] for x in lines] == written(folder)


def test_stdout_on_a_terminal_is_a_readable_line(folder):
    stream = io.StringIO()
    drain(folder, "stdout", StdoutSink(stream, "console"))
    assert "Bash: delete filesystem /srv/shop/cache" in stream.getvalue()


def test_a_closed_stdout_keeps_its_place(folder):
    stream = io.StringIO()
    sink = StdoutSink(stream, "json")
    stream.close()
    with pytest.raises(SinkError):
        drain(folder, "stdout", sink)
    assert not (folder.parent / "sinks" / "stdout.cursor").exists()


# -- otlp


def record_ids(received):
    return [attributes(log)["onlooker.record.id"] for log in received.logs]


def test_a_place_that_takes_traces_only_gets_the_spans_and_no_refusal(folder):
    received = Received(lambda signal, _count: None if signal == "traces" else 404)
    server = serve_http(received)
    options = {"endpoint": f"http://127.0.0.1:{server.server_address[1]}", "logs": False, "metrics": False}
    status = drain(folder, "otlp", OTLP.open(options, folder))
    stop(server)
    assert (status.rejected, received.counts["logs"], received.counts["metrics"]) == (0, 0, 0)
    assert len(received.traces) == sum(r["kind"] == "action" for r in written(folder))


def test_otlp_has_one_log_record_each_and_a_span_per_action(folder):
    received = Received()
    server = serve_http(received)
    status = drain(folder, "otlp", OTLP.open({"endpoint": f"http://127.0.0.1:{server.server_address[1]}"}, folder))
    stop(server)
    records = written(folder)
    assert record_ids(received) == [r["id"] for r in records]
    assert {log.event_name for log in received.logs} == {f"onlooker.{r['kind']}" for r in records}
    assert len(received.traces) == sum(r["kind"] == "action" for r in records)
    assert (status.sent, status.rejected, status.error) == (len(records), 0, None)
    assert received.metrics[-1].name == "onlooker.records"


def test_otlp_attributes_are_the_conventions_names(folder):
    received = Received()
    server = serve_http(received)
    drain(folder, "otlp", OTLP.open({"endpoint": f"http://127.0.0.1:{server.server_address[1]}"}, folder))
    stop(server)
    span = received.traces[0]
    said = attributes(span)
    assert span.name == "execute_tool Bash"
    assert span.kind == span.SpanKind.SPAN_KIND_INTERNAL
    assert said["gen_ai.operation.name"] == "execute_tool"
    assert said["gen_ai.tool.name"] == "Bash"
    assert (said["server.address"], said["server.port"]) == ("api.model.example", 443)
    assert said["security_rule.name"] == "fs.delete-protected-tree"
    assert (said["onlooker.verdict"], said["onlooker.action"]) == ("outside_scope", "observed")
    assert said["onlooker.timing"] == "reconstructed"
    assert "gen_ai.tool.call.arguments" not in said
    assert "rm -rf" not in str(received.logs) + str(received.traces)


def test_otlp_arguments_are_sent_when_asked_for(folder):
    received = Received()
    server = serve_http(received)
    options = {"endpoint": f"http://127.0.0.1:{server.server_address[1]}", "arguments": True}
    drain(folder, "otlp", OTLP.open(options, folder))
    stop(server)
    assert json.loads(attributes(received.traces[0])["gen_ai.tool.call.arguments"]) == {
        "command": "rm -rf /srv/shop/cache"
    }


def test_otlp_joins_the_callers_trace(folder):
    received = Received()
    server = serve_http(received)
    drain(folder, "otlp", OTLP.open({"endpoint": f"http://127.0.0.1:{server.server_address[1]}"}, folder))
    stop(server)
    span = received.traces[-1]
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, "b7ad6b7169203331")
    log = next(x for x in received.logs if x.span_id == span.span_id)
    assert log.trace_id == span.trace_id
    assert received.traces[0].parent_span_id == b""


FAULTS = {
    "503 at first": lambda signal, n: 503 if n <= 2 else None,
    "429 with retry-after": lambda signal, n: 429 if n == 1 else None,
    "every other": lambda signal, n: 503 if n % 2 else None,
    "connection dropped": lambda signal, n: "drop" if n == 1 else None,
    "taken but not said": lambda signal, n: "after" if n in {1, 3} else None,
    "spans refused": lambda signal, n: 503 if signal == "traces" and n <= 2 else None,
}


@pytest.mark.parametrize("protocol", ["http", "grpc"])
@pytest.mark.parametrize("fault", FAULTS)
def test_otlp_loses_nothing_and_keeps_the_order(folder, fault, protocol):
    received = Received(FAULTS[fault])
    if protocol == "http":
        server = serve_http(received)
        port = server.server_address[1]
    else:
        server, port = serve_grpc(received)
    sink = OTLP.open({"endpoint": f"http://127.0.0.1:{port}", "protocol": protocol}, folder)
    sink.batch_records = 7
    total = len(written(folder))
    runner = run_until(folder, {"otlp": sink}, lambda r: r.status["otlp"].sent >= total)
    stop(server) if protocol == "http" else server.stop(0).wait()
    assert list(dict.fromkeys(record_ids(received))) == [r["id"] for r in written(folder)]
    assert runner.status["otlp"].errors >= 1
    assert runner.status["otlp"].rejected == 0


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_partial_success_is_read_and_nothing_is_lost(folder, protocol):
    received = Received(lambda signal, n: "partial" if signal == "logs" and n == 2 else None)
    if protocol == "http":
        server = serve_http(received)
        port = server.server_address[1]
    else:
        server, port = serve_grpc(received)
    sink = OTLP.open({"endpoint": f"http://127.0.0.1:{port}", "protocol": protocol}, folder)
    sink.batch_records = 7
    status = drain(folder, "otlp", sink)
    stop(server) if protocol == "http" else server.stop(0).wait()
    assert set(record_ids(received)) == {r["id"] for r in written(folder)}
    assert status.rejected == 0


def test_a_record_the_other_side_will_never_take_is_counted_and_stops_nothing(folder):
    received = Received(lambda signal, n: 400 if signal == "logs" and n in {1, 2} else None)
    server = serve_http(received)
    sink = OTLP.open({"endpoint": f"http://127.0.0.1:{server.server_address[1]}"}, folder)
    sink.batch_records = 4
    status = drain(folder, "otlp", sink)
    stop(server)
    assert status.rejected == 1
    assert set(record_ids(received)) == {r["id"] for r in written(folder)[1:]}


def test_a_receiver_that_restarts_gets_the_rest(folder):
    restarted = []
    received = Received(lambda signal, n: 503 if signal == "logs" and n > 1 and not restarted else None)
    server = serve_http(received)
    port = server.server_address[1]
    sink = OTLP.open({"endpoint": f"http://127.0.0.1:{port}", "timeout_s": 1.0}, folder)
    sink.batch_records = 5

    def done(runner):
        status = runner.status["otlp"]
        if status.errors and not restarted:
            stop(server)
            restarted.append(serve_http(received, port))
        return status.sent >= len(written(folder))

    run_until(folder, {"otlp": sink}, done)
    stop(restarted[0])
    assert list(dict.fromkeys(record_ids(received))) == [r["id"] for r in written(folder)]


class Taking:
    """Takes ``batches`` batches, then refuses (0: takes all)."""

    batch_records, linger_s = 5, 0.0

    def __init__(self, batches=0):
        self.seen, self.batches = [], batches

    def send(self, batch):
        if self.batches and len(self.seen) >= self.batches * self.batch_records:
            raise SinkError("full")
        self.seen += [r["seq"] for r in batch]
        return TAKEN

    def close(self):
        pass


def test_a_runner_that_is_started_again_goes_on_where_it_was(folder):
    first, second = Taking(batches=2), Taking()
    run_until(folder, {"x": first}, lambda r: r.status["x"].errors)
    run_until(folder, {"x": second}, lambda r: r.status["x"].up_to == written(folder)[-1]["id"])
    assert len(first.seen) == 10
    assert first.seen + second.seen == [r["seq"] for r in written(folder)]


def test_one_sink_that_fails_does_not_hold_up_the_others(folder):
    class Failing(Taking):
        def send(self, batch):
            raise SinkError("no")

    total = len(written(folder))
    runner = run_until(
        folder,
        {"bad": Failing(), "good": Taking()},
        lambda r: r.status["good"].sent == total and r.status["bad"].errors,
    )
    assert runner.status["bad"].sent == 0
    assert runner.status["bad"].error == "no"
    assert Cursor.load(folder.parent / "sinks" / "bad.cursor") == Cursor()


# -- syslog

_SYSLOG = re.compile(
    r"<(\d+)>1 (\S+) (\S+) onlooker - (\S+) \[onlooker@32473((?: \w+=\"(?:[^\"\\\]]|\\[\"\\\]])*\")*)\] \ufeff(.*)"
)


def test_syslog_messages_are_rfc_5424(folder):
    for record in written(folder):
        match = _SYSLOG.fullmatch(message(record).decode())
        assert match, record["kind"]
        assert match[4] == record["kind"]
    worst = _SYSLOG.fullmatch(message(written(folder)[1]).decode())
    assert int(worst[1]) == 13 * 8 + 2


def octet_counted(data):
    """Whole messages; a last one cut off is left out."""
    out = []
    while match := re.match(rb"(\d+) ", data):
        size = int(match[1])
        if len(data) < match.end() + size:
            break
        out.append(data[match.end() : match.end() + size])
        data = data[match.end() + size :]
    return out


def test_syslog_over_tcp_counts_octets_and_survives_a_restart(folder):
    listener = socket.create_server(("127.0.0.1", 0))
    got = []
    gone = threading.Event()

    def receive():
        for turn in range(2):
            connection, _ = listener.accept()
            data = b""
            with connection:
                while more := connection.recv(65536):
                    data += more
                    if turn == 0 and len(octet_counted(data)) == 4:
                        break  # goes away after the first batch
            got.extend(octet_counted(data))
            gone.set()

    thread = threading.Thread(target=receive)
    thread.start()
    sink = SYSLOG.open({"address": f"tcp:127.0.0.1:{listener.getsockname()[1]}"}, folder)
    sink.send(written(folder)[:4])
    assert gone.wait(WAIT_S)
    sink.batch_records = 4
    run_until(folder, {"syslog": sink}, lambda r: r.status["syslog"].sent >= len(written(folder)))
    thread.join(WAIT_S)
    listener.close()
    assert got[4:] == [message(r) for r in written(folder)]


@pytest.mark.parametrize("kind", ["udp", "unix"])
def test_syslog_by_datagram(folder, tmp_path, kind):
    if kind == "udp":
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind(("127.0.0.1", 0))
        address = f"udp:127.0.0.1:{receiver.getsockname()[1]}"
    else:
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.bind(str(tmp_path / "log"))
        address = f"unix:{tmp_path / 'log'}"
    receiver.settimeout(WAIT_S)
    got = []
    thread = threading.Thread(target=lambda: got.extend(receiver.recv(65536) for _ in written(folder)))
    thread.start()
    drain(folder, "syslog", SYSLOG.open({"address": address}, folder))
    thread.join(WAIT_S)
    receiver.close()
    assert len(got) == len(written(folder))


def test_a_syslog_that_is_not_there_keeps_its_place(folder, tmp_path):
    with pytest.raises(SinkError, match="syslog unix"):
        drain(folder, "syslog", SYSLOG.open({"address": f"unix:{tmp_path / 'nobody'}"}, folder))


# -- webhook


def hook(answers):
    got = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_POST(self):
            got.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(answers.pop(0) if answers else 204)
            self.send_header("content-length", "0")
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    server.thread.start()
    return server, got


def test_a_webhook_gets_signed_findings_and_is_tried_again(folder):
    server, got = hook([500, 429])
    sink = WEBHOOK.open({"url": f"http://127.0.0.1:{server.server_address[1]}/in?x=1", "secret": "s3cret"}, folder)
    total = len(written(folder))
    run_until(folder, {"webhook": sink}, lambda r: r.status["webhook"].sent >= total)
    stop(server)
    assert len(got) == 3
    assert len({h["idempotency-key"] for h, _ in got}) == 1
    headers, body = got[-1]
    stamp, signature = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["onlooker-signature"]).groups()
    assert hmac.new(b"s3cret", stamp.encode() + b"." + body, hashlib.sha256).hexdigest() == signature
    events = json.loads(body)["events"]
    assert [e["severity"] for e in events] == ["critical", "critical"]
    assert events[0]["findings"][0]["rule"] == "fs.delete-protected-tree"


def test_a_webhook_is_silent_below_its_severity(folder):
    server, got = hook([])
    for record in written(folder):
        record["policy"] = []
    sink = WEBHOOK.open(
        {"url": f"http://127.0.0.1:{server.server_address[1]}/", "secret": "s", "severity": "critical"}, folder
    )
    assert sink.send([r for r in written(folder) if r["kind"] != "action"]) == TAKEN
    stop(server)
    assert got == []


def test_a_webhook_that_refuses_is_counted(folder):
    server, _ = hook([410])
    sink = WEBHOOK.open({"url": f"http://127.0.0.1:{server.server_address[1]}/", "secret": "s"}, folder)
    assert sink.send(written(folder)).rejected == len(written(folder))
    stop(server)


# -- clickhouse


def test_clickhouse_gets_the_lines_of_the_log_and_waits_for_its_table(folder):
    server, got = hook([404, 503])  # the table is not there yet, the server is busy
    url = f"http://127.0.0.1:{server.server_address[1]}"
    sink = CLICKHOUSE.open({"url": url, "user": "writer", "password": "pw"}, folder)
    lines = [line for f in sorted(folder.glob("*.jsonl")) for line in f.read_bytes().splitlines()]
    run_until(folder, {"clickhouse": sink}, lambda r: r.status["clickhouse"].sent >= len(lines))
    stop(server)
    headers, body = got[-1]
    assert len(got) == 3
    assert body.splitlines() == lines
    assert (headers["x-clickhouse-user"], headers["x-clickhouse-key"]) == ("writer", "pw")


def test_rows_clickhouse_refuses_are_counted(folder):
    server, _ = hook([400])
    sink = CLICKHOUSE.open({"url": f"http://127.0.0.1:{server.server_address[1]}"}, folder)
    assert sink.send(written(folder)).rejected == len(written(folder))
    stop(server)


# -- files


def test_parquet_holds_each_record_once_however_often_a_batch_comes(folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra `query` is not installed")
    place = folder.parent / "lake"
    sink = PARQUET.open({"linger_s": 0}, place)
    records = written(folder)
    sink.send(records[:5])
    sink.send(records[:9])
    sink.send(records[9:])
    later = [{**r, "ts": "2099-01-01T00:00:00.000Z"} for r in records[:1]]
    sink.send(later)
    files = sorted(place.glob("hour=*/*.parquet"))
    rows = [row for f in files[:-1] for row in pq.ParquetFile(f).read().to_pylist()]
    assert [r["seq"] for r in rows] == [r["seq"] for r in records]
    assert len({f.parent for f in files}) == len(files)
    row = next(r for r in rows if r["kind"] == "action")
    assert (row["severity"], row["verdict"], row["targets"]) == ("critical", "outside_scope", ["/srv/shop/cache"])
    assert json.loads(row["record"])["id"] == row["id"]
    assert {f.stat().st_mode & 0o777 for f in files} == {0o600}


def test_ocsf_events_carry_their_class_and_the_records_place(folder):
    place = folder.parent / "ocsf"
    drain(folder, "ocsf", OCSF.open({}, place))
    events = [json.loads(x) for f in place.iterdir() for x in f.read_text().splitlines()]
    assert [e["class_uid"] for e in events] == [6003, 2004, 6003, 6003, 2004]
    activity, finding = events[:2]
    assert (activity["activity_id"], activity["type_uid"]) == (4, 600304)
    assert activity["unmapped"]["onlooker"]["activity"] == "proposed"
    assert activity["unmapped"]["onlooker"]["record_integrity"]["seq"] == activity["metadata"]["sequence"]
    assert (finding["severity_id"], finding["finding_info"]["title"]) == (5, "fs.delete-protected-tree")


# -- nats


@pytest.fixture
def nats_server(tmp_path):
    pytest.importorskip("nats", reason="the extra `nats` is not installed")
    binary = shutil.which("nats-server", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if binary is None:
        pytest.skip("no nats-server binary is installed")
    port = free_port()
    command = [binary, "-js", "-a", "127.0.0.1", "-p", str(port), "-sd", str(tmp_path / "js")]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if "Server is ready" in line:
            break
    yield f"nats://127.0.0.1:{port}"
    server.terminate()
    server.wait()
    server.stderr.close()


def test_nats_keeps_order_and_drops_what_comes_twice(folder, nats_server):
    import nats

    sink = NATS.open({"url": nats_server}, folder)
    sink.send(written(folder)[:6])
    drain(folder, "nats", sink)

    async def read():
        client = await nats.connect(nats_server)
        subscription = await client.jetstream().subscribe("onlooker.records.>", ordered_consumer=True)
        got = [json.loads((await subscription.next_msg(5)).data)["id"] for _ in written(folder)]
        info = await client.jetstream().stream_info("ONLOOKER")
        await client.close()
        return got, info.state.messages

    got, held = asyncio.run(read())
    assert got == [r["id"] for r in written(folder)]
    assert held == len(got)


def test_a_nats_server_that_is_not_there_keeps_its_place(folder):
    pytest.importorskip("nats", reason="the extra `nats` is not installed")
    sink = NATS.open({"url": "nats://127.0.0.1:9", "timeout_s": 1.0}, folder)
    with pytest.raises(SinkError, match="nats"):
        sink.send(written(folder)[:1])
    sink.close()


# -- what must be in none of them


def test_thirty_planted_secrets_reach_no_sink_no_report_and_no_export(tmp_path):
    from audit.export import export
    from audit.privacy import Guard
    from audit.read import lines
    from audit.redact import TokenKeys
    from audit.report import make_report
    from audit.report_page import page
    from tests.audit.test_privacy import planted

    with open_log(tmp_path, guard=Guard(TokenKeys("k1", {"k1": b"0" * 32}))) as log:
        for record in planted():
            log.append({**record, "session": {"id": "s-1"}})
    audit = tmp_path / "audit"
    received = Received()
    server = serve_http(received)
    endpoint = {"endpoint": f"http://127.0.0.1:{server.server_address[1]}", "arguments": True}
    drain(audit, "otlp", OTLP.open(endpoint, tmp_path))
    stop(server)
    stream = io.StringIO()
    drain(audit, "stdout", StdoutSink(stream, "json"))
    drain(audit, "console", StdoutSink(stream, "console"))
    drain(audit, "ocsf", OCSF.open({}, tmp_path / "ocsf"))
    export(audit, lines(audit), tmp_path / "pack", whole=True)
    said = [stream.getvalue(), str(received.logs), str(received.traces), page(make_report("s-1", written(audit)))]
    said += [message(r).decode() for r in written(audit)]
    everything = "\n".join(said).encode() + b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"REDACTED_" in everything
    assert b"CANARY" not in everything
    assert b"AKIAZQ3EGRT2LMNOPQRS" not in everything
