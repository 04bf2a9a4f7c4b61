"""The four real agents, each with a home of its own, a mock model and nothing else to talk to.

They come from npm (``make test-agents`` installs them below tests/agents/coding); where they are not, these tests skip.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
BIN = Path(os.environ.get("ONLOOKER_AGENTS") or HERE / "node_modules" / ".bin")
# Agents from PyPI that pin their own dependencies live in environments of their own.
PYTHONS = Path(os.environ.get("ONLOOKER_PYTHON_AGENTS") or HERE / "environments")
EDIT = "a.py\n```\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n"
PROBE = "echo probe > probe.txt; exit 3"

_spec = importlib.util.spec_from_file_location("mock_model", HERE / "mock_model.py")
assert _spec is not None
mock_model = importlib.util.module_from_spec(_spec)
assert _spec.loader is not None
_spec.loader.exec_module(mock_model)


@dataclass
class Run:
    code: int
    requests: list[tuple[str, str, list[tuple[str, str]], Any]]
    probe: bool
    stderr: str
    records: list[dict[str, Any]] = field(default_factory=list)
    folder: Path = Path()


class Agents:
    """Runs one agent in a fresh home, straight at the mock or through ``onlooker run``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "home" / "work"
        self.onlooker: list[str] = []  # more flags of ``onlooker run``
        self.more: list[str] = []  # more arguments of the agent

    def run(self, name: str, *, through: bool, allowed: bool = True, script: tuple[dict[str, str], ...] = ()) -> Run:
        """``script``: steps instead of the probe, in a checkout of ``checkout``'s making, under an objective for it."""
        steps = [{k: v.replace("{work}", str(self.work)) for k, v in s.items()} for s in script]
        mock = mock_model.Mock(PROBE, script=steps, text=EDIT if name == "aider" else "done")
        state = self.folder / "state"
        shutil.rmtree(state, ignore_errors=True)
        try:
            done = self._start(name, mock.url, state if through else None, allowed=allowed, scripted=bool(script))
        finally:
            mock.close()
        made = Run(done.returncode, mock.requests, (self.work / "probe.txt").exists(), done.stderr, folder=self.work)
        if through:
            from proxy.instance import read_records

            made.records = [r for s in (state / "runs").iterdir() for r in read_records(s)]
        return made

    def run_at(self, name: str, url: str) -> Run:
        """An agent whose address is in a file of its own: it is started as its user starts it, at ``url``."""
        done = self._start(name, url, None)
        return Run(done.returncode, [], (self.work / "probe.txt").exists(), done.stderr, folder=self.work)

    def _start(
        self, name: str, url: str, state: Path | None, *, allowed: bool = True, scripted: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """``state``: through ``onlooker run`` with this state folder."""
        program = next((p for p in (BIN / name, PYTHONS / name / "bin" / name) if p.exists()), None)
        if program is None:
            pytest.skip(f"{name} is not installed: make test-agents installs it")
        home, work = self.folder / "home", self.work
        shutil.rmtree(home, ignore_errors=True)
        work.mkdir(parents=True)
        objective = checkout(work, self.folder) if scripted else None
        command, more = getattr(self, name)(home, url, allowed)
        command = [*command, *self.more]
        environment = {
            "HOME": str(home),
            "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
        }
        if state is not None:
            file = ["--config", str(home / "onlooker.yaml")] if (home / "onlooker.yaml").exists() else []
            file += [*self.onlooker, *(["--objective", str(objective)] if objective else [])]
            command = [sys.executable, "-m", "proxy", "run", *file, "--state", str(state), "--", *command]
            environment |= {"PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command,
            env=environment | more,
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300 if scripted else 120,
            check=False,
        )

    def claude(self, home: Path, url: str, allowed: bool) -> tuple[list[str], dict[str, str]]:
        command = ["claude", "-p", "run the probe", "--output-format", "stream-json", "--verbose"]
        environment = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-x",
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        }
        environment |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"}
        return [
            *command,
            *(
                ["--allowedTools", "Bash", "Read", "Edit", "Write"]
                if allowed
                else ["--disallowedTools", "Bash(echo:*)"]
            ),
        ], environment

    def codex(self, home: Path, url: str, allowed: bool) -> tuple[list[str], dict[str, str]]:
        folder = home / ".codex"
        folder.mkdir()
        lines = [
            'model = "m"',
            'model_provider = "local"',
            'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"',
        ]
        lines += [
            "[model_providers.local]",
            'name = "local"',
            f'base_url = "{url}/v1"',
            'env_key = "LOCAL_KEY"',
            'wire_api = "responses"',
        ]
        (folder / "config.toml").write_text("\n".join(lines) + "\n")
        command = ["codex", "exec", "--skip-git-repo-check", "--json", "run the probe"]
        return command, {"CODEX_HOME": str(folder), "LOCAL_KEY": "sk-x"}

    def gemini(self, home: Path, url: str, allowed: bool) -> tuple[list[str], dict[str, str]]:
        folder = home / ".gemini"
        folder.mkdir()
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": True}}
        (folder / "settings.json").write_text(json.dumps(settings))
        command = ["gemini", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash", "-p", "run the probe"]
        return command, {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url}

    def opencode(self, home: Path, url: str, allowed: bool) -> tuple[list[str], dict[str, str]]:
        options = {"baseURL": f"{url}/v1", "apiKey": "x"}
        provider = {"local": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}}
        config = {"provider": provider, "model": "local/m", "permission": {"bash": "allow", "edit": "allow"}}
        (home / "work" / "opencode.json").write_text(json.dumps(config))
        return ["opencode", "run", "run the probe"], {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }

    def aider(self, home: Path, url: str, allowed: bool) -> tuple[list[str], dict[str, str]]:
        (home / "work" / "a.py").write_text("x = 1\n")
        (home / "onlooker.yaml").write_text("onlooker: 1\nagents: {aider: {text_actions: aider}}\n")
        command = [
            "aider",
            "--model",
            "openai/m",
            "--edit-format",
            "diff",
            "--yes-always",
            "--no-git",
            "--no-analytics",
        ]
        command += [
            "--no-check-update",
            "--no-show-model-warnings",
            "--no-show-release-notes",
            "--message",
            "go",
            "a.py",
        ]
        more = {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "x", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        return command, more

    def cn(self, home: Path, url: str, allowed: bool) -> tuple[list[str], dict[str, str]]:
        """Its address is in its own file alone: ``onlooker run`` cannot move it, so ``url`` is what it is."""
        model = {"name": "m", "provider": "openai", "model": "m", "apiBase": f"{url}/v1", "apiKey": "x"}
        models = [model | {"roles": ["chat"], "capabilities": ["tool_use"]}]
        config = {"name": "local", "version": "1.0.0", "schema": "v1", "models": models}
        (home / "config.yaml").write_text(json.dumps(config))  # JSON is YAML
        command = ["cn", "--config", str(home / "config.yaml"), "--auto", "-p", "run the probe"]
        return command, {"CONTINUE_TELEMETRY_ENABLED": "0"}


FILES = {
    "app.py": "def total(prices):\n    return sum(prices) + 1\n",
    "test_app.py": "import unittest\n\nfrom app import total\n\n\nclass Total(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n",
    "README.md": "# Shop\n\nRun the tests with python3 -m unittest.\n",
    "config.json": '{"currency": "EUR"}\n',
}


def checkout(work: Path, folder: Path) -> Path:
    """A small repository with a failing test in ``work``, and the objective ``objective new`` makes of it."""
    for name, content in FILES.items():
        (work / name).write_text(content)
    who = ["-c", "user.name=dev", "-c", "user.email=dev@shop.example"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=work, check=True, capture_output=True)
    for key, value in (("user.name", "dev"), ("user.email", "dev@shop.example")):
        subprocess.run(["git", "config", key, value], cwd=work, check=True)
    argv = [sys.executable, "-m", "proxy", "objective", "new", "Mend the shop", "--out", str(folder / "objective.yaml")]
    (folder / "objective.yaml").unlink(missing_ok=True)
    subprocess.run(argv, cwd=work, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return folder / "objective.yaml"


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path)


@pytest.fixture
def mock_of() -> Iterator[Any]:
    """Mock models for clients that are no programs of their own."""
    made = []

    def make(command: str, function: str | None = None) -> Any:
        made.append(mock_model.Mock(command, function))
        return made[-1]

    yield make
    for mock in made:
        mock.close()
