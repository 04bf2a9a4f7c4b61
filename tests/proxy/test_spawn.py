"""Our own parts are started from our own folder, whatever the folder somebody works in holds."""

import subprocess

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
