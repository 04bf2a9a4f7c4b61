"""``onlooker mcp -- COMMAND``: a stdio MCP server with somebody watching, its bytes and its end unchanged.

In: the command; our standard input and output, which become the server's. Out: the server's exit status, and what was
said as one exchange in the spool of the instance that runs here. Where none runs, a process of its own writes
the records at the end.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from pathlib import Path

import click

from proxy.cli._options import configuration, state_option
from proxy.exchange import Side
from proxy.folders import private_folder
from proxy.pipes import leave_as, run_child
from proxy.settings import Config
from proxy.spawn import command, environment
from proxy.spool import format as fmt
from proxy.spool.writer import Writer, open_section
from proxy.status import alive, read_pids

ROLL_BYTES = 32 << 20  # a new exchange begins at the next line end: an old segment can then go
CAP_BYTES = 64 << 20  # of one exchange; beyond it a line that does not end is no longer captured
BUSY_S = 60.0  # how long to wait for another command that is writing this log
LOG = "mcp.log"  # in the state folder: what the reader of a finished capture could not do


@click.command("mcp", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--name", metavar="NAME", help="What the server is called until it says so itself.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="onlooker.yaml")
@state_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
def COMMAND(name: str | None, file: Path | None, state: str | None, command: tuple[str, ...]) -> None:  # noqa: N802 - found by this name
    """Run a stdio MCP server and record the tool calls that cross its pipes."""
    config = configuration(file, {"state": state})
    capture = Capture.begin(config, name or Path(command[0]).name)
    try:
        status = run_child(command, capture.seen, capture.tend)
    except OSError as error:
        capture.close()
        click.echo(f"onlooker: {command[0]}: {error.strerror}", err=True)
        leave_as(127 if isinstance(error, FileNotFoundError) else 126)
        return
    capture.close()
    if capture.broken is None and not _somebody_reads(config):
        _read_later(config)
    leave_as(status)


class Capture:
    """The spool's end of the pipes. Never fails the traffic: what cannot be captured is said once, on stderr."""

    def __init__(self, writer: Writer | None, name: str, roll_bytes: int = ROLL_BYTES) -> None:
        self._roll_bytes = roll_bytes
        self.broken: str | None = None
        self._writer, self._name = writer, name
        self._lock = threading.Lock()
        self._exchange = 0
        self._bytes = 0
        self._mid_line = {Side.REQUEST: False, Side.RESPONSE: False}

    @classmethod
    def begin(cls, config: Config, name: str) -> Capture:
        root = Path(config.spool.dir)
        try:
            root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            writer = Writer(root, f"mcp-{os.getpid()}-{secrets.token_hex(4)}", config.spool.cap_bytes)
        except OSError as error:
            capture = cls(None, name)
            capture._give_up(error)
            return capture
        return cls(writer, name)

    def seen(self, side: Side, data: bytes) -> None:
        with self._lock:
            if self._writer is None:
                return
            try:
                self._write(self._writer, side, data)
            except (OSError, ValueError) as error:
                self._give_up(error)

    def tend(self) -> None:
        with self._lock:
            if self._writer is not None:
                self._writer.tend()

    def close(self) -> None:
        with self._lock:
            writer, self._writer = self._writer, None
            if writer is None:
                return
            try:
                if self._exchange:
                    writer.end(self._exchange, "complete", "")
                writer.close()
            except OSError as error:
                self._give_up(error)

    def _write(self, writer: Writer, side: Side, data: bytes) -> None:
        if self._exchange == 0 or (self._bytes >= self._roll_bytes and not any(self._mid_line.values())):
            self._next(writer)
        before, self._bytes = self._bytes, self._bytes + len(data)
        if before < CAP_BYTES <= self._bytes:
            writer.lose(self._exchange, "capture_cap")
        self._mid_line[side] = not data.endswith(b"\n")
        writer.add(self._exchange, fmt.BODY | (fmt.RESPONSE if side is Side.RESPONSE else 0), data)
        writer.flush()

    def _next(self, writer: Writer) -> None:
        """Begin an exchange; the conversation goes on, which the same connection says."""
        if self._exchange:
            writer.end(self._exchange, "complete", "")
        self._exchange, self._bytes = self._exchange + 1, 0
        peer = {"addr": "stdio", "pid": os.getppid(), "uid": os.getuid()}
        place: dict[str, object] = {"listener": "stdio", "route": self._name, "connection": os.getpid(), "peer": peer}
        meta = {"mode": "stdio", **place}
        writer.add_head(self._exchange, fmt.OPEN | fmt.HEAD, open_section(meta), b"", 0, b"")

    def _give_up(self, error: Exception) -> None:
        self.broken = str(error)
        self._writer = None
        sys.stderr.write(f"onlooker: nothing of {self._name} is captured from here on: {error}\n")


def _somebody_reads(config: Config) -> bool:
    return alive(read_pids(config.pids_file).get("supervisor"))


def _read_later(config: Config) -> None:
    """No instance runs here: a process of its own writes the records, so that nobody waits for them or kills them."""
    state = Path(config.state)
    try:
        private_folder(state)
        with (state / LOG).open("ab") as log:
            reader = subprocess.Popen(
                command("proxy.cli.mcp"),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=environment(),
            )
        assert reader.stdin is not None
        reader.stdin.write(config.to_json().encode())
        reader.stdin.close()
    except OSError as error:
        sys.stderr.write(f"onlooker: no records were written, the capture waits for the next run: {error}\n")


def read_capture(config: Config) -> int:
    """Write the records of what was captured, as an instance's analyzer would; 3 when another process keeps the log."""
    from audit.log import LogInUseError  # noqa: PLC0415 - only this path needs the analyzer
    from proxy.analyzer.judging import load_judge  # noqa: PLC0415
    from proxy.analyzer.start import start  # noqa: PLC0415

    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            running = start(config, load_judge(config))
            break
        except LogInUseError as error:
            if time.monotonic() > deadline or _somebody_reads(config):
                sys.stderr.write(f"{error}; the capture waits for who writes it\n")
                return 3
            time.sleep(0.1)
    try:
        while events := running.tail.poll():
            for event in events:
                running.analyzer.take(event)
        running.save()
    finally:
        running.close()
    return 0


if __name__ == "__main__":
    sys.exit(read_capture(Config.from_argument("-")))
