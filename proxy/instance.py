"""One running onlooker: its files prepared, its supervisor started, its end waited for.

In: a ``Config``. Out: what ``proxy.supervisor`` needs; or a child process with the addresses it really bound. Used by
``serve`` (in this process), ``run``, ``demo`` and the tests (as a child).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from audit.read import records
from proxy.control.token import ensure_token
from proxy.folders import private_folder
from proxy.memory import clear_memory
from proxy.settings import Config
from proxy.spawn import command, environment
from proxy.status import is_fresh, read_status, status_file

READY_S = 20.0
STOP_S = 70.0  # the supervisor's own limits for draining add up to less


class InstanceError(Exception):
    """It did not start. The message is one sentence; ``code`` is the exit code to pass on."""

    def __init__(self, message: str, code: int = 4) -> None:
        super().__init__(message)
        self.code = code


def supervisor_config(config: Config) -> dict[str, Any]:
    """The supervisor's configuration, and the files its children read. Raises OSError when the state cannot be used."""
    state = Path(config.state)
    private_folder(state)
    Path(config.spool.dir).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    ensure_token(config.token_file)
    file = state / "config.json"
    draft = file.with_suffix(".draft")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as out:
        out.write(config.to_json())
    draft.replace(file)
    ca = {"ca": config.upstream_ca} if config.upstream_ca else {}
    return {
        "state": config.state,
        "spool_dir": config.spool.dir,
        "spool_cap": config.spool.cap_bytes,
        "listen": [config.listen, *(f"unix:{path}" for path in config.listen_unix)],
        "control_listen": config.control,
        "routes": {name: {**ca, **spec} for name, spec in config.routes.items()},
        "forward_listen": config.forward.listen,
        "forward": {
            "intercept": list(config.forward.intercept),
            "ca_dir": str(config.ca_dir),
            "upstream_ca": config.upstream_ca,
        },
        "transparent_listen": config.transparent.listen,
        "tproxy": config.transparent.tproxy,
        "upstream_proxy": config.upstream_proxy,
        "no_proxy": list(config.no_proxy),
        "workers": config.workers,
        "commands": {
            "analyzer": command("proxy.analyzer", f"@{file}"),
            "control": command("proxy.control", f"@{file}"),
        },
    }


@dataclass(slots=True)
class Instance:
    """A supervisor of our own as a child. ``stop`` drains it: afterwards the log holds all that was captured."""

    config: Config
    process: subprocess.Popen[bytes]
    listen: str
    control: str
    stderr: Path
    forward: str | None = None  # the forward proxy's address, when it was asked for

    @classmethod
    def start(cls, config: Config) -> Self:
        """Raises InstanceError with the supervisor's own words when it does not come up."""
        stderr = Path(config.state) / "serve.log"
        given = {**supervisor_config(config), "starter": True}
        fd = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        process: subprocess.Popen[bytes] | None = None
        try:
            with os.fdopen(fd, "ab") as errors, signals_held():  # in the middle of Popen it would be nobody's
                process = subprocess.Popen(
                    command("proxy.supervisor", json.dumps(given)),
                    env=environment(),
                    stdin=subprocess.PIPE,  # closed when we are gone, however: then it drains and leaves too
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,  # the terminal's Ctrl-C is for the command, not for its watcher
                )
            assert process.stdout is not None
            line = process.stdout.readline()
        except BaseException:  # somebody gave up waiting: nobody else would end it
            if process is not None:
                process.terminate()
                process.wait()
                _close(process)
            raise
        try:
            ready = json.loads(line)
        except ValueError:
            process.wait()
            _close(process)
            said = stderr.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise InstanceError(said[-1] if said else "the supervisor ended at once", process.returncode) from None
        return cls(config, process, ready["listen"][0], ready["control"], stderr, next(iter(ready["forward"]), None))

    @property
    def base(self) -> str:
        return f"http://{self.listen}"

    @property
    def lifeline(self) -> int:
        """The descriptor that keeps the instance: as long as somebody holds it, killing us does not end it."""
        assert self.process.stdin is not None
        return self.process.stdin.fileno()

    def wait_analyzer(self, within_s: float = READY_S) -> bool:
        """Until the analyzer reports; traffic before that is captured and read later."""
        path, until = status_file(self.config.spool.dir), time.monotonic() + within_s
        while time.monotonic() < until and self.process.poll() is None:
            if is_fresh(read_status(path)):
                return True
            time.sleep(0.02)
        return False

    def stop(self) -> int:
        """SIGTERM and wait. What was captured before the analyzer was up is read first.

        Interrupted, it does not wait any longer: the instance drains and ends by itself.
        """
        try:
            self.wait_analyzer()
        except BaseException:
            self.process.terminate()
            raise
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        _close(self.process)
        clear_memory(self.config.spool.dir)
        return code

    def records(self) -> list[dict[str, Any]]:
        return read_records(Path(self.config.state))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP that arrive inside take effect behind it; only the main thread ever gets them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = {n: signal.signal(n, lambda number, _: held.append(number)) for n in _HELD}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for arrived in held:
        signal.raise_signal(arrived)


_HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def read_records(state: Path) -> list[dict[str, Any]]:
    """Every record of a state's log, in order; none when there is no log yet."""
    try:
        return list(records(state))
    except FileNotFoundError:
        return []
