"""A collection of garbage that comes while a call is read is not the call's time."""

import gc
import time

from classifiers.effects import Surface
from classifiers.gather import Gather


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
