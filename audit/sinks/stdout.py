"""Records on standard output through structlog: JSON lines in a pipe, a readable line on a terminal.

In: records. Out: one line each, {"event": "onlooker.<kind>", "record": {…}}.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import orjson
import structlog

from audit.escape import terminal
from audit.sinks import TAKEN, Options, Record, Sent, SinkError, read_options
from audit.summary import severity, verdict, what


class StdoutSink:
    batch_records = 512
    linger_s = 0.0

    def __init__(self, stream: TextIO, style: str) -> None:
        self._stream = stream
        console = style == "console" or (style == "auto" and stream.isatty())
        last: Any = structlog.dev.ConsoleRenderer(colors=True) if console else structlog.processors.JSONRenderer(_dumps)
        self._log = structlog.wrap_logger(
            structlog.PrintLogger(stream),
            processors=[*([_short] if console else []), last],
            wrapper_class=structlog.BoundLogger,
        )

    def send(self, batch: Sequence[Record]) -> Sent:
        try:
            for record in batch:
                self._log.info(f"onlooker.{record['kind']}", record=record)
            self._stream.flush()
        except (OSError, ValueError) as error:  # ValueError: the stream was closed
            raise SinkError(f"standard output: {error}") from error
        return TAKEN

    def close(self) -> None:
        """The stream is not ours to close."""


class Stdout:
    name = "stdout"
    options: Options = MappingProxyType({"style": "auto"})

    def open(self, options: Options, place: Path) -> StdoutSink:  # noqa: ARG002 - every sink's signature
        chosen = read_options(self.name, self.options, options)
        if chosen["style"] not in {"auto", "json", "console"}:
            raise ValueError(f"sink stdout: style is {chosen['style']!r}; expected auto, json or console")
        return StdoutSink(sys.stdout, chosen["style"])


def _dumps(value: Any, **_: Any) -> str:
    return orjson.dumps({"event": value["event"], **value}, default=str).decode()


def _short(_logger: Any, _method: str, event: Any) -> Any:
    record = event["record"]
    said = {"severity": severity(record), "verdict": verdict(record) or None, "id": record["id"]}
    return {"timestamp": record["ts"], "event": terminal(what(record), 200), **{k: v for k, v in said.items() if v}}


SINK = Stdout()
