"""The metrics are the ones of docs/metrics.md, exist at 0 from the start, and print as Prometheus reads them."""

import re
from pathlib import Path

import pytest

from proxy.metrics import DEFINITIONS, MAX_SERIES, Metrics, merge, render

DOC = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_code_and_document_name_the_same_metrics_with_the_same_types():
    rows = re.findall(r"^\| `(onlooker_\w+)` \| (\w+) \|", DOC.read_text(), re.MULTILINE)
    assert sorted(rows) == sorted((d.name, d.kind) for d in DEFINITIONS)


def test_a_label_set_that_can_be_known_exists_at_zero():
    text = render(Metrics().snapshot())
    assert 'onlooker_verdicts_total{verdict="contradicts"} 0' in text
    assert 'onlooker_effects_total{domain="filesystem",action="delete"} 0' in text
    assert "\nonlooker_exchanges_total 0\n" in text


def test_every_line_is_of_the_exposition_format():
    metrics = Metrics()
    metrics.inc("onlooker_unread_total", reason='a "quoted"\nreason\\ \x1b[2J')
    line = re.compile(r'# (HELP|TYPE) .+|onlooker_\w+(\{(\w+="([^"\\\n]|\\.)*",?)+\})? -?[0-9.e+-]+')
    assert [x for x in render(metrics.snapshot()).splitlines() if not line.fullmatch(x)] == []


def test_counters_of_processes_add_up_and_gauges_do_not():
    one, two = Metrics(), Metrics()
    for metrics in (one, two):
        metrics.inc("onlooker_exchanges_total", 2)
        metrics.set("onlooker_spool_bytes", 7)
    text = render(merge([one.snapshot(), two.snapshot()]))
    assert "\nonlooker_exchanges_total 4\n" in text
    assert "\nonlooker_spool_bytes 7\n" in text


def test_labels_somebody_else_chooses_cannot_grow_without_end():
    metrics = Metrics()
    for n in range(MAX_SERIES + 10):
        metrics.inc("onlooker_unread_total", reason=f"r{n}")
    assert len(metrics.series["onlooker_unread_total"]) <= MAX_SERIES + 1
    assert metrics.total("onlooker_unread_total") <= MAX_SERIES + 10


def test_a_metric_without_its_labels_is_our_own_mistake():
    with pytest.raises(ValueError, match="has the labels"):
        Metrics().inc("onlooker_calls_total", protocol="x")


def test_counters_go_on_after_a_restart_and_gauges_start_anew():
    before = Metrics()
    before.inc("onlooker_exchanges_recorded_total", 3)
    before.set("onlooker_spool_bytes", 9)
    after = Metrics()
    after.restore(before.snapshot())
    assert after.total("onlooker_exchanges_recorded_total") == 3
    assert after.total("onlooker_spool_bytes") == 0
