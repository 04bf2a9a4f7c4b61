"""A service of the user's own: what its manager is told starts exactly this onlooker, and is taken away whole."""

import os
import plistlib
import shlex
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from proxy.cli import cli
from proxy.install.service import MANAGERS

PLACES = {"systemd": ".config/systemd/user/onlooker.service", "launchd": "Library/LaunchAgents/example.onlooker.plist"}


def onlooker(*args):
    return CliRunner().invoke(cli, list(args))


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_service_is_shown_written_once_and_taken_away(tmp_path, manager):
    args = ("service", "--manager", manager, "--home", str(tmp_path))
    state = ("--state", str(tmp_path / "a state"))
    file = tmp_path / PLACES[manager]
    shown = onlooker("install", *args, *state)
    assert (shown.exit_code, file.exists(), "start it: " in shown.output) == (1, False, True), shown.output
    assert onlooker("install", *args, *state, "--apply").exit_code == 0
    written = file.read_bytes()
    assert onlooker("install", *args, *state, "--apply").exit_code == 0
    assert file.read_bytes() == written
    assert onlooker("uninstall", *args, "--apply").exit_code == 0
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_service_of_somebody_else_is_left_alone(tmp_path, manager):
    file = tmp_path / PLACES[manager]
    file.parent.mkdir(parents=True)
    file.write_text("[Unit]\nDescription=mine\n")
    for action in ("install", "uninstall"):
        result = onlooker(action, "service", "--manager", manager, "--home", str(tmp_path), "--apply")
        assert (result.exit_code, "left alone" in result.output) == (3, True)


WORDS = ["/opt/my apps/onlooker", "serve", "--state", '/home/x/50% $HOME "q"\\']


def test_the_unit_is_one_systemd_takes(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "onlooker.service"
    unit.write_bytes(MANAGERS["systemd"].text([shutil.which("env"), *WORDS[1:]]))
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_LOG_LEVEL": "warning"}
    argv = ["systemd-analyze", "--user", "--man=no", "verify", str(unit)]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "onlooker.service" not in done.stderr


def test_the_units_words_are_the_commands_words():
    """systemd's quoting, undone: %% and $$ first, then quotes as a shell reads them."""
    text = MANAGERS["systemd"].text(WORDS).decode()
    line = next(x for x in text.splitlines() if x.startswith("ExecStart=")).removeprefix("ExecStart=")
    assert shlex.split(line.replace("%%", "%").replace("$$", "$")) == WORDS


def test_the_property_list_holds_the_words_as_they_are():
    value = plistlib.loads(MANAGERS["launchd"].text(WORDS))
    assert (value["ProgramArguments"], value["RunAtLoad"]) == (WORDS, True)
