"""Golden event streams and JSON bodies as other servers would have written them: the reading stays the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.assembly import ExchangeAssembler
from proxy.assembly.case import replay
from proxy.assembly.folder import exchanges
from proxy.assembly.shown import rendered

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def of_kind(kind):
    metas = {p.parent: json.loads(p.read_text("utf-8")) for p in sorted(GOLDEN.glob("*/*/meta.json"))}
    return [case for case, meta in metas.items() if meta["content_type"] == kind and meta["status"] not in (0, 101)]


def parts(body):
    text = body.decode().replace("\r\n", "\n").replace("\r", "\n")
    return [event for event in text.split("\n\n") if event.strip()]


def joined(events, between="\n\n"):
    return (between.join(events) + "\n\n").encode()


def lines_of(event, change):
    return "\n".join(change(line) for line in event.split("\n"))


def each_value(change):
    """A rewriter of every event's JSON value."""

    def line(text):
        try:
            return f"data: {change(json.loads(text[5:]))}" if text.startswith("data:") else text
        except ValueError:
            return text

    return lambda body: joined([lines_of(event, line) for event in parts(body)])


def with_more(value):
    """Keys nobody knows, one of them an object with a type of its own."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return json.dumps({"x_new": None, "obfuscation": "abc", **value, "zz": {"type": "nothing"}}, ensure_ascii=False)


UNKNOWN = 'event: x.unknown\ndata: {"type":"x.unknown","foo":{"a":1}}'
STREAMS = {
    "comments between": lambda b: joined(parts(b), "\n\n: c\n\n"),
    "CRLF": lambda b: joined(parts(b)).replace(b"\n", b"\r\n"),
    "CR": lambda b: joined(parts(b)).replace(b"\n", b"\r"),
    "no space after the colon": lambda b: joined(
        [lines_of(e, lambda line: line.replace("data: ", "data:", 1)) for e in parts(b)]
    ),
    "an unknown event between": lambda b: joined(parts(b), f"\n\n{UNKNOWN}\n\n"),
    "unknown events first": lambda b: f"{UNKNOWN}\n\n".encode() * 3 + joined(parts(b)),
    "empty events between": lambda b: joined(parts(b), "\n\nid: 4\ndata:\n\n"),
    "spaces in the JSON": each_value(lambda v: json.dumps(v, ensure_ascii=False, separators=(" , ", " : "))),
    "escapes in the JSON": each_value(json.dumps),
    "more keys": each_value(with_more),
    "a BOM": lambda b: b"\xef\xbb\xbf" + b,
    "no last blank line": lambda b: b.rstrip(b"\r\n"),
    "no event names": lambda b: joined(
        ["\n".join(line for line in e.split("\n") if not line.startswith("event:")) for e in parts(b)]
    ),
}
BODIES = {
    "indented": lambda b: json.dumps(json.loads(b), indent=1).encode(),
    "more keys": lambda b: with_more(json.loads(b)).encode(),
}
LABELS = ["", "application/octet-stream", "text/plain"]


def read(case, change=None, label=None):
    meta, memory, events = json.loads((case / "meta.json").read_text("utf-8")), {}, []
    several = list(exchanges(case, meta, None))
    for exchange, written in several:
        body = written
        if exchange is several[-1][0]:
            body = change(written) if change else written
            if label is not None:
                kept = [h for h in exchange.response.headers if h[0] != "content-type"]
                labelled = [("content-type", label)] if label else []
                exchange.response = replace(exchange.response, headers=(*kept, *labelled))
        events += replay(ExchangeAssembler(exchange, memory), body, exchange.request_json)
    said = rendered(events)
    return said["calls"], said["context"], said["results"], [u["reason"] for u in said["unread"]]


def named(case):
    return f"{case.parent.name}/{case.name}"


@pytest.mark.parametrize("case", of_kind("text/event-stream"), ids=named)
def test_an_event_stream_written_otherwise_reads_the_same(case):
    right = read(case)
    assert {how: read(case, change) for how, change in STREAMS.items()} == dict.fromkeys(STREAMS, right)
    assert {label: read(case, label=label) for label in LABELS} == dict.fromkeys(LABELS, right)


@pytest.mark.parametrize("case", of_kind("application/json"), ids=named)
def test_a_json_body_written_otherwise_reads_the_same(case):
    right = read(case)
    if (case / "response.body").read_bytes().lstrip()[:1] == b"{":
        assert {how: read(case, change) for how, change in BODIES.items()} == dict.fromkeys(BODIES, right)
    assert {label: read(case, label=label) for label in LABELS} == dict.fromkeys(LABELS, right)
