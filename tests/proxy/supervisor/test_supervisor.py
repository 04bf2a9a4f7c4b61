"""The supervisor with real relays and stand-in parts: what dies comes back, nobody is refused, SIGTERM ends all."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

WAIT_S = 60.0  # against hanging only: nothing here is a promise about time
STAY = [sys.executable, "-c", "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(0)); time.sleep(600)"]


def upstream():
    """An upstream that answers each request head with a small body, on a kept connection."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)

    def one(sock):
        held = b""
        with sock:
            while True:
                try:
                    data = sock.recv(65536)
                except OSError:
                    return
                if not data:
                    return
                held += data
                while b"\r\n\r\n" in held:
                    held = held.partition(b"\r\n\r\n")[2]
                    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def accept():
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener


class Supervised:
    def __init__(self, tmp_path, port, **more):
        self.state = tmp_path / "state"
        config = {
            "state": str(self.state),
            "spool_dir": str(tmp_path / "spool"),
            "listen": "127.0.0.1:0",
            "control_listen": "127.0.0.1:0",
            "routes": {"/": {"url": f"http://127.0.0.1:{port}"}},
            "commands": {"analyzer": STAY, "control": STAY},
            "drain_s": 2,
            **more,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "proxy.supervisor", json.dumps(config)], stdout=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        self.running = json.loads(line) if line else None
        if self.running:
            self.port = int(self.running["listen"][0].rpartition(":")[2])

    def pids(self):
        return json.loads((self.state / "pids.json").read_text())

    def until(self, condition):
        deadline = time.monotonic() + WAIT_S
        while not condition():
            assert time.monotonic() < deadline, self.pids()
            time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        code = self.process.wait(WAIT_S)
        self.process.stdout.close()
        return code


@pytest.fixture
def up():
    listener = upstream()
    yield listener.getsockname()[1]
    listener.close()


@pytest.fixture
def supervised(tmp_path, up):
    made = []

    def make(**more):
        made.append(Supervised(tmp_path, up, **more))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            one.stop()
        one.process.stdout.close()


def ask(port):
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return sock.recv(65536)


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_it_says_where_everything_runs_and_forwards(supervised):
    s = supervised(workers=2)
    assert ask(s.port).endswith(b"ok")
    pids = s.pids()
    assert pids["supervisor"] == s.process.pid
    assert len(pids["relays"]) == 2
    assert isinstance(pids["analyzer"], int)
    assert isinstance(pids["control"], int)
    assert (s.state / "pids.json").stat().st_mode & 0o777 == 0o600


def test_sigterm_ends_every_part_and_exits_0(supervised):
    s = supervised()
    pids = s.pids()
    assert s.stop() == 0
    assert all(gone(p) for p in (*pids["relays"], pids["analyzer"], pids["control"]))
    assert not (s.state / "pids.json").exists()


DRAINS = """
import pathlib, signal, sys, time
lives = pathlib.Path({lives!r})
lives.write_text(lives.read_text() + "x" if lives.exists() else "x")
codes = {codes!r}
signal.signal(15, lambda *_: sys.exit(codes[min(len(lives.read_text()), len(codes)) - 1]))
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("codes", "lives", "expected"),
    [((0,), 1, 0), ((1, 0), 2, 0), ((4, 0), 1, 4), ((1, 1, 0), 2, 4)],
    ids=[
        "it ends well",
        "it dies and the next life finishes",
        "a full disk is no reason for another",
        "twice is enough",
    ],
)
def test_an_analyzer_that_dies_while_it_drains_gets_one_more_life(supervised, tmp_path, codes, lives, expected):
    file = tmp_path / "lives"
    analyzer = [sys.executable, "-c", DRAINS.format(lives=str(file), codes=codes)]
    one = supervised(commands={"analyzer": analyzer, "control": STAY})
    one.until(file.exists)
    assert one.stop() == expected
    assert len(file.read_text()) == lives


@pytest.mark.parametrize("role", ["relay", "analyzer", "control"])
def test_a_killed_part_comes_back(supervised, role):
    s = supervised()

    def pid():
        pids = s.pids()
        return (pids["relays"] or [None])[0] if role == "relay" else pids[role]

    old = pid()
    os.kill(old, signal.SIGKILL)
    s.until(lambda: pid() not in {old, None})
    assert ask(s.port).endswith(b"ok")


def test_a_relay_told_to_leave_is_replaced_before_it_has_left(supervised):
    s = supervised(drain_s=WAIT_S)
    (old,) = s.pids()["relays"]
    with socket.create_connection(("127.0.0.1", s.port), timeout=WAIT_S) as busy:
        busy.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")  # the upstream answers, the body waits
        busy.recv(65536)
        os.kill(old, signal.SIGTERM)
        s.until(lambda: len(s.pids()["relays"]) == 2)
        assert ask(s.port).endswith(b"ok")
        assert not gone(old)
        busy.sendall(b"123456789")
    s.until(lambda: gone(old))


def test_a_second_supervisor_on_the_same_state_is_refused(supervised, tmp_path, up):
    supervised()
    again = Supervised(tmp_path, up)
    assert again.process.wait(WAIT_S) == 4
    again.process.stdout.close()


def test_an_address_somebody_has_is_refused_in_one_sentence(tmp_path, up):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        s = Supervised(tmp_path, up, listen=f"127.0.0.1:{taken.getsockname()[1]}")
        assert s.process.wait(WAIT_S) == 3
        s.process.stdout.close()


def test_relays_outlive_a_killed_supervisor_and_the_next_one_takes_the_port_over(supervised, tmp_path, up):
    first = supervised()
    (orphan,) = first.pids()["relays"]
    others = [first.pids()["analyzer"], first.pids()["control"]]
    with socket.create_connection(("127.0.0.1", first.port), timeout=WAIT_S) as kept:
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        kept.recv(65536)
        first.process.kill()
        first.process.wait(WAIT_S)
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert kept.recv(65536).endswith(b"ok")
        second = Supervised(tmp_path, up, listen=f"127.0.0.1:{first.port}")
        assert second.port == first.port
        assert ask(second.port).endswith(b"ok")
        assert not set(others) & {second.pids()["analyzer"], second.pids()["control"]}
    second.until(lambda: gone(orphan))
    second.until(lambda: all(gone(pid) for pid in others))
    assert second.stop() == 0


def test_sighup_is_passed_on(supervised, tmp_path):
    mark = tmp_path / "mark"
    code = f"import signal,sys,time; signal.signal(15, lambda *a: sys.exit(0)); signal.signal(1, lambda *a: open({str(mark)!r}, 'w').close()); open({str(mark) + 'up'!r}, 'w'); time.sleep(600)"
    s = supervised(commands={"analyzer": [sys.executable, "-W", "ignore", "-c", code]})
    s.until((tmp_path / "markup").exists)
    s.process.send_signal(signal.SIGHUP)
    s.until(mark.exists)
