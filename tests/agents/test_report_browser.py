"""The session report in a real Chromium: hostile records load and run nothing, nothing is cut off, and it prints.

Everything the browser asks of the network goes to a proxy here that counts it. ``ONLOOKER_SHOTS=DIR`` keeps the pictures.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from audit import record as records
from audit.read import session
from audit.report import make_report
from audit.report_page import page
from audit.state import State
from tests.audit.build import AROUND, action_record, shell_action, shell_call

pytestmark = pytest.mark.agents
CHROMIUM = next((p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None)
HOSTILE = (
    "<img src=http://canary.example/a.png onerror=document.title='RUN'>",
    "</pre><script>document.title='RUN';fetch('http://canary.example/b')</script>",
    "<link rel=stylesheet href=http://canary.example/c.css><style>@import 'http://canary.example/d'</style>",
    "javascript:fetch('http://canary.example/e')",
    "x" * 3000,
)


class Counted:
    """Takes each connection, keeps its first bytes and closes it."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.asked: list[bytes] = []
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                self.asked.append(connection.recv(4096))

    def browse(self, folder, *flags):
        proxy = f"--proxy-server=127.0.0.1:{self.server.getsockname()[1]}"
        quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
        command = [CHROMIUM, *quiet, proxy, f"--user-data-dir={folder / 'profile'}", *flags]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.fixture
def network():
    counted = Counted()
    yield counted
    counted.server.close()


@pytest.fixture
def report(tmp_path):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with State(tmp_path / "state").open_log() as log:
        for text in HOSTILE:
            call = shell_call(f"echo {text}; rm -rf /srv/shop/cache")
            log.append(records.action(call, shell_action(text), around=AROUND))
            log.append(records.unread(content_type=text, size_bytes=1, reason=text, around=AROUND))
        for _ in range(60):
            log.append(action_record())
    path = tmp_path / "report.html"
    path.write_text(page(make_report("s-1", list(session(tmp_path / "state", "s-1")))), "utf-8")
    return path


def test_a_report_of_hostile_records_loads_and_runs_nothing(report, tmp_path, network):
    dom = network.browse(tmp_path, "--virtual-time-budget=3000", "--dump-dom", f"file://{report}")
    assert "<title>onlooker: session s-1</title>" in dom
    assert not re.search(r"<(img|script|link|iframe)\b", dom)
    assert not [a for a in network.asked if b"canary.example" in a]


@pytest.mark.parametrize("width", [1280, 500])
def test_nothing_is_wider_than_the_window(report, tmp_path, network, width):
    shots = Path(os.environ.get("ONLOOKER_SHOTS", tmp_path))
    measuring = report.with_name("measured.html")  # the policy of the page forbids scripts: here a copy without it
    script = "<script>onload=()=>document.title=document.documentElement.scrollWidth-innerWidth</script>"
    measuring.write_text(re.sub(r"<meta http-equiv[^>]*>", "", report.read_text("utf-8")) + script, "utf-8")
    size = f"--window-size={width},1400"
    dom = network.browse(tmp_path, size, "--hide-scrollbars", "--dump-dom", f"file://{measuring}")
    assert int(re.search(r"<title>(-?\d+)</title>", dom)[1]) <= 0
    network.browse(tmp_path, size, f"--screenshot={shots / f'report-{width}.png'}", f"file://{report}")


def test_it_prints_on_few_pages_with_every_section(report, tmp_path, network):
    out = Path(os.environ.get("ONLOOKER_SHOTS", tmp_path)) / "report.pdf"
    network.browse(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={out}", f"file://{report}")
    pages = len(re.findall(rb"/Type /Page\b(?!s)", out.read_bytes()))
    assert 3 <= pages <= 25  # 65 flagged calls; one word of 3,000 letters made it 56: each other column a letter wide
    if shutil.which("pdftotext") is None:
        pytest.skip("the words of the print were not read: pdftotext (poppler-utils) is not installed")
    text = subprocess.run(["pdftotext", "-layout", out, "-"], capture_output=True, text=True, check=True).stdout
    for heading in ("Flagged, worst first", "What was not seen", "Does the log", "Everything, in order"):
        assert heading in text
    assert text.count("rm -rf /srv/shop/cache") >= len(HOSTILE)
    assert "x" * 40 in text
