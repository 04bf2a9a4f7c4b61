"""``onlooker mcp``: the child behaves as if nobody were between, and its calls are recorded."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from proxy.cli.mcp import Capture
from proxy.exchange import Side
from proxy.settings import spool_dir_for
from proxy.spool.events import BodySeen, Ended, Opened
from proxy.spool.tail import SpoolTail
from proxy.spool.writer import Writer

from .instance import of_kind, records_until

ROOT = Path(__file__).resolve().parents[3]
ECHO = "import sys\nwhile data := sys.stdin.buffer.read1(65536):\n    sys.stdout.buffer.write(data); sys.stdout.buffer.flush()\n"
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "shelf", "version": "1"}, "capabilities": {}}
    else:
        result = {"content": [{"type": "text", "text": "gone"}], "isError": False}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def state(tmp_path):
    folder = tmp_path / "state"
    yield folder
    spool = Path(spool_dir_for(str(folder))[0])
    shutil.rmtree(spool, ignore_errors=True)
    shutil.rmtree(f"{spool}.inbox", ignore_errors=True)


def wrapped(state, *command, **more):
    argv = [sys.executable, "-m", "proxy", "mcp", "--state", str(state), "--", *command]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, **more
    )


def test_bytes_pass_both_ways_whatever_they_are(state):
    sent = b"\x00\xff{]\r\n" + os.urandom(3 << 20) + b"no newline at the end"
    out, err = wrapped(state, sys.executable, "-c", ECHO).communicate(sent, timeout=120)
    assert out == sent
    assert err == b""


def test_an_answer_comes_back_at_once_and_the_end_of_input_ends_the_child(state):
    child = wrapped(state, sys.executable, "-c", ECHO, bufsize=0)
    for line in (b"one\n", b"half a li", b"ne\n"):
        child.stdin.write(line)
        assert child.stdout.read(len(line)) == line
    assert child.communicate(timeout=120) == (b"", b"")
    assert child.returncode == 0


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("import sys; sys.exit(0)", 0),
        ("import sys; sys.exit(42)", 42),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_the_wrapper_ends_as_the_child_ended(state, script, status):
    child = wrapped(state, sys.executable, "-c", script)
    child.communicate(timeout=120)
    assert child.returncode == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_wrapper_is_a_signal_to_the_child(state, number):
    script = f"import signal, sys, time\nsignal.signal({int(number)}, lambda *_: sys.exit(7))\nprint('ready', flush=True)\nwhile True: time.sleep(1)"
    child = wrapped(state, sys.executable, "-c", script, start_new_session=True)
    assert child.stdout.readline() == b"ready\n"
    child.send_signal(number)
    child.communicate(timeout=120)
    assert child.returncode == 7


def test_the_childs_standard_error_is_its_own(state):
    _, err = wrapped(state, sys.executable, "-c", "import sys; sys.stderr.write('log line\\n')").communicate(
        timeout=120
    )
    assert err == b"log line\n"


def test_a_child_that_closes_its_input_early_is_no_failure(state):
    child = wrapped(state, sys.executable, "-c", "import os; os.close(0); print('bye')")
    out, _ = child.communicate(b"x" * (1 << 20), timeout=120)
    assert (out, child.returncode) == (b"bye\n", 0)


def test_a_reader_that_goes_away_ends_a_child_that_keeps_writing(state):
    child = wrapped(state, sys.executable, "-c", "import itertools\nfor n in itertools.count(): print(n)")
    assert child.stdout.readline() == b"0\n"
    child.stdout.close()
    child.stderr.close()
    assert child.wait(120) != 0
    child.stdin.close()


def test_a_command_that_is_not_there_is_127_and_one_sentence(state):
    child = wrapped(state, "no-such-server")
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out) == (127, b"")
    assert err.decode().count("\n") == 1


def test_without_a_place_to_capture_traffic_passes_and_that_is_said(state, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("")
    config = tmp_path / "onlooker.yaml"
    config.write_text(f"onlooker: 1\nspool: {{dir: {taken}/below}}\n")
    argv = [
        sys.executable,
        "-m",
        "proxy",
        "mcp",
        "--config",
        str(config),
        "--state",
        str(taken),
        "--",
        sys.executable,
        "-c",
        ECHO,
    ]
    done = subprocess.run(
        argv,
        input=b"hello\n",
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert b"nothing of" in done.stderr


def test_calls_are_recorded_when_no_instance_runs(state):
    said = [
        {
            "id": 0,
            "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "clientInfo": {"name": "c", "version": "1"}},
        },
        {"id": 1, "method": "tools/call", "params": {"name": "remove_file", "arguments": {"path": "/srv/a"}}},
    ]
    child = wrapped(state, sys.executable, "-c", SERVER)
    for message in said:
        child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["id"] == message["id"]
    assert child.communicate(timeout=120) == (b"", b"")
    found = records_until(state, lambda r: of_kind(r, "outcome"))
    (action,) = [r for r in found if r["kind"] == "action"]
    assert (action["call"]["name"], action["call"]["server"], action["exchange"]["protocol"]) == (
        "remove_file",
        "shelf",
        "mcp-stdio",
    )
    (outcome,) = [r for r in found if r["kind"] == "outcome"]
    assert (outcome["action"], outcome["outcome"]) == (action["id"], "ok")


def test_a_long_conversation_becomes_several_exchanges_cut_between_lines(tmp_path):
    capture = Capture(Writer(tmp_path / "spool", "w"), "shelf", roll_bytes=10)
    for side, data in (
        (Side.REQUEST, b"123456789\n"),
        (Side.RESPONSE, b"half"),
        (Side.REQUEST, b"x\n"),
        (Side.RESPONSE, b"\n"),
        (Side.REQUEST, b"y\n"),
    ):
        capture.seen(side, data)
    capture.close()
    tail = SpoolTail(tmp_path / "spool")
    events = tail.poll()
    tail.close()
    assert [e.meta["connection"] == os.getpid() for e in events if isinstance(e, Opened)] == [True, True]
    assert [(e.exchange, e.data) for e in events if isinstance(e, BodySeen)][-1] == (2, b"y\n")
    assert [(e.exchange, str(e.ending)) for e in events if isinstance(e, Ended)] == [(1, "complete"), (2, "complete")]
    assert capture.broken is None


COUNTS_INTERRUPTS = """
import signal, sys
seen = []
signal.signal(signal.SIGINT, lambda *_: (seen.append(1), print("interrupt", flush=True)))
print("ready", flush=True)
for line in sys.stdin:
    print(len(seen), flush=True)
    break
"""


def test_a_terminals_interrupt_reaches_the_child_once(state):
    """Ctrl-C goes to the whole foreground group: handing it on as well would be a second one."""
    ours, theirs = os.openpty()

    def take_terminal():
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    argv = [sys.executable, "-m", "proxy", "mcp", "--state", str(state), "--", sys.executable, "-c", COUNTS_INTERRUPTS]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        argv,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
        preexec_fn=take_terminal,  # noqa: PLW1509 - the only way to give a child a terminal of its own
    )
    try:
        assert child.stdout.readline() == b"ready\n"
        os.write(ours, b"\x03")
        assert child.stdout.readline() == b"interrupt\n"
        os.write(ours, b"how many\n")
        assert child.stdout.readline() == b"1\n"
        assert child.communicate(timeout=120)[0] == b""
        assert child.returncode == 0
    finally:
        os.close(ours)
        os.close(theirs)
