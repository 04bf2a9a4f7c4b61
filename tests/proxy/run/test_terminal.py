"""Ctrl-C at any moment of ``onlooker run``: the terminal is as it was, the code is a shell's, nothing stays behind."""

import json
import os
import pty
import shutil
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from proxy.settings import spool_dir_for
from proxy.status import alive

ROOT = Path(__file__).parents[3]
# What a login does: a session of its own, with the terminal as its controlling one.
LOGIN = "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
# An agent's terminal: no echo, no lines; interrupts are still signals. It is killed before it can put that back.
AGENT = """
import sys, termios, time
modes = termios.tcgetattr(0)
modes[3] &= ~(termios.ECHO | termios.ICANON)
termios.tcsetattr(0, termios.TCSANOW, modes)
print("agent is up", flush=True)
import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.stdin.read() if sys.argv[1:] != ["leave"] else termios.tcsetattr(0, termios.TCSANOW, (modes.__setitem__(3, modes[3] | termios.ECHO | termios.ICANON), modes)[1])
"""
PATIENCE_S = 120.0  # against hanging only: nothing here is a promise about time


class Session:
    def __init__(self, state, *agent):
        self.master, slave = pty.openpty()
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        argv = [
            sys.executable,
            "-c",
            LOGIN,
            sys.executable,
            "-m",
            "proxy",
            "run",
            "--quiet",
            "--state",
            str(state),
            "--",
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [*argv, sys.executable, "-c", AGENT, *agent]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)

    def interrupt(self):
        os.write(self.master, b"\x03")

    def until(self, text):
        seen = b""
        while text not in seen:
            seen += os.read(self.master, 4096)

    def end(self):
        code = self.process.wait(PATIENCE_S)
        after = termios.tcgetattr(self.slave)
        os.close(self.slave)
        os.close(self.master)
        return code, after


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not come"
        time.sleep(0.01)


def pids(state):
    found = []
    for file in state.glob("runs/*/pids.json"):
        value = json.loads(file.read_text() or "{}")
        found += [value.get("supervisor"), *value.get("relays", []), value.get("analyzer"), value.get("control")]
    return found


@pytest.fixture
def state(tmp_path):
    yield tmp_path / "s"
    wait_for(lambda: not any(alive(p) for p in pids(tmp_path / "s")))
    for run in (tmp_path / "s").glob("runs/*"):
        spool = f"{spool_dir_for(str(tmp_path / 's'))[0]}-{run.name}"
        shutil.rmtree(spool, ignore_errors=True)
        shutil.rmtree(f"{spool}.inbox", ignore_errors=True)


def test_while_the_agent_runs(state):
    session = Session(state)
    session.until(b"agent is up")
    assert termios.tcgetattr(session.slave) != session.before
    session.interrupt()
    code, after = session.end()
    assert (code, after) == (130, session.before)


def test_while_the_instance_starts(state):
    session = Session(state)
    wait_for(lambda: list(state.glob("runs/*")))
    session.interrupt()
    code, after = session.end()
    assert (code, after) == (130, session.before)


def test_while_the_findings_are_awaited(state):
    session = Session(state, "leave")
    session.until(b"agent is up")
    wait_for(lambda: termios.tcgetattr(session.slave) == session.before)
    session.interrupt()
    code, after = session.end()
    assert code in {0, 130}
    assert after == session.before
