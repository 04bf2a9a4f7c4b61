"""One exchange, assembled: heads and body bytes of both sides in, in any split; events out, as soon as they are known.

Sans-IO. The analyzer feeds it from the spool, ``assemble`` from a folder, the importers from a file. Whatever fails
in here becomes an ``Unread`` event with a reason: it never raises and never loses a call that had closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from proxy.assembly.body import BodyReader
from proxy.assembly.choose import CERTAIN, SHAPE, claims
from proxy.assembly.offer import Offer
from proxy.events import CallClosed, Event, Facts, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Head, Side
from proxy.providers import Assembly, Provider
from proxy.wire import Decoder, Frame
from proxy.wire.ndjson import LineDecoder
from proxy.wire.websocket import FRAMING as WEBSOCKET

HOLD = 8  # frames kept while none of them says whose they are


@dataclass(slots=True)
class Counted:
    """What passed, for coverage lines: frames given to a provider, events and bytes skipped unparsed."""

    frames: int = 0
    skipped_events: int = 0
    skipped_bytes: int = 0


class ExchangeAssembler:
    """Feed in wire order; ``response_end`` (or ``end``) comes last and once."""

    def __init__(self, exchange: Exchange, shared: dict[str, Any] | None = None) -> None:
        self.exchange = exchange
        if shared is not None:
            exchange.shared = shared
        self.provider: Provider | None = None
        self.counted = Counted()
        self._assembly: Assembly | None = None
        self._offer = Offer()
        self._request = BodyReader(exchange, Side.REQUEST)
        self._request_over = False
        self._response: BodyReader | None = None
        self._sockets: dict[Side, Decoder] = {s: LineDecoder(s) for s in Side} if exchange.pipe else {}
        self._socket_bytes = {Side.REQUEST: 0, Side.RESPONSE: 0}
        self._held: list[Frame] = []
        self._nobodys = False
        self._response_id: str | None = None
        self._ended = False

    @property
    def api(self) -> str | None:
        """The api's name, a dialect counting as its base."""
        return None if self.provider is None else self.provider.dialect_of or self.provider.name

    def request_body(self, data: bytes) -> list[Event]:
        if self._sockets:
            return self.socket(Side.REQUEST, data)
        for frame in self._request.feed(data):
            self._keep_request(frame)
        return []

    def request_end(self, ending: Ending = Ending.COMPLETE) -> list[Event]:
        if self._request_over:
            return []
        self._request_over = True
        events: list[Event] = []
        for frame in self._request.close(clean=ending is Ending.COMPLETE):
            if frame.error is not None:
                events.append(self._unread(Side.REQUEST, frame.error, frame.size_bytes))
            else:
                self._keep_request(frame)
        if self._request.problem is not None:
            events.append(self._unread(Side.REQUEST, self._request.problem, self._request.size_bytes))
        if not self.exchange.websocket:
            self._choose(None, CERTAIN, events)
        return self._finish(events)

    def response_head(self, head: Head) -> list[Event]:
        """A response head; interim ones (1xx other than 101) are passed over."""
        if 100 <= head.status < 200 and head.status != 101:
            return []
        self.exchange.response = head
        if head.status == 101:
            self.exchange.websocket = head.get("upgrade").lower() in ("websocket", "")
            self._sockets = {s: WEBSOCKET.open(self.exchange, s) for s in Side} if self.exchange.websocket else {}
        self._response = BodyReader(self.exchange, Side.RESPONSE)
        return []

    def response_body(self, data: bytes) -> list[Event]:
        if self._sockets:
            return self.socket(Side.RESPONSE, data)
        if self._response is None:
            self._response = BodyReader(self.exchange, Side.RESPONSE)
        return self.frames(self._response.feed(data))

    def socket(self, side: Side, data: bytes) -> list[Event]:
        """WebSocket bytes of one side, after the 101."""
        self._socket_bytes[side] += len(data)
        if self._nobodys:
            return []
        return self.frames(self._sockets[side].feed(data))

    def frames(self, frames: Iterable[Frame]) -> list[Event]:
        """Frames already cut (case files, importers); bytes go through ``response_body`` or ``socket``."""
        events: list[Event] = []
        for frame in frames:
            if self._nobodys:
                break
            self.counted.frames += 1
            if self._assembly is None:
                self._held.append(frame)
                self._settle(frame, events)
            else:
                self._give(frame, events)
        return self._finish(events)

    def response_end(self, ending: Ending = Ending.COMPLETE) -> list[Event]:
        """The end of the exchange: what is still open closes as incomplete."""
        if self._ended:
            return []
        self._ended = True
        clean = ending is Ending.COMPLETE
        events = self.request_end(Ending.COMPLETE if self._sockets else ending)
        rest = [f for d in self._sockets.values() for f in d.close(clean=clean)]
        if self._response is not None and not self._sockets:
            rest += self._response.close(clean=clean)
            self.counted.skipped_events, self.counted.skipped_bytes = self._response.skipped
        events += self.frames(rest)
        last: list[Event] = []
        if self._assembly is None:
            self._choose(self._held[0] if self._held else None, 1, last)
            self._flush(last)
        if self._assembly is not None:
            self._guard(lambda a: a.close(ending), last)
        last += self._leftovers()
        return events + self._finish(last)

    end = response_end

    def _keep_request(self, frame: Frame) -> None:
        if frame.error is None and (frame.whole or self.exchange.request_json is None):
            self.exchange.request_json = frame.data

    def _settle(self, frame: Frame, events: list[Event]) -> None:
        """Try to learn whose exchange this is from ``frame``; give up waiting after a few."""
        if frame.error is not None and len(self._held) < HOLD:
            return
        if not self._request_over and not self._sockets and self._request.size_bytes:
            if len(self._held) < HOLD * HOLD:
                return  # an answer that overtakes its request: the request is needed first
            events += self.request_end(Ending.TRUNCATED)
        self._choose(frame, SHAPE if len(self._held) < HOLD else 1, events)
        if self._assembly is not None:
            self._flush(events)
        elif len(self._held) >= HOLD * HOLD:
            self._give_up()

    def _give_up(self) -> None:
        """Nobody's stream: the rest is counted, not cut into frames."""
        self._nobodys = True
        self._held.clear()
        if self._response is not None:
            self._response.ignore()

    def _choose(self, first: Frame | None, at_least: int, events: list[Event]) -> None:
        found = claims(self.exchange, first) if self._assembly is None else []
        if not found or found[0][0] < at_least:
            return
        self.provider = found[0][1]
        try:
            self._assembly = self.provider.open(self.exchange)
        except Exception as error:
            events.append(self._failed(error))
            return
        self._guard(lambda a: a.request(self.exchange), events)
        if self._response is not None:
            self._response.gate = getattr(self.provider, "markers", ())

    def _flush(self, events: list[Event]) -> None:
        held, self._held = self._held, []
        for frame in held:
            self._give(frame, events)
        if self._assembly is not None and self._response is not None:
            self._response.gate = getattr(self.provider, "markers", ())

    def _give(self, frame: Frame, events: list[Event]) -> None:
        if self._assembly is None:
            return
        if frame.error is not None:
            events.append(self._unread(frame.side, frame.error, frame.size_bytes))
        self._guard(lambda a: a.frame(frame), events)

    def _guard(self, step: Callable[[Assembly], Iterable[Event]], events: list[Event]) -> None:
        """Run one step of the provider; events it gave before it failed are kept."""
        assert self._assembly is not None
        try:
            events.extend(step(self._assembly))
        except Exception as error:
            events.append(self._failed(error))

    def _finish(self, events: list[Event]) -> list[Event]:
        for at, event in enumerate(events):
            if isinstance(event, ToolsOffered):
                self._offer.note(event)
            elif isinstance(event, Facts):
                self._response_id = event.values.get("response_id", self._response_id)
            elif isinstance(event, CallClosed):
                events[at] = CallClosed(self._offer.complete(event.call, self._response_id))
        return events

    def _leftovers(self) -> list[Event]:
        """What nobody read: undecodable bytes, bodies without a framing, exchanges without a provider."""
        events: list[Event] = []
        response = self._response
        if response is not None and response.problem is not None:
            events.append(self._unread(Side.RESPONSE, response.problem, response.size_bytes))
        elif self._assembly is None:
            events += self._nobody()
        elif response is not None and response.unframed and not _only_accepted(self.exchange):
            reason = f"no framing for {response.content_type or 'an unlabelled body'}"
            events.append(self._unread(Side.RESPONSE, reason, response.size_bytes))
        return events

    def _nobody(self) -> list[Event]:
        sizes = {
            Side.REQUEST: self._request.size_bytes + self._socket_bytes[Side.REQUEST],
            Side.RESPONSE: (self._response.size_bytes if self._response else 0) + self._socket_bytes[Side.RESPONSE],
        }
        if not any(sizes.values()):
            sizes[Side.RESPONSE] = sum(f.size_bytes for f in self._held)
        return [self._unread(side, "no_provider", size) for side, size in sizes.items() if size]

    def _unread(self, side: Side, reason: str, size: int) -> Unread:
        reader = self._request if side is Side.REQUEST else self._response
        cut_by = "json-lines" if self.exchange.pipe else "websocket"
        kind = cut_by if self._sockets else reader.content_type if reader is not None else ""
        return Unread(kind, size, reason, side.value)

    def _failed(self, error: Exception) -> Unread:
        name = self.provider.name if self.provider else "provider"
        return self._unread(Side.RESPONSE, f"{name} failed: {type(error).__name__}: {str(error)[:80]}", 0)


def _only_accepted(exchange: Exchange) -> bool:
    """A 202's body is a notice to nobody ("Accepted"); what was asked for comes elsewhere."""
    return exchange.response is not None and exchange.response.status == 202


__all__ = ["Counted", "ExchangeAssembler"]
