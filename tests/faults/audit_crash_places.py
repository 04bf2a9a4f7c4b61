"""Ends a writer at a chosen write: before it, in its middle, after it. Run by test_audit_crash.py, one thread, so it can fork.

Arguments: state folder, turns. Each turn takes the log up, appends, and dies at its n-th write; n and the place within it
go round, so that every step between two writes is one (record → checkpoint → its note → rotation → header). What
``append`` returned for goes to standard output.
"""

import os
import sys
from pathlib import Path

from audit import record as records
from audit.checkpoint import load_signer
from audit.log import AuditLog
from audit.writer import Limits
from tests.audit.build import shell_action, shell_call

PLACES = ("before", "middle", "after")
LIMITS = Limits(segment_bytes=12_000, checkpoint_records=3, sync_s=0.001, idle_s=1e6, checkpoint_s=1e6)


def dying(at, place):
    """os.write's signature; the process ends at the ``at``-th call."""
    count = 0

    def write(fd, data):
        nonlocal count
        count += 1
        if count == at:
            if place != "before":
                os.write(fd, data if place == "after" else data[: len(data) // 2])
            os._exit(9)
        return os.write(fd, data)

    return write


def live(folder, write):
    log = AuditLog(folder / "audit", load_signer(folder / "keys" / "log.pem"), dict, limits=LIMITS, write=write)
    known = {ordinal for _, _, ordinal in log.known_src()}
    number = max(known, default=-1) + 1
    while True:
        around = records.Around(src={"writer": "r0", "exchange": 1, "ordinal": number})
        log.append(records.action(shell_call(f"ls /{number}"), shell_action(), around=around))
        os.write(1, b"%d\n" % number)
        number += 1


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for turn in range(int(sys.argv[2])):
        child = os.fork()
        if not child:
            live(folder, dying(2 + turn // len(PLACES) % 14, PLACES[turn % len(PLACES)]))
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != 9:
            sys.exit(1)
