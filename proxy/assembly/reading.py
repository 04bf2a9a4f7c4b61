"""One provider at work on one exchange: frames in, its events out; whatever it raises is an ``Unread`` event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from proxy.assembly.choose import claims
from proxy.assembly.text_actions import TextReader
from proxy.assembly.waiting import Opened, Waiting, wait
from proxy.events import Event, HistorySeen, ResultSeen, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly, Provider
from proxy.wire import Frame

SayUnread = Callable[[Side, str, int], Unread]

_WHOLE = (HistorySeen, ResultSeen, ToolsOffered)  # their hashes and digests would be wrong of an outline


class Reading:
    """``begun`` once a provider was chosen and opened; until then nothing is read."""

    def __init__(self, exchange: Exchange, unread: SayUnread) -> None:
        self._exchange = exchange
        self._unread = unread
        self.provider: Provider | None = None
        self.parse_all = False
        self._assembly: Assembly | None = None
        self._text: TextReader | None = None
        self._waiting: Waiting | None = None

    @property
    def begun(self) -> bool:
        return self._assembly is not None

    @property
    def undecided(self) -> bool:
        """Nobody reads the exchange yet, and its request has not been made small."""
        return self._waiting is None and not self.begun

    def watched(self) -> tuple[Any, ...]:
        """What the chosen provider must not miss as it stands; empty: everything is parsed for it."""
        if self._text is not None or self.parse_all or not self.begun:
            return ()
        return getattr(self._assembly, "markers", ()) or getattr(self.provider, "markers", ())

    def choose(self, first: Frame | None, at_least: int) -> list[Event]:
        """Open the best provider when its rank is ``at_least`` that; its view of the request comes back."""
        if self._waiting is not None:
            self._waiting.restore(self._exchange)
        found = [] if self.begun else claims(self._exchange, first)
        if not found or found[0][0] < at_least:
            return []
        self.provider = found[0][1]
        self._assembly, events = self._opened(self.provider)
        if self.begun:
            self._text = TextReader(self._exchange.text_patterns) if self._exchange.text_patterns else None
        return events

    def wait(self) -> None:
        """The answer has not begun: what is known of the request is made small until it does."""
        self._waiting = wait(self._exchange, self._open)

    def _opened(self, provider: Provider) -> Opened:
        """The provider with its view of the request, read now or ahead."""
        waiting, self._waiting = self._waiting, None
        if waiting is None or not waiting.ahead:
            return self._open(provider)
        if (ahead := waiting.take(provider)) is not None:
            return ahead
        assembly, events = self._open(provider)  # of the outline: what it must know itself
        name, read = waiting.likeliest()
        reason = f"the request was read as {name}'s before its answer began, which is {provider.name}'s"
        own = [e for e in events if not isinstance(e, _WHOLE)]
        return assembly, [*read, *own, self._unread(Side.REQUEST, reason, 0)]

    def _open(self, provider: Provider) -> Opened:
        try:
            assembly = provider.open(self._exchange)
        except Exception as error:
            return None, [self._failed(provider, error)]
        return assembly, self._run(provider, lambda: assembly.request(self._exchange))

    def frame(self, frame: Frame, *, gated: bool = False) -> list[Event]:
        """``gated``: frames without a mark are passed over where they come in runs, so damage in them is too."""
        if not self.begun:
            return []
        said: list[Event] = []
        if frame.error is not None and not (gated and frame.error.startswith("JSON") and self._without_mark(frame)):
            said.append(self._unread(frame.side, frame.error, frame.size_bytes))
        if self._text is not None:
            self._text.feed(frame)
        return said + self._step(lambda a: a.frame(frame))

    def _without_mark(self, frame: Frame) -> bool:
        seen = f"{frame.event}\n{frame.data}".encode("utf-8", "replace")
        marks = () if self._text is not None else getattr(self.provider, "markers", ())
        return bool(marks) and not any(mark.search(seen) for mark in marks)

    def close(self, ending: Ending) -> list[Event]:
        if not self.begun:
            return []
        acted = [] if self._text is None else list(self._text.close(ending))
        return self._step(lambda a: a.close(ending)) + acted

    def _step(self, step: Callable[[Assembly], Iterable[Event]]) -> list[Event]:
        assembly, provider = self._assembly, self.provider
        assert assembly is not None
        assert provider is not None
        return self._run(provider, lambda: step(assembly))

    def _run(self, provider: Provider, step: Callable[[], Iterable[Event]]) -> list[Event]:
        """One step of a provider; events it gave before it failed are kept."""
        events: list[Event] = []
        try:
            events.extend(step())
        except Exception as error:
            events.append(self._failed(provider, error))
        return events

    def _failed(self, provider: Provider, error: Exception) -> Unread:
        return self._unread(Side.RESPONSE, f"{provider.name} failed: {type(error).__name__}: {str(error)[:80]}", 0)
