"""A batch that takes longer than the watchdog's patience is work as long as its events pass, not a hang."""

import subprocess
import sys

SCRIPT = """
import time
from types import SimpleNamespace
from proxy.analyzer import __main__ as life
from proxy.analyzer.guard import leaves_when_stuck, still_alive

life.still_alive = lambda: still_alive(3.0)
life.report = lambda running: said.append(running)
life.HOUSEKEEPING_S = 0.1
said = []
writer = SimpleNamespace()
config = SimpleNamespace(spool=SimpleNamespace(cap_bytes=1))
analyzer = SimpleNamespace(take=lambda event: time.sleep(event))
loop = life.Loop(SimpleNamespace(desk=SimpleNamespace(writer=writer), analyzer=analyzer, config=config))
with leaves_when_stuck(3.0):
    loop._take([0.35] * 10)
assert len(said) >= 5
print("alive")
"""


def test_ten_slow_events_longer_together_than_the_watchdog_waits_are_read():
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr
