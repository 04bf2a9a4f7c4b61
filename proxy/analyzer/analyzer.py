"""The analyzer: what the spool holds, in order, into records.

In: ``SpoolEvent`` values and messages of the control process. Out: records, through the desk's writer. Sans-loop:
``proxy/analyzer/__main__.py`` drives it, tests feed it by hand. State is bounded; evictions are counted.
"""

from __future__ import annotations

import sys
from typing import Any

from audit import record
from audit.record import Around
from proxy.analyzer.at_rest import AtRest
from proxy.analyzer.calls import failed
from proxy.analyzer.desk import Desk
from proxy.analyzer.events import apply_events, end_of_exchange
from proxy.analyzer.fields import agent_entry
from proxy.analyzer.guard import StageFailedError
from proxy.analyzer.heads import parse_head
from proxy.analyzer.tracked import Tracked
from proxy.assembly import ExchangeAssembler
from proxy.assembly.text_actions import coverage, patterns_of
from proxy.events import Event
from proxy.exchange import Exchange, Side
from proxy.sessions.identity import identify, launched
from proxy.sessions.session import Session
from proxy.spool.events import (
    BodyEnded,
    BodySeen,
    ClockStepped,
    Dropped,
    Ended,
    HeadSeen,
    Opaque,
    Opened,
    Refused,
    SpoolEvent,
)

Id = tuple[str, int]
NOT_MET = sys.maxsize  # a generation no life reaches: finished by an earlier life, its beginning not read again yet


