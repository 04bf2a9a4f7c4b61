"""An irreversible call outside its objective, through the relay, Prometheus and Alertmanager, to a webhook."""

import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.ports import free_port

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
LIMIT_S = 30  # the promise of docs: kept by the shipped intervals, whoever else uses the machine
WAIT_S = 180  # against hanging only: what was lost on the way is sent again after a minute
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def shipped(name, folder, **places):
    """The shipped file under ``folder``, its addresses replaced; each must have been there."""
    text = (DEPLOY / name).read_text()
    for old, new in places.items():
        assert old in text, f"{name} no longer names {old}"
        text = text.replace(old, new)
    out = folder / Path(name).name
    out.write_text(text)
    return out


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_an_irreversible_call_outside_its_objective_wakes_somebody(tool, started, served, hook, tmp_path):
    prometheus, alertmanager = tool("prometheus"), tool("prometheus-alertmanager")
    metrics_port, alerts_port = free_port(), free_port()
    alerts = shipped("alertmanager/alertmanager.yml", tmp_path, **{"http://127.0.0.1:9095": hook.url})
    shipped("prometheus/onlooker.rules.yml", tmp_path)
    places = {"127.0.0.1:8791": served.control, "127.0.0.1:9093": f"127.0.0.1:{alerts_port}"}
    scrape = shipped("prometheus/prometheus.yml", tmp_path, **places)
    am = [f"--config.file={alerts}", f"--storage.path={tmp_path / 'am'}", "--cluster.listen-address="]
    am.append(f"--web.listen-address=127.0.0.1:{alerts_port}")
    prom = [f"--config.file={scrape}", f"--storage.tsdb.path={tmp_path / 'tsdb'}"]
    prom.append(f"--web.listen-address=127.0.0.1:{metrics_port}")
    with started(alertmanager, *am, **QUIET), started(prometheus, *prom, **QUIET):
        # increase() needs a sample from before, and an alert nobody takes is sent again a minute later only.
        until_it_holds(
            f"http://127.0.0.1:{metrics_port}/api/v1/query?query=onlooker_irreversible_verdicts_total", "result"
        )
        until_it_holds(f"http://127.0.0.1:{metrics_port}/api/v1/alertmanagers", "activeAlertmanagers")
        until_it_holds(f"http://127.0.0.1:{alerts_port}/api/v2/status", "versionInfo")
        began = time.monotonic()
        served.ask()
        came = hook.wait(lambda got: "OnlookerIrreversibleOutsideScope" in names(got), WAIT_S)
        verdicts = [x for x in served.get("/metrics").splitlines() if x.startswith("onlooker_irreversible_verdicts")]
        assert came, (names(hook.received), verdicts, fetched(f"http://127.0.0.1:{metrics_port}/api/v1/alerts"))
        print(f"alert at the webhook after {time.monotonic() - began:.1f} s")
    (alert,) = [a for a in alerts_in(hook.received) if a["labels"]["alertname"] == "OnlookerIrreversibleOutsideScope"]
    assert (alert["status"], alert["labels"]["verdict"]) == ("firing", "outside_scope")
    assert alert["labels"]["severity"] == "critical"


def test_the_shipped_intervals_keep_the_promise():
    """Two scrapes at worst (the analyzer may write between), an evaluation, and what Alertmanager gathers."""
    scraping = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())["global"]
    rules = yaml.safe_load((DEPLOY / "prometheus/onlooker.rules.yml").read_text())["groups"]
    (rule,) = [r for g in rules for r in g["rules"] if r.get("alert") == "OnlookerIrreversibleOutsideScope"]
    routes = yaml.safe_load((DEPLOY / "alertmanager/alertmanager.yml").read_text())["route"]["routes"]
    (route,) = [r for r in routes if r["matchers"] == [f'severity="{rule["labels"]["severity"]}"']]
    waits = [scraping["scrape_interval"], scraping["scrape_interval"], scraping["evaluation_interval"]]
    waits += [rule.get("for", "0s"), route["group_wait"]]
    assert sum(int(re.fullmatch(r"(\d+)s", w)[1]) for w in waits) <= LIMIT_S / 2


def alerts_in(got):
    return [alert for message in got for alert in message["alerts"]]


def names(got):
    return {alert["labels"]["alertname"] for alert in alerts_in(got)}


def fetched(url):
    with urllib.request.urlopen(url, timeout=30) as reply:
        return json.load(reply)


def until_it_holds(url, key, within_s=60):
    """Until the answer at ``url`` (its ``data``, where it has that) holds something under ``key``."""
    end, said = time.monotonic() + within_s, None
    while time.monotonic() < end:
        try:
            said = fetched(url)
            if said.get("data", said)[key]:
                return
        except (urllib.error.URLError, ConnectionError) as error:
            said = error
        time.sleep(0.1)
    raise AssertionError(f"{url} still says {said}")
