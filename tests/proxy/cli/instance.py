"""A real instance for tests: ``onlooker serve`` on free ports with its own state, and its log as it grows."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from proxy.settings import spool_dir_for

ROOT = Path(__file__).resolve().parents[3]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
PATIENCE_S = 120.0  # against hanging only: nothing here is a promise about time


@contextlib.contextmanager
def serving(state: Path, *flags: str) -> Iterator[dict[str, str]]:
    """``{listen, control, state}`` of an instance that is ready; it is drained at the end."""
    argv = [sys.executable, "-m", "proxy", "serve", "--state", str(state)]
    argv += ["--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", *flags]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=ENV) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            forget(state)


def forget(state: Path) -> None:
    """Remove what an instance keeps outside its state folder."""
    spool = spool_dir_for(str(state))[0]
    shutil.rmtree(spool, ignore_errors=True)
    shutil.rmtree(f"{spool}.inbox", ignore_errors=True)


@contextlib.contextmanager
def running(script: str, *arguments: str, port: int, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program that listens on ``port``, once it does."""
    argv = [sys.executable, "-c", script, *arguments]
    with subprocess.Popen(argv, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more) as process:
        try:
            wait_for(lambda: _accepts(port) or process.poll() is not None)
            assert process.poll() is None
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def records(state: Path) -> list[dict[str, Any]]:
    paths = sorted((state / "audit").glob("*.jsonl"))
    lines = (line for path in paths for line in path.read_text("utf-8").split("\n"))
    return [json.loads(line) for line in lines if line.endswith("}")]


def records_until(state: Path, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The log's records as soon as they are ``enough``; the log is looked at again until then."""
    wait_for(lambda: enough(records(state)))
    return records(state)


def of_kind(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record for record in found if record["kind"] == kind]


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not come"
        time.sleep(0.02)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
