"""Every query of every dashboard is answered: PromQL by a real Prometheus on a live instance, SQL by ClickHouse (chdb)."""

import json
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.ports import free_port

GRAFANA = Path(__file__).resolve().parents[2] / "deploy/grafana"
BOARDS = {f.stem: json.loads(f.read_text()) for f in sorted((GRAFANA / "dashboards").glob("*.json"))}
PANELS = [(name, panel) for name, board in BOARDS.items() for panel in board["panels"]]
# What Grafana puts in for its own variables.
VARIABLES = {"$__rate_interval": "1m", "$__range": "6h"}


def queries(key):
    return [(f"{name}: {p['title']}", t[key]) for name, p in PANELS for t in p["targets"] if key in t]


def test_there_are_the_four_dashboards_and_each_panel_has_a_query_of_its_source():
    assert sorted(BOARDS) == ["health", "overview", "policy", "session"]
    key = {"prometheus": "expr", "grafana-clickhouse-datasource": "rawSql"}
    assert [p["title"] for _, p in PANELS if key[p["datasource"]["type"]] not in p["targets"][0]] == []


def test_dashboards_name_only_data_sources_that_are_provisioned():
    text = (GRAFANA / "provisioning/datasources/onlooker.yaml").read_text()
    provisioned = {(d["uid"], d["type"]) for d in yaml.safe_load(text)["datasources"]}
    assert {(p["datasource"]["uid"], p["datasource"]["type"]) for _, p in PANELS} == provisioned


def test_a_live_instance_declares_every_metric_a_panel_names(served):
    declared = set(re.findall(r"^# TYPE (\w+)", served.get("/metrics"), re.MULTILINE))
    assert set(re.findall(r"onlooker_[a-z_]+", str(queries("expr")))) <= declared


@pytest.mark.slow
def test_prometheus_evaluates_every_panel_on_a_live_instance(tool, started, served, tmp_path):
    address = f"127.0.0.1:{free_port()}"
    config = tmp_path / "prometheus.yml"
    scrape = {"job_name": "o", "scrape_interval": "1s", "static_configs": [{"targets": [served.control]}]}
    config.write_text(json.dumps({"scrape_configs": [scrape]}))
    argv = [f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'tsdb'}", f"--web.listen-address={address}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with started(tool("prometheus"), *argv, **quiet):
        served.ask()
        until(lambda: evaluated(address, "sum(count_over_time(onlooker_spool_bytes[1m])) > 2")["data"]["result"])
        for title, written in queries("expr"):
            expr = re.sub("|".join(map(re.escape, VARIABLES)), lambda found: VARIABLES[found[0]], written)
            assert evaluated(address, expr)["status"] == "success", title
            # a panel may filter all its series away, but without the filter there is something to show
            assert evaluated(address, expr.removesuffix(" > 0"))["data"]["result"], title


def evaluated(address, expr):
    try:
        with urllib.request.urlopen(
            f"http://{address}/api/v1/query?query={urllib.parse.quote(expr)}", timeout=30
        ) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return {"status": error.read().decode(), "data": {"result": []}}
    except (urllib.error.URLError, ConnectionError) as error:
        return {"status": str(error), "data": {"result": []}}


def until(true, within_s=60):
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_clickhouse_answers_every_panel_from_a_real_log(ask):
    named = queries("rawSql")
    answers = ask(*(sql.replace("$__timeFilter(ts)", "ts >= toDateTime('2000-01-01 00:00:00')") for _, sql in named))
    assert [title for (title, _), rows in zip(named, answers, strict=True) if not rows] == []
