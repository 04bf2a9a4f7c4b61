"""Findings to an HTTPS endpoint: JSON, signed, retried by the runner until it answers 2xx.

In: records. Out: one POST per batch with the flagged ones at or above ``severity``. ``Onlooker-Signature: t=<unix>,
v1=<hex HMAC-SHA256 of "t.body">``; ``Idempotency-Key`` is made of the records' ids.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import orjson

from audit.http_post import post, refused_for_now
from audit.sinks import TAKEN, Options, Record, Sent, SinkError, read_options, secret
from audit.summary import RANK, findings, rank, severity, verdict, what


def sign(key: bytes, now_s: int, body: bytes) -> str:
    return f"t={now_s},v1={hmac.new(key, b'%d.' % now_s + body, hashlib.sha256).hexdigest()}"


def event(record: Record) -> dict[str, Any]:
    said = {"id": record["id"], "ts": record["ts"], "severity": severity(record), "verdict": verdict(record) or None}
    rules = [{"rule": f["rule"], "severity": f["severity"], "at": f["at"]} for f in findings(record)]
    around = {"session": (record.get("session") or {}).get("id"), "agent": (record.get("agent") or {}).get("id")}
    return {**said, "what": what(record), **around, "findings": rules}


class WebhookSink:
    batch_records = 100
    linger_s = 0.0

    def __init__(self, url: str, key: bytes, least: int, timeout_s: float) -> None:
        self._url, self._key, self._least, self._timeout_s = urlsplit(url), key, least, timeout_s

    def send(self, batch: Sequence[Record]) -> Sent:
        flagged = [event(r) for r in batch if r["kind"] in {"action", "outcome"} and rank(r) >= self._least]
        if not flagged:
            return TAKEN
        body = orjson.dumps({"schema": "onlooker.webhook/1", "events": flagged})
        key = hashlib.sha256("\n".join(e["id"] for e in flagged).encode()).hexdigest()
        headers = {
            "content-type": "application/json",
            "idempotency-key": key,
            "onlooker-signature": sign(self._key, int(time.time()), body),
        }
        status, after = post("webhook", self._url, body, headers, self._timeout_s)
        if refused_for_now(status):
            raise SinkError(f"webhook: HTTP {status}", after)
        if not 200 <= status < 300:
            return Sent(len(batch), f"webhook: HTTP {status}")
        return TAKEN

    def close(self) -> None:
        """A connection lives for one request."""


class Webhook:
    name = "webhook"
    options: Options = MappingProxyType({"url": "", "secret": "", "severity": "high", "timeout_s": 10.0})

    def open(self, options: Options, place: Path) -> WebhookSink:  # noqa: ARG002 - every sink's signature
        chosen = read_options(self.name, self.options, options)
        url, least = chosen["url"], chosen["severity"]
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
            raise ValueError(f"sink webhook: url is {url!r}; expected https://host/path")
        if least not in RANK:
            raise ValueError(f"sink webhook: severity is {least!r}; expected one of {', '.join(RANK)}")
        if not chosen["secret"]:
            raise ValueError("sink webhook: secret is missing; expected env:NAME or file:PATH")
        key = secret(self.name, chosen["secret"]).encode()
        return WebhookSink(url, key, RANK[least], float(chosen["timeout_s"]))


SINK = Webhook()
