"""Every golden case, whole and in pieces, gives the same calls, results and unread bytes; one provider claims it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proxy.assembly import ExchangeAssembler
from proxy.assembly.case import assemble_case, dialogue, replay
from proxy.assembly.choose import SHAPE, claims, providers
from proxy.assembly.folder import exchanges
from proxy.assembly.shown import rendered
from proxy.exchange import Ending, Side

from .wire.cuts import points
from .wire.sockets import message

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CASES = sorted(p.parent for p in GOLDEN.glob("*/*/expected.json"))
IDS = [f"{c.parent.name}/{c.name}" for c in CASES]


def expected(case):
    return json.loads((case / "expected.json").read_text("utf-8"))


def last_exchange(case):
    """A maker of (exchange, body) for the case's last exchange: assembling writes into the exchange."""
    meta = json.loads((case / "meta.json").read_text("utf-8"))
    return lambda: list(exchanges(case, meta, None))[-1]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_whole_case_gives_what_is_expected(case):
    assert json.loads(json.dumps(assemble_case(case, detect=True))) == expected(case)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_declaring_the_api_changes_nothing(case):
    assert json.loads(json.dumps(assemble_case(case))) == expected(case)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_no_cut_changes_anything(case):
    make = last_exchange(case)
    exchange, body = make()
    status = exchange.response.status
    if status == 0:
        pytest.skip("pipes are cut by their own lines")
    whole = rendered(replay_bytes(make, [body]))
    for pieces in [[body[i : i + 1] for i in range(len(body))], *([body[:at], body[at:]] for at in points(body))]:
        assert rendered(replay_bytes(make, pieces)) == whole
        if status == 101:
            break  # a socket's messages are cut into bytes at once: the points of the recording mean nothing


def replay_bytes(make, pieces):
    exchange, body = make()
    assembler = ExchangeAssembler(exchange, {})
    if exchange.response.status != 101:
        return replay(
            assembler, body, exchange.request_json, lambda a, _: [e for p in pieces for e in a.response_body(p)]
        )
    events = assembler.request_end() + assembler.response_head(exchange.response)
    for frame in dialogue(body):
        coded = message(json.dumps(frame.data, ensure_ascii=False).encode(), masked=frame.side is Side.REQUEST)
        for piece in [coded] if len(pieces) == 1 else [coded[i : i + 1] for i in range(len(coded))]:
            events += assembler.socket(frame.side, piece)
    return events + assembler.response_end(Ending.COMPLETE)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_exactly_one_provider_claims_it(case):
    exchange, body = last_exchange(case)()
    ranked = claims(*settled_on(exchange, body))
    best = ranked[0][0]
    rivals = {p.dialect_of or p.name for rank, p in ranked if rank >= best - 1}
    assert best >= SHAPE or ranked[0][1].name == "generic"  # the last resort only ever guesses
    assert rivals == {expected(case)["api"]}


def settled_on(exchange, body):
    """The exchange with its request read, and the frame that settled whose it is (None: its request did)."""
    seen = []

    class Watching(ExchangeAssembler):
        def frames(self, frames):
            kept = list(frames)
            seen.extend(f for f in kept if f.error is None)
            return super().frames(kept)

    assembler = Watching(exchange, {})
    replay(assembler, body, exchange.request_json)
    return assembler.exchange, next(iter(seen), None)


def test_every_provider_has_a_golden_case():
    told = {c.parent.name for c in CASES}
    assert {p.name for p in providers()} <= told
