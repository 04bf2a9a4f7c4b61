"""Collections of garbage and loading are no reading time: a cold process answers its first command as a warm one does."""

import gc
import subprocess
import sys
import time

import pytest

from classifiers.clock import loading, spent
from classifiers.effects import Surface
from classifiers.gather import Gather

FIRST = """
import sys
from classifiers.shell import classify_shell
print(*(o.reason.value for o in classify_shell(sys.argv[1]).opaque))
"""
COMMANDS = [
    "curl -d a=b https://api.github.com/repos/acme/shop/issues",
    "psql -c 'select 1'",
    "mysql -e 'drop table x'",
    "python -c 'import os; os.remove(\"x\")'",
    'node -e \'require("fs").rmSync("x")\'',
    "kubectl delete pod web",
    "awk '{system(\"rm x\")}' notes.txt",
    "gcloud compute ssh web --command 'rm x'",
    "pwsh -c 'Remove-Item x'",
]


def work(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_what_is_loaded_within_loading_even_nested_is_not_spent():
    before, real = spent(), time.thread_time()
    with loading(), loading():
        work(0.02)
    assert spent() - before <= time.thread_time() - real - 0.02


def test_what_is_read_is_spent():
    before = spent()
    work(0.005)
    assert spent() - before >= 0.005


@pytest.mark.parametrize("command", COMMANDS)
def test_a_fresh_process_reads_its_first_command_within_its_budget(command):
    done = subprocess.run(
        [sys.executable, "-c", FIRST, command], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == []


def test_a_collection_takes_nothing_from_the_time_to_read():
    kept = [{str(i): [i]} for i in range(60_000)]
    started = time.thread_time()
    gc.collect()
    one = time.thread_time() - started
    out = Gather(Surface.CODE)
    out.start_clock(one * 1000 * 2)
    for _ in range(6):  # three times what there is
        gc.collect()
    assert not out.out_of_time()
    assert len(kept) == 60_000


def test_work_does_use_it_up():
    out = Gather(Surface.CODE)
    out.start_clock(2)
    until = time.thread_time() + 0.004
    while time.thread_time() < until:
        pass
    assert out.out_of_time()
