"""Where records go after the log. A sink is one file here exposing ``SINK``, found by ``classifiers.discover``.

In: records in log order, at least once (idempotency key: the record's id). Out: what was taken. A sink that raises
``SinkError`` gets the same batch again; the log is the buffer, so an outage loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

Record = dict[str, Any]
Options = Mapping[str, Any]


class SinkError(Exception):
    """Not taken; try again after ``retry_after_s`` (None: the runner's own back-off)."""

    def __init__(self, why: str, retry_after_s: float | None = None) -> None:
        super().__init__(why)
        self.retry_after_s = retry_after_s


class RefusedError(Exception):
    """The other side will not take this request, however often it is sent."""


@dataclass(frozen=True, slots=True)
class Sent:
    """``rejected``: how many of the batch the other side refused for good, without saying which."""

    rejected: int = 0
    why: str = ""


TAKEN = Sent()


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of the instance: ``counter`` or gauge, and its value for each set of labels."""

    name: str
    help: str
    counter: bool
    series: Sequence[tuple[Mapping[str, str], float]]


class OpenSink(Protocol):
    """``linger_s``: how long to wait for ``batch_records`` before a smaller batch is sent."""

    batch_records: int
    linger_s: float

    def send(self, batch: Sequence[Record]) -> Sent:
        """Called from one thread at a time. Raises SinkError."""

    def close(self) -> None: ...


@runtime_checkable
class Measuring(Protocol):
    """A sink that takes the instance's figures too, every ``figures_s`` seconds (0: it was told not to)."""

    figures_s: float

    def measure(self, figures: Sequence[Figure], log_id: str) -> None:
        """Any thread, at the same time as ``send``. Raises SinkError: these are lost, the next ones say as much."""


class Sink(Protocol):
    name: str
    options: Mapping[str, Any]  # every option with its default; None: must be given or is optional text

    def open(self, options: Options, place: Path) -> OpenSink:
        """``place``: a folder of this sink's own. Raises ValueError when an option is wrong."""


def read_options(name: str, known: Options, given: Options) -> dict[str, Any]:
    """Given over defaults, each of its default's type. Raises ValueError with the name of what is wrong."""
    out = dict(known)
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"sink {name}: unknown option {key!r}; expected {', '.join(known)}")
        default = known[key]
        if default is not None and not isinstance(value, (int, float) if isinstance(default, float) else type(default)):
            raise ValueError(f"sink {name}: {key} is {value!r}; expected {type(default).__name__}")
        out[key] = value
    return out


def secret(name: str, value: str) -> str:
    """``env:NAME`` and ``file:PATH`` are read, so no secret need stand in the configuration."""
    kind, _, where = value.partition(":")
    if kind == "env":
        if where not in os.environ:
            raise ValueError(f"sink {name}: the environment has no {where}")
        return os.environ[where]
    if kind == "file":
        return Path(where).read_text(encoding="utf-8").strip()
    return value
