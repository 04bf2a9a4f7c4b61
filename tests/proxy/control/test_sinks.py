"""The control process feeds the configured sinks, and names what is wrong with one instead of stopping."""

import asyncio
import json

from aiohttp.test_utils import TestClient, TestServer

from audit.state import State
from proxy.control.app import make_app
from proxy.settings import Config, SpoolSettings
from tests.audit.build import action_record


def test_records_reach_a_sink_and_a_wrong_one_is_named(tmp_path):
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
        async with TestClient(TestServer(make_app(config, "t", dict))) as client, asyncio.timeout(20):
            while True:
                found = await (await client.get("/readyz")).json()
                if any("syslog" in d for d in found["degraded"]) and any(lake.glob("*.jsonl")):
                    return found, await (await client.get("/metrics", headers={"Authorization": "Bearer t"})).text()
                await asyncio.sleep(0.01)

    found, metrics = asyncio.run(run())
    assert any("protocol is 'pigeon'; expected http or grpc" in d for d in found["degraded"])
    assert 'onlooker_sink_lag_records{sink="ocsf"}' in metrics
    assert 'onlooker_sink_errors_total{sink="syslog"}' in metrics
    lines = [json.loads(x) for f in lake.iterdir() for x in f.read_text().splitlines()]
    assert {x["class_uid"] for x in lines} == {6003, 2004}