class Analyzer:
    """``open`` are exchanges being read; ``settled`` those an earlier life finished and may meet again."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.at_rest = AtRest(desk)
        self.open: dict[Id, Tracked] = {}
        self.settled: dict[Id, int] = {}  # with the generation each began in
        self.resume: dict[Id, dict[str, Any]] = {}  # of exchanges an earlier life had open
        self.generation = 0
        self.read_events = 0

    def take(self, event: SpoolEvent) -> None:
        self.read_events += 1
        match event:
            case Dropped():
                self._gap(event, f"gap:{event.mono_ns}")
            case Refused():
                self._refusal(event)
            case Opaque():
                self._opaque(event)
            case Opened():
                self._opened(event)
            case ClockStepped():
                self._clock_step(event)
            case _:
                self._of_exchange(event)
                if isinstance(event, HeadSeen) and event.side is Side.REQUEST:
                    self._who_asks((event.writer, event.exchange))

    def end_idle(self, now_s: float) -> None:
        for session, reason in self.desk.book.idle(now_s):
            self.end_session(session, reason)

    def clock_stepped(self, step_s: float, now_s: float) -> None:
        """The machine's wall clock moved by ``step_s``; the record of it comes from the relays."""
        self.desk.book.shift(step_s, now_s)

    def end_session(self, session: Session, reason: str) -> None:
        judged = self.desk.judge.session_ended(session.id)
        src = {"writer": "session", "exchange": session.id, "ordinal": int(session.started_at * 1000)}
        around = Around(session=session.to_record(), origin=self.desk.origin, src=src)
        known = agent_entry(session.agent, self.desk.config.agents) or {}
        text = {"text_actions": coverage(session.agent, known.get("text_actions"))}
        summary = {**session.summary(), **text, **judged}
        self.desk.writer.write(record.session_end(around=around, summary=summary, reason=reason))

    def end_all(self, reason: str) -> None:
        """Every session is over (the command of ``run`` ended, an import is read to its end)."""
        for session in list(self.desk.book.sessions.values()):
            self.desk.book.end(session.id)
            self.end_session(session, reason)

    def _opened(self, event: Opened) -> None:
        key = (event.writer, event.exchange)
        if key in self.settled:
            self.settled[key] = min(self.settled[key], self.generation)
            return
        if key in self.open:
            return
        meta = event.meta
        said = meta.get("peer") or {}
        peer = said.get("addr")
        exchange = Exchange(
            id=f"{event.writer}/{event.exchange}",
            upstream=str(meta.get("upstream") or ""),
            route=str(meta.get("route") or ""),
            objective_segment=meta.get("objective"),
            connection=f"{event.writer}/{meta.get('connection', '')}",
            peer={"addr": peer, "uid": None, "pid": None, "exe": None, **said} if said else None,
            started_ns=int(meta.get("wall_ns") or 0),
            pipe=meta.get("mode") == "stdio",
        )
        if peer:
            self.desk.peers.ask(peer)
        tracked = Tracked(
            event.writer,
            event.exchange,
            exchange,
            ExchangeAssembler(exchange, self.desk.shared),
            self.generation,
            mode=str(meta.get("mode") or ""),
            listener=str(meta.get("listener") or ""),
            wall_offset_ns=exchange.started_ns - event.mono_ns,
            last_mono_ns=event.mono_ns,
            opened_mono_ns=event.mono_ns,
        )
        before = self.resume.pop(key, None)
        if before:
            tracked.applied, tracked.turned = before["applied"], before["turned"]
            tracked.session = self.desk.book.sessions.get(before["session"] or "")
        self.open[key] = tracked

    def _who_asks(self, key: Id) -> None:
        """The agent by what `run` started, too; what ``agents:`` says of its text and its shaping tools."""
        tracked, started = self.open.get(key), self.desk.config.launch
        if tracked is not None:
            tracked.identity = launched(tracked.identity, started.agent if started else None)
            known = agent_entry(tracked.identity.agent, self.desk.config.agents) or {}
            tracked.exchange.text_patterns = patterns_of(known.get("text_actions"))
            tracked.exchange.shaping = tuple(known.get("structured_output") or ())

    def _of_exchange(self, event: HeadSeen | BodySeen | BodyEnded | Ended) -> None:
        key = (event.writer, event.exchange)
        tracked = self.open.get(key)
        if tracked is None:
            return  # settled before, or its beginning is in a gap that is declared
        if tracked.skip:
            tracked.skip -= 1
            return
        tracked.fed += 1
        tracked.last_mono_ns = event.mono_ns
        if self.desk.guard.quarantined(tracked.place):
            self._quarantine(key, tracked)
            return
        with self.desk.guard.holding(tracked.place):
            self._step(tracked, event)
        if tracked.over:
            self._settle(key)
        elif isinstance(event, BodyEnded):
            self.at_rest.note(tracked)

    def _step(self, tracked: Tracked, event: HeadSeen | BodySeen | BodyEnded | Ended) -> None:
        try:
            events = self.desk.guard.run("assemble", lambda: _assembled(tracked, event))
        except StageFailedError as error:
            failed(self.desk, tracked, error, None)
            events = []
        apply_events(self.desk, tracked, events)
        if isinstance(event, Ended):
            if event.lost:
                self._lost(tracked, event)
            end_of_exchange(self.desk, tracked)
            tracked.over = True
            if tracked.mode != "stdio":  # offered counts what relays forwarded; pipes are not theirs
                self.desk.metrics.inc("onlooker_exchanges_recorded_total")

    def _settle(self, key: Id) -> None:
        self.settled[key] = self.open.pop(key).generation

    def _quarantine(self, key: Id, tracked: Tracked) -> None:
        """What crashed the analyzer twice is not read again; its traffic was forwarded all the same."""
        around = Around(origin=self.desk.origin, src={**tracked.src(), "ordinal": 0})
        self.desk.writer.write(
            record.analysis_failed(
                stage="assemble", error="crashed the analyzer twice", quarantined=True, around=around
            )
        )
        self.desk.metrics.inc("onlooker_analysis_failures_total", stage="assemble")
        self.desk.guard.forget(tracked.place)
        self._settle(key)

    def _lost(self, tracked: Tracked, event: Ended) -> None:
        """Bytes in the middle of an exchange that was begun: it is recorded, and what it lacks is a gap."""
        if tracked.session is not None:
            tracked.session.counts["gaps"] += 1
        sizes, of = (event.lost_in, event.lost_out), (event.exchange, event.exchange)
        self._gap(Dropped(event.writer, event.mono_ns, 0, *sizes, event.lost, *of), f"lost:{event.exchange}")

    def _gap(self, event: Dropped, place: str) -> None:
        src = {"writer": event.writer, "exchange": place, "ordinal": 0}
        if self.desk.writer.known(src):
            return
        metrics = self.desk.metrics
        metrics.inc("onlooker_exchanges_gap_total", event.exchanges)
        metrics.inc("onlooker_bytes_gap_total", event.bytes_in, side="request")
        metrics.inc("onlooker_bytes_gap_total", event.bytes_out, side="response")
        self.desk.writer.write(
            record.gap(
                writer=event.writer,
                exchanges=event.exchanges,
                bytes_in=event.bytes_in,
                bytes_out=event.bytes_out,
                reason=event.reason,
                first_exchange=event.first_exchange,
                last_exchange=event.last_exchange,
                around=Around(origin=self.desk.origin, src=src),
            )
        )

    def _clock_step(self, event: ClockStepped) -> None:
        src = {"writer": event.writer, "exchange": f"clock:{event.mono_ns}", "ordinal": 0}
        around = Around(origin=self.desk.origin, src=src)
        self.desk.writer.write(record.clock_step(delta_ms=event.step_ns / 1e6, around=around))

    def _refusal(self, event: Refused) -> None:
        src = {"writer": event.writer, "exchange": event.exchange, "ordinal": _AT_END}
        if self.desk.writer.known(src):
            return
        self.desk.metrics.inc("onlooker_refusals_total", status=str(event.status))
        around = Around(origin=self.desk.origin, src=src)
        self.desk.writer.write(
            record.refusal(status=event.status, reason=event.reason, detail=event.meta, around=around)
        )

    def _opaque(self, event: Opaque) -> None:
        src = {"writer": event.writer, "exchange": event.exchange, "ordinal": _AT_END + 1}
        if self.desk.writer.known(src):
            return
        self.desk.metrics.inc("onlooker_opaque_flows_total")
        tracked = self.open.get((event.writer, event.exchange))
        if tracked is not None and tracked.session is not None:
            tracked.session.counts["opaque_flows"] += 1
        self.desk.writer.write(
            record.opaque_flow(
                host=event.host,
                bytes_in=event.bytes_in,
                bytes_out=event.bytes_out,
                duration_ms=event.duration_ms,
                reason=event.reason,
                around=Around(origin=self.desk.origin, src=src),
            )
        )


_AT_END = 1 << 40  # ordinals of records that no event of assembly gives


def _assembled(tracked: Tracked, event: HeadSeen | BodySeen | BodyEnded | Ended) -> list[Event]:
    """The assembler's answer to one piece of the capture."""
    assembler = tracked.assembler
    match event:
        case HeadSeen(side=Side.REQUEST):
            tracked.exchange.request = parse_head(event.raw, Side.REQUEST)
            tracked.identity = identify(tracked.exchange.request)
            tracked.fingerprints = tracked.exchange.fingerprints = dict(event.fingerprints)
            return []
        case HeadSeen():
            return assembler.response_head(parse_head(event.raw, Side.RESPONSE))
        case BodySeen(side=Side.REQUEST):
            tracked.bytes_in += len(event.data)
            return assembler.request_body(event.data)
        case BodySeen():
            tracked.bytes_out += len(event.data)
            return assembler.response_body(event.data)
        case BodyEnded(side=Side.REQUEST):
            return assembler.request_end(event.ending)
        case BodyEnded():
            return []  # the exchange's own end follows and says how it ended
        case Ended():
            tracked.bytes_in, tracked.bytes_out = event.bytes_in, event.bytes_out
            return assembler.response_end(event.ending)
