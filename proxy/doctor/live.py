"""One harmless probe through each listener and each route of the user's own, followed until it is a record of the log.

In: the configuration of a running instance. Out: ``Check`` values, one sentence each: who answered, and where on the
way (relay, spool, analyzer, log) a probe that did not arrive was last seen. A probe is a GET without credentials and
without a body; a listener's own goes to the reserved path, which no upstream sees.
"""

from __future__ import annotations

import http.client
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.tail import last_records
from proxy.address import shown
from proxy.config import built_in_routes
from proxy.control.counters import running
from proxy.doctor.check import Check
from proxy.relay.refusals import REFUSALS
from proxy.settings import Config, host_port
from proxy.status import alive, is_fresh, read_pids, read_status, status_file

ANSWER_S = 15.0  # the relay gives an upstream 10 s to connect
RECORD_S = 10.0
LOOK_S = 0.05
NEWEST = 2000  # a probe's record is among this many of the log's last
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - addresses the user's listener may have, never bound here


@dataclass(frozen=True, slots=True)
class Answer:
    """``peer``: our end of the probe's connection, as records name it. ``refusal``: the relay's code, if any."""

    peer: str
    status: int
    refusal: str | None
    wait_ms: float
    size_bytes: int


def run_live(
    state: Path, names: tuple[str, ...] = (), *, offline: bool = False, within_s: float = RECORD_S
) -> list[Check]:
    """``names``: routes to probe beside the user's own. Raises NotRunningError; KeyError for a route there is not."""
    here = running(state)
    if not here or not alive(read_pids(state / "pids.json").get("supervisor")):
        raise NotRunningError(f"nothing runs with the state {state}; start it with onlooker serve")
    config = Config.from_argument(
        f"@{state / 'config.json'}"
    )  # the running instance's own, whatever the flags here say
    log = _Log(config, str(here["spool_dir"]), within_s)
    routes = [] if offline else _routes(config, names)
    found: list[Check] = []
    for listen in here["listen"]:
        found += _listener(listen, log)
        if found[-1].state == "ok":
            found += [_route(listen, name, log) for name in routes]
    return found


class NotRunningError(Exception):
    """There is no instance to send a probe through; the message is one sentence."""


def _routes(config: Config, names: tuple[str, ...]) -> list[str]:
    strange = next((n for n in names if n not in config.routes), None)
    if strange is not None:
        raise KeyError(f"{strange}: no such route; expected one of {', '.join(config.routes)}")
    own = [name for name, spec in config.routes.items() if built_in_routes().get(name) != spec]
    return list(dict.fromkeys((*own, *names)))


def _listener(listen: str, log: _Log) -> Iterator[Check]:
    name = f"probe {listen}"
    try:
        answer = _ask(listen, f"/_onlooker/doctor-{secrets.token_hex(4)}")
    except (OSError, http.client.HTTPException) as error:
        yield Check(name, "bad", f"no answer: {_why(error)}; is the relay running? onlooker status says")
        return
    if answer.refusal != "reserved-path":
        yield Check(name, "bad", f"status {answer.status} without onlooker's mark: another program listens here")
        return
    yield log.follow(name, f"answered in {answer.wait_ms:.1f} ms", answer.peer)


def _route(listen: str, route: str, log: _Log) -> Check:
    name = f"probe route {route}"
    try:
        answer = _ask(listen, f"/onlooker-doctor-{secrets.token_hex(4)}", "" if route == "/" else f"/{route}")
    except (OSError, http.client.HTTPException) as error:
        return Check(name, "bad", f"no answer: {_why(error)}")
    if answer.refusal is not None:
        return Check(name, "bad", f"{answer.refusal}: {REFUSALS.get(answer.refusal, (0, 'refused'))[1]}")
    said = f"the upstream answered {answer.status} in {answer.wait_ms:.0f} ms"
    if not answer.size_bytes:
        return Check(
            name, "ok", f"{said}, with nothing in it to read; the listener's own probe shows the rest of the way"
        )
    return log.follow(name, said, answer.peer)


def _ask(listen: str, path: str, prefix: str = "") -> Answer:
    host, port = host_port(listen)
    connection = http.client.HTTPConnection(_ANY.get(host, host), port, timeout=ANSWER_S)
    began = time.monotonic()
    try:
        connection.connect()
        ours = connection.sock.getsockname()
        peer = shown(*ours[:2])
        connection.request(
            "GET", prefix + path, headers={"User-Agent": "onlooker-doctor", "Accept": "application/json"}
        )
        answer = connection.getresponse()
        wait_ms = (time.monotonic() - began) * 1000
        return Answer(peer, answer.status, answer.headers.get("Onlooker-Refusal"), wait_ms, len(answer.read(1 << 20)))
    finally:
        connection.close()


class _Log:
    """The running instance's log: what is new in it since this was made."""

    def __init__(self, config: Config, spool_dir: str, within_s: float) -> None:
        self._within_s = within_s
        self._directory, self._status = config.audit_dir, status_file(spool_dir)
        self._begin = max((r["seq"] for r in self._newest(1)), default=-1)

    def follow(self, name: str, said: str, peer: str) -> Check:
        """The check of a probe that was answered: ``ok`` once its record is there."""
        until = time.monotonic() + self._within_s
        while (record := self._record(peer)) is None and time.monotonic() < until:
            time.sleep(LOOK_S)
        if record is None:
            why = last_seen(read_status(self._status))
            return Check(name, "bad", f"{said}, but no record of it came within {self._within_s:.0f} s: {why}")
        upstream = (record.get("exchange") or {}).get("upstream")
        seen = f"{said}; record {record['id']}" + (f" names the upstream {upstream}" if upstream else "")
        return Check(name, "ok", f"{seen} (relay, spool, analyzer and log work)")

    def _newest(self, count: int) -> list[dict[str, Any]]:
        log_id = ((read_status(self._status) or {}).get("log") or {}).get("id")
        return last_records(self._directory, log_id, count) if log_id else []

    def _record(self, peer: str) -> dict[str, Any] | None:
        return next((r for r in self._newest(NEWEST) if r["seq"] > self._begin and _is(r, peer)), None)


def last_seen(status: dict[str, Any] | None) -> str:
    """Where a captured probe waits, as far as the analyzer's last word tells."""
    if status is None or not is_fresh(status):
        return "the analyzer is silent; what was captured waits in the spool"
    error = (status.get("log") or {}).get("error")
    if error:
        return f"the log cannot be written: {error}"
    behind = status.get("behind_bytes")
    return f"the analyzer is {behind} bytes behind" if behind else "the analyzer says it has read everything"


def _is(record: dict[str, Any], peer: str) -> bool:
    origin = (record.get("origin") or {}).get("peer") or {}
    refused = ((record.get("refusal") or {}).get("detail") or {}).get("peer") or {}
    return peer in {origin.get("addr"), refused.get("addr")}


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
