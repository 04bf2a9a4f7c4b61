"""The control process feeds the configured sinks, and names what is wrong with one instead of stopping."""

import asyncio
import json
import re

import pytest
from aiohttp.test_utils import TestClient, TestServer

from audit.state import State
from proxy.control.app import make_app
from proxy.metrics import Metrics
from proxy.settings import Config, SpoolSettings
from proxy.status import status_file, write_status
from tests.audit.build import action_record
from tests.audit.otlp_receiver import Received, attributes, serve_grpc, serve_http, stop


def test_records_reach_a_sink_and_a_wrong_one_is_named(tmp_path, capsys):
    lake = tmp_path / "siem"
    sinks = (
        {"ocsf": {"folder": str(lake)}},
        {"otlp": {"protocol": "pigeon"}},
        {"syslog": {"address": f"unix:{tmp_path}/x"}},
    )
    config = Config(state=str(tmp_path / "state"), spool=SpoolSettings(str(tmp_path / "spool")), sinks=sinks)
    with State(tmp_path / "state").open_log() as log:
        log.append(action_record())

    async def run():
        async with TestClient(TestServer(make_app(config, "t", dict))) as client, asyncio.timeout(60):
            while True:
                found = await (await client.get("/readyz")).json()
                if any("syslog" in d for d in found["degraded"]) and any(lake.glob("*.jsonl")):
                    return found, await (await client.get("/metrics", headers={"Authorization": "Bearer t"})).text()
                await asyncio.sleep(0.01)

    found, metrics = asyncio.run(run())
    said = capsys.readouterr().err
    assert "protocol is 'pigeon'; expected http or grpc; records do not go there\n" in said
    assert said.count("onlooker: ") == 1
    assert any("protocol is 'pigeon'; expected http or grpc" in d for d in found["degraded"])
    assert 'onlooker_sink_lag_records{sink="ocsf"}' in metrics
    assert 'onlooker_sink_errors_total{sink="syslog"}' in metrics
    lines = [json.loads(x) for f in lake.iterdir() for x in f.read_text().splitlines()]
    assert {x["class_uid"] for x in lines} == {6003, 2004}


def figures_of(received):
    return {m.name: m for m in received.metrics}


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_the_otlp_sink_sends_every_figure_under_the_name_prometheus_has(tmp_path, protocol):
    """At once, every moment, and once more at the end."""
    if protocol == "grpc":
        pytest.importorskip("grpc", reason="the extra `grpc` is not installed")
    received = Received()
    server, port = (
        serve_grpc(received) if protocol == "grpc" else ((web := serve_http(received)), web.server_address[1])
    )
    sink = {"otlp": {"endpoint": f"http://127.0.0.1:{port}", "protocol": protocol, "metrics_s": 0.05}}
    config = Config(state=str(tmp_path / "state"), spool=SpoolSettings(str(tmp_path / "spool")), sinks=(sink,))
    with State(tmp_path / "state").open_log() as log:
        log.append(action_record())
    analyzer = Metrics()
    analyzer.inc("onlooker_calls_total", 3, protocol="openai-chat", surface="shell")
    analyzer.set("onlooker_spool_bytes", 12)
    status = {"metrics": analyzer.snapshot(), "log": {"id": log.log_id, "next_seq": log.next_seq}}
    write_status(status_file(config.spool.dir), status)

    async def run():
        async with TestClient(TestServer(make_app(config, "t", dict))) as client, asyncio.timeout(60):
            while "onlooker_calls_total" not in figures_of(received):
                await asyncio.sleep(0.01)
            return await (await client.get("/metrics", headers={"Authorization": "Bearer t"})).text()

    text = asyncio.run(run())
    stop(server) if protocol == "http" else server.stop(0).wait()
    found = figures_of(received)
    shown = set(re.findall(r"^(onlooker_\w+)(?:{| )", text, re.MULTILINE))
    assert {n for n in found if n.startswith("onlooker_")} == shown
    calls = found["onlooker_calls_total"].sum
    values = {tuple(sorted(attributes(p).items())): p.as_double for p in calls.data_points}
    assert values[("protocol", "openai-chat"), ("surface", "shell")] == 3
    assert (calls.is_monotonic, calls.aggregation_temporality) == (True, 2)
    assert [p.as_double for p in found["onlooker_spool_bytes"].gauge.data_points] == [12]
    assert found["onlooker_spool_bytes"].unit == "By"
    verdicts = {attributes(p)["verdict"]: p.as_double for p in found["onlooker_verdicts_total"].sum.data_points}
    assert verdicts["contradicts"] == 0
    assert "onlooker.records" in found


@pytest.mark.parametrize(("fault", "said"), [(500, "HTTP 500"), ("partial", "1 refused: one was not understood")])
def test_figures_that_do_not_arrive_are_named_and_hold_up_no_record(tmp_path, fault, said):
    received = Received(lambda signal, _count: fault if signal == "metrics" else None)
    server = serve_http(received)
    sink = {"otlp": {"endpoint": f"http://127.0.0.1:{server.server_address[1]}", "metrics_s": 0.02}}
    config = Config(state=str(tmp_path / "state"), spool=SpoolSettings(str(tmp_path / "spool")), sinks=(sink,))
    with State(tmp_path / "state").open_log() as log:
        log.append(action_record())

    async def run():
        async with TestClient(TestServer(make_app(config, "t", dict))) as client, asyncio.timeout(60):
            while True:
                degraded = (await (await client.get("/readyz")).json())["degraded"]
                if f"sink otlp: figures: otlp metrics: {said}" in degraded and len(received.logs) >= log.next_seq:
                    return
                await asyncio.sleep(0.01)

    asyncio.run(run())
    stop(server)
