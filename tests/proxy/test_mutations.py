"""Golden cases with values swapped for other JSON: no provider fails, whatever a field turns out to be."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from proxy.assembly import ExchangeAssembler
from proxy.assembly.case import dialogue
from proxy.assembly.choose import providers
from proxy.assembly.folder import exchanges
from proxy.events import CallClosed, Unread
from proxy.exchange import Ending
from proxy.wire import Frame

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CASES = sorted(p.parent for p in GOLDEN.glob("*/*/meta.json"))
ROUNDS = 60
ODD = [None, True, 0, -1, 1.5, 2**70, "", "x", "\ud800", [], [None], [[]], {}, {"": {}}, {"type": []}, [{"id": {}}]]


def changed(value, chooser, rate):
    """``value`` with some places replaced, dropped or doubled."""
    if chooser.random() < rate:
        return chooser.choice(ODD)
    if isinstance(value, dict):
        return {k: changed(v, chooser, rate) for k, v in value.items() if chooser.random() >= rate}
    if isinstance(value, list):
        return [changed(v, chooser, rate) for v in value for _ in range(1 + (chooser.random() < rate))]
    return value


def frames_of(case):
    """(exchange maker, frames of the reply) of a case's last exchange."""
    meta = json.loads((case / "meta.json").read_text("utf-8"))

    def make():
        return list(exchanges(case, meta, None))[-1]

    exchange, body = make()
    seen = []

    class Watching(ExchangeAssembler):
        def frames(self, frames):
            seen.extend(frames)
            return []

    if exchange.response.status in (0, 101):
        return make, dialogue(body)
    watching = Watching(exchange, {})
    watching.request_end()
    watching.response_head(exchange.response)
    watching.response_body(body)
    watching.response_end()
    return make, seen


@pytest.mark.parametrize("case", CASES, ids=[f"{c.parent.name}/{c.name}" for c in CASES])
def test_odd_values_are_never_a_failure(case):
    make, frames = frames_of(case)
    named = next(p for p in providers() if p.name == case.parent.name)
    for seed in range(ROUNDS):
        chooser = random.Random(f"{case.name}{seed}")
        exchange, _ = make()
        body, head, exchange.response = exchange.request_json, exchange.response, None
        exchange.declared_api, exchange.request_json = named.name, changed(body, chooser, 0.05)
        exchange.websocket = head.status == 101
        assembler = ExchangeAssembler(exchange, {})
        assembler._request_over = True
        events = []
        for frame in frames:
            data = changed(frame.data, chooser, 0.05)
            events += assembler.frames([Frame(data, frame.event, frame.whole, side=frame.side, size_bytes=1)])
        events += assembler.response_end(chooser.choice([Ending.COMPLETE, Ending.TRUNCATED]))
        assert [e.reason for e in events if isinstance(e, Unread) and "failed" in e.reason] == []
        assert all(isinstance(e.call.name, str) for e in events if isinstance(e, CallClosed))
        assert all(isinstance(e.call.id, (str, int, type(None))) for e in events if isinstance(e, CallClosed))
