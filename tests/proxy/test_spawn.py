"""Our own parts are started from our own folder, whatever the folder somebody works in holds."""

import signal
import subprocess

import pytest

from proxy.instance import signals_held
from proxy.spawn import ROOT, command, environment


def test_a_project_with_a_proxy_folder_does_not_run_in_our_place(tmp_path):
    (tmp_path / "proxy").mkdir()
    for name in ("__init__.py", "__main__.py"):
        (tmp_path / "proxy" / name).write_text("raise SystemExit('the wrong proxy ran')\n")
    asked = subprocess.run(
        command("proxy", "--version"), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout.startswith("onlooker")


def test_our_folder_comes_first_and_once(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"/elsewhere:{ROOT}")
    assert environment()["PYTHONPATH"] == f"{ROOT}:/elsewhere"


def test_an_interrupt_while_a_process_is_made_takes_effect_behind_it():
    """Raised in the middle, the process would be nobody's: it would run for ever."""
    made = []
    with pytest.raises(KeyboardInterrupt), signals_held():
        signal.raise_signal(signal.SIGINT)
        made.append("whole")
    assert made == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
