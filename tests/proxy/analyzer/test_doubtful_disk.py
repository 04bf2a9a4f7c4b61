"""A disk that fails under the log: what is not known to be on it stays in the capture."""

import os

from proxy.analyzer.judging import load_judge
from proxy.analyzer.start import start
from proxy.config import build


def test_no_snapshot_is_taken_while_the_last_sync_failed_and_the_next_good_one_ends_it(tmp_path):
    config = build(None, {"state": str(tmp_path / "state"), "spool": {"dir": str(tmp_path / "spool")}})
    running = start(config, load_judge(config))
    failing = [True]

    def fdatasync(fd):
        if failing[0]:
            raise OSError(5, "Input/output error")
        os.fdatasync(fd)

    try:
        running.log._chain.segment.fdatasync = fdatasync
        for line in running.desk.judge.poll():
            running.desk.writer.write(line)
        last = running.log.next_seq - 1
        assert not running.log.wait_acknowledged(last, 0.3)
        assert running.save() is False
        assert "Input/output error" in running.keeper.error
        assert not (tmp_path / "state" / "analyzer" / "snapshot").exists()
        failing[0] = False
        assert running.log.wait_acknowledged(last)
        assert running.save() is True
        assert (running.keeper.error, running.log.health.error) == (None, None)
    finally:
        running.close()
