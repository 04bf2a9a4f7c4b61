"""One provider at work on one exchange: frames in, its events out; whatever it raises is an ``Unread`` event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from proxy.assembly.choose import claims
from proxy.assembly.text_actions import TextReader
from proxy.events import Event, Unread
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly, Provider
from proxy.wire import Frame

SayUnread = Callable[[Side, str, int], Unread]


class Reading:
    """``begun`` once a provider was chosen and opened; until then nothing is read."""

    def __init__(self, exchange: Exchange, unread: SayUnread) -> None:
        self._exchange = exchange
        self._unread = unread
        self.provider: Provider | None = None
        self.parse_all = False
        self._assembly: Assembly | None = None
        self._text: TextReader | None = None

    @property
    def begun(self) -> bool:
        return self._assembly is not None

    def watched(self) -> tuple[Any, ...]:
        """What the chosen provider must not miss as it stands; empty: everything is parsed for it."""
        if self._text is not None or self.parse_all or not self.begun:
            return ()
        return getattr(self._assembly, "markers", ()) or getattr(self.provider, "markers", ())

    def choose(self, first: Frame | None, at_least: int) -> list[Event]:
        """Open the best provider when its rank is ``at_least`` that; its view of the request comes back."""
        found = [] if self.begun else claims(self._exchange, first)
        if not found or found[0][0] < at_least:
            return []
        self.provider = found[0][1]
        try:
            self._assembly = self.provider.open(self._exchange)
        except Exception as error:
            return [self._failed(error)]
        self._text = TextReader(self._exchange.text_patterns) if self._exchange.text_patterns else None
        return self._run(lambda a: a.request(self._exchange))

    def frame(self, frame: Frame, *, gated: bool = False) -> list[Event]:
        """``gated``: frames without a mark are passed over where they come in runs, so damage in them is too."""
        if not self.begun:
            return []
        said: list[Event] = []
        if frame.error is not None and not (gated and self._without_mark(frame)):
            said.append(self._unread(frame.side, frame.error, frame.size_bytes))
        if self._text is not None:
            self._text.feed(frame)
        return said + self._run(lambda a: a.frame(frame))

    def _without_mark(self, frame: Frame) -> bool:
        seen = f"{frame.event}\n{frame.data}".encode("utf-8", "replace")
        marks = () if self._text is not None else getattr(self.provider, "markers", ())
        return bool(marks) and not any(mark.search(seen) for mark in marks)

    def close(self, ending: Ending) -> list[Event]:
        if not self.begun:
            return []
        acted = [] if self._text is None else list(self._text.close(ending))
        return self._run(lambda a: a.close(ending)) + acted

    def _run(self, step: Callable[[Assembly], Iterable[Event]]) -> list[Event]:
        """One step of the provider; events it gave before it failed are kept."""
        assert self._assembly is not None
        events: list[Event] = []
        try:
            events.extend(step(self._assembly))
        except Exception as error:
            events.append(self._failed(error))
        return events

    def _failed(self, error: Exception) -> Unread:
        name = self.provider.name if self.provider else "provider"
        return self._unread(Side.RESPONSE, f"{name} failed: {type(error).__name__}: {str(error)[:80]}", 0)
