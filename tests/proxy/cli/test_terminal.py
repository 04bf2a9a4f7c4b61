"""On a terminal of 80 columns nothing that the next command wants is left out or cut."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from audit.read import records
from tests.proxy.cli.instance import ENV

COLUMNS = 80
WIDE = "a-session-with-a-name-of-36-signs-x1"


def on_a_terminal(*arguments):
    """What the command shows on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {k: v for k, v in ENV.items() if k not in {"COLUMNS", "LINES"}} | {"TERM": "dumb"}
    argv = [sys.executable, "-m", "proxy", *arguments]
    subprocess.run(argv, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=environment, check=False)
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 65536):
            shown += more
    except OSError:  # Linux says EIO at the end of a terminal
        pass
    os.close(ours)
    return shown.decode()


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A state with one flagged call, and the id of its record."""
    place = tmp_path_factory.mktemp("reviewed")
    use = {
        "type": "tool_use",
        "id": "t1",
        "name": "Bash",
        "input": {"command": "aws s3 rb s3://shop-prod-backups --force"},
    }
    line = {"type": "assistant", "sessionId": WIDE, "message": {"id": "m", "role": "assistant", "content": [use]}}
    (place / "t.jsonl").write_text(json.dumps(line) + "\n")
    argv = [sys.executable, "-m", "proxy", "scan", str(place / "t.jsonl"), "--state", str(place / "s")]
    assert subprocess.run(argv, stdout=subprocess.DEVNULL, env=ENV, check=False).returncode == 1
    (action,) = (r for r in records(place / "s" / "scan" / "audit") if r["kind"] == "action")
    return place, action["id"]


def test_a_finding_shows_the_id_that_explain_wants(reviewed):
    place, _ = reviewed
    shown = on_a_terminal("scan", str(place / "t.jsonl"), "--state", str(place / "again"))
    (action,) = (r for r in records(place / "again" / "scan" / "audit") if r["kind"] == "action")
    assert action["id"] in shown


@pytest.mark.parametrize(("command", "said"), [("tail", None), ("sessions", WIDE)])
def test_a_table_of_records_fits_and_cuts_nothing_off(reviewed, command, said):
    place, identity = reviewed
    shown = on_a_terminal("audit", command, "--state", str(place / "s" / "scan"))
    assert (said or identity) in shown
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= COLUMNS
