"""The file ``init`` writes is the default configuration; ``logs`` prints nothing a terminal would obey."""

import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from proxy.cli import cli
from proxy.config import build
from proxy.config_file import read_file
from proxy.settings import Config


def run(*args):
    return CliRunner().invoke(cli, list(args))


def test_every_line_of_the_first_file_is_the_default(tmp_path):
    path = tmp_path / "onlooker.yaml"
    assert run("init", str(path)).exit_code == 0
    assert replace(build(path), file=None) == build()
    assert set(read_file(path)) <= set(Config.__dataclass_fields__) | {"onlooker", "session"}


def test_a_file_that_is_there_is_left_as_it_is(tmp_path):
    path = tmp_path / "onlooker.yaml"
    path.write_text("mine")
    assert (run("init", str(path)).exit_code, path.read_text()) == (3, "mine")
    assert run("init", str(tmp_path / "no" / "x.yaml")).exit_code == 3


def test_the_last_lines_are_shown_with_their_escapes_shown(tmp_path):
    (tmp_path / "serve.log").write_bytes(b"".join(b"line %d\n" % n for n in range(99)) + b"\x1b[2Jred\xff\n")
    result = run("logs", "--state", str(tmp_path), "-n", "2")
    assert result.exit_code == 0
    assert "line 98" in result.output
    assert "line 97" not in result.output
    assert "\x1b" not in result.output


@pytest.mark.parametrize("name", ["none", "."])
def test_no_log_is_said(tmp_path, name):
    assert run("logs", "--state", str(tmp_path / name)).exit_code == 4


def test_init_on_a_full_disk_says_so_and_leaves_no_half_a_file(tmp_path):
    file = tmp_path / "onlooker.yaml"
    program = (
        "import resource, signal; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); from proxy.entry import main; main()"
    )
    argv = [sys.executable, "-c", program, "init", str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, f"onlooker: {file}: File too large\n")
    assert not file.exists()
