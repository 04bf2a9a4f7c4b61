"""One exchange, assembled: heads and body bytes of both sides in, in any split; events out, as soon as they are known.

Sans-IO. The analyzer feeds it from the spool, ``assemble`` from a folder, the importers from a file. Whatever fails
in here becomes an ``Unread`` event with a reason: it never raises and never loses a call that had closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from proxy.assembly.body import SLICE, BodyReader
from proxy.assembly.choose import CERTAIN, SHAPE
from proxy.assembly.offer import Offer
from proxy.assembly.reading import Reading
from proxy.assembly.waiting import FROM as LARGE
from proxy.events import CallClosed, Event, Facts, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Head, Side
from proxy.providers import Provider
from proxy.wire import Decoder, Frame
from proxy.wire.ndjson import LineDecoder
from proxy.wire.websocket import FRAMING as WEBSOCKET
from proxy.wire.websocket import WebSocketDecoder

HOLD = 8  # frames kept while none of them says whose they are


@dataclass(slots=True)
class Counted:
    """What passed, for coverage lines: frames given to a provider, bytes skipped unparsed."""

    frames: int = 0
    skipped_bytes: int = 0


class ExchangeAssembler:
    """Feed in wire order; ``response_end`` (or ``end``) comes last and once.

    ``parse_all``: pass over nothing. The events are the same; it is what passing over is compared with.
    ``large``: bytes of request body from which ``forget_request`` does not wait for the answer to begin.
    """

    def __init__(
        self,
        exchange: Exchange,
        shared: dict[str, Any] | None = None,
        *,
        parse_all: bool = False,
        large: int = LARGE,
    ) -> None:
        self.exchange = exchange
        if shared is not None:
            exchange.shared = shared
        self.counted = Counted()
        self._reading = Reading(exchange, self._unread)
        self._reading.parse_all = parse_all
        self._large = large
        self._offer = Offer()
        self._request = BodyReader(exchange, Side.REQUEST)
        self._request_over = False
        self._request_size = 0  # of the body that was parsed, decoded
        self._response: BodyReader | None = None
        self._sockets: dict[Side, Decoder] = {s: LineDecoder(s) for s in Side} if exchange.pipe else {}
        self._socket_bytes = {Side.REQUEST: 0, Side.RESPONSE: 0}
        self._held: list[Frame] = []
        self._nobodys = False
        self._response_id: str | None = None
        self._ended = False

    @property
    def provider(self) -> Provider | None:
        return self._reading.provider

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
            events += self._choose(None, CERTAIN)
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
        decoder = self._sockets[side]
        events: list[Event] = []
        for at in range(0, len(data), SLICE):
            if self._nobodys:
                break
            if isinstance(decoder, WebSocketDecoder):
                decoder.gate = self._reading.watched() if side is Side.RESPONSE else ()
            events += self.frames(decoder.feed(data[at : at + SLICE]))
        return events

    def frames(self, frames: Iterable[Frame]) -> list[Event]:
        """Frames already cut (case files, importers); bytes go through ``response_body`` or ``socket``."""
        events: list[Event] = []
        for frame in frames:
            if self._nobodys:
                break
            self.counted.frames += 1
            if self._reading.begun:
                events += self._reading.frame(frame, gated=self._gated(frame))
            else:
                self._held.append(frame)
                events += self._settle(frame)
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
            self.counted.skipped_bytes = self._response.skipped
        self.counted.skipped_bytes += sum(
            d.skipped_bytes for d in self._sockets.values() if isinstance(d, WebSocketDecoder)
        )
        events += self.frames(rest)
        waiting: list[Frame | None] = [*self._held] or [None]
        for frame in waiting:  # a guess may rest on any of them
            if not self._reading.begun:
                events += self._choose(frame, 1)
        events += self._finish(self._flush())
        return events + self._finish(self._reading.close(ending) + self._leftovers())

    end = response_end

    @property
    def waits(self) -> bool:
        """A large request has come whole and nobody knows yet whose it is: its answer has not begun."""
        large = self._request_over and self._request_size >= self._large
        return large and self._reading.undecided and isinstance(self.exchange.request_json, (dict, list))

    def forget_request(self) -> None:
        """The parsed request is let go: read already, or ahead where it waits. It can be a hundred times the rest."""
        if self.waits:
            self._reading.wait()
        elif self._reading.begun and not self._sockets:
            self.exchange.request_json = None

    def _keep_request(self, frame: Frame) -> None:
        if frame.error is None and (frame.whole or self.exchange.request_json is None):
            self.exchange.request_json = frame.data
            self._request_size = frame.size_bytes

    def _settle(self, frame: Frame) -> list[Event]:
        """Try to learn whose exchange this is from ``frame``; give up waiting after a few."""
        waiting = len(self._held)
        if frame.error is not None and waiting < HOLD:
            return []
        events: list[Event] = []
        if not self._request_over and not self._sockets and self._request.size_bytes:
            if waiting < HOLD * HOLD:
                return []  # an answer that overtakes its request: the request is needed first
            events += self.request_end(Ending.TRUNCATED)
        events += self._choose(frame, SHAPE if waiting < HOLD else 1)
        if self._reading.begun:
            return events + self._flush()
        if waiting >= HOLD * HOLD:
            self._give_up()
        return events

    def _give_up(self) -> None:
        """Nobody's stream: the rest is counted, not cut into frames."""
        self._nobodys = True
        self._held.clear()
        if self._response is not None:
            self._response.ignore()

    def _choose(self, first: Frame | None, at_least: int) -> list[Event]:
        events = self._reading.choose(first, at_least)
        if self._response is not None:
            self._response.watched = self._reading.watched
        return events

    def _flush(self) -> list[Event]:
        if not self._reading.begun:
            return []
        held, self._held = self._held, []
        return [event for frame in held for event in self._reading.frame(frame, gated=self._gated(frame))]

    def _gated(self, frame: Frame) -> bool:
        """Whether frames like this one are passed over in runs."""
        if self._sockets:
            return frame.side is Side.RESPONSE and self.exchange.websocket
        return self._response is not None and self._response.gated

    def _finish(self, events: list[Event]) -> list[Event]:
        for at, event in enumerate(events):
            if isinstance(event, ToolsOffered):
                self._offer.note(event)
            elif isinstance(event, Facts):
                self._response_id = event.values.get("response_id", self._response_id)
            elif isinstance(event, CallClosed):
                done = self._offer.complete(event.call, self._response_id, self.exchange.shaping)
                events[at] = CallClosed(done)
        return events

    def _leftovers(self) -> list[Event]:
        """What nobody read: undecodable bytes, bodies without a framing, exchanges without a provider."""
        events: list[Event] = []
        response = self._response
        if response is not None and response.problem is not None:
            events.append(self._unread(Side.RESPONSE, response.problem, response.size_bytes))
        elif not self._reading.begun:
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


def _only_accepted(exchange: Exchange) -> bool:
    """A 202's body is a notice to nobody ("Accepted"); what was asked for comes elsewhere."""
    return exchange.response is not None and exchange.response.status == 202


__all__ = ["Counted", "ExchangeAssembler"]
