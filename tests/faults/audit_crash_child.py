"""Appends records until it is killed; each acknowledged id goes to standard output. Run by test_audit_crash.py.

Arguments: state folder, first number. Files rotate and checkpoints come often, so that a kill falls between any two steps.
"""

import sys
from pathlib import Path

from audit import record as records
from audit.checkpoint import load_signer
from audit.log import AuditLog
from audit.retention import Retention, housekeeping
from audit.writer import Limits
from tests.audit.build import shell_action, shell_call

folder, number = Path(sys.argv[1]), int(sys.argv[2])
limits = Limits(segment_bytes=20_000, checkpoint_records=7, sync_records=8, sync_s=0.002, idle_s=0.05)
log = AuditLog(
    folder / "audit",
    load_signer(folder / "keys" / "log.pem"),
    dict,
    limits=limits,
    after_rotation=housekeeping(Retention(max_bytes=1 << 40)),
)
known = {ordinal for _, _, ordinal in log.known_src()}
while True:
    if number not in known:  # what recovery found written is not written again
        around = records.Around(src={"writer": "r0", "exchange": 1, "ordinal": number})
        log.append(records.action(shell_call(f"ls /{number}"), shell_action(), around=around))
    if number % 5 == 0 and log.wait_acknowledged(log.next_seq - 1):
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    number += 1
