"""Clients' configurations are changed only when asked, exactly as shown, and given back byte for byte."""

import json

import pytest
from click.testing import CliRunner

from proxy.cli import cli
from proxy.install import BACKUP

SERVER = {"command": "npx", "args": ["-y", "a server"], "env": {"API_KEY": "sesame"}}
TEXT = (
    '{\n\t"theme": "dark",\n\t"mcpServers": {"files": {"command": "npx", "args": ["-y", "a server"],\n'
    '\t\t"env": {"API_KEY": "sesame"}},\n\t\t"bare": {"command": "srv"}, "far": {"url": "https://x.example/mcp"}}\n}\n\n'
)
PLACES = [
    ".config/Claude/claude_desktop_config.json", ".claude.json", ".cursor/mcp.json",
    ".codeium/windsurf/mcp_config.json", "Library/Application Support/Claude/claude_desktop_config.json",
]  # fmt: skip


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


def onlooker(home, *args):
    state = ["--state", str(home.parent / "state")] if "--state" not in args else []
    return CliRunner().invoke(cli, [*args, "--home", str(home), *state])


def put(path, text=TEXT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("place", PLACES)
def test_servers_are_wrapped_once_and_given_back_byte_for_byte(home, place):
    file = put(home / place)
    file.chmod(0o640)
    shown = onlooker(home, "install", "mcp")
    assert (shown.exit_code, file.read_text(encoding="utf-8")) == (1, TEXT), shown.output
    assert "sesame" not in shown.output
    assert onlooker(home, "install", "mcp", "--apply").exit_code == 0
    servers = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]
    words = [servers["files"]["command"], *servers["files"]["args"]]
    assert words[-6:] == ["--name", "files", "--", "npx", "-y", "a server"]
    assert servers["files"]["env"] == SERVER["env"]
    assert servers["far"] == {"url": "https://x.example/mcp"}
    assert file.stat().st_mode & 0o777 == 0o640
    wrapped = file.read_bytes()
    assert onlooker(home, "install", "mcp", "--apply").exit_code == 0
    assert file.read_bytes() == wrapped
    assert onlooker(home, "uninstall", "mcp").exit_code == 1
    assert onlooker(home, "uninstall", "mcp", "--apply").exit_code == 0
    assert file.read_text(encoding="utf-8") == TEXT
    assert [p.name for p in file.parent.iterdir() if BACKUP in p.name] == []


def test_what_was_added_meanwhile_stays_when_the_rest_is_taken_back(home):
    file = put(home / ".cursor/mcp.json")
    onlooker(home, "install", "mcp", "--apply")
    value = json.loads(file.read_text(encoding="utf-8"))
    value["mcpServers"]["new"] = {"command": "added"}
    put(file, json.dumps(value))
    assert onlooker(home, "uninstall", "mcp", "--apply").exit_code == 0
    assert json.loads(file.read_text(encoding="utf-8"))["mcpServers"] == {
        **json.loads(TEXT)["mcpServers"], "new": {"command": "added"},
    }  # fmt: skip


def test_projects_and_vs_codes_files_are_found(home):
    claude = put(home / ".claude.json", json.dumps({"projects": {"/p": {"mcpServers": {"a": {"command": "srv"}}}}}))
    code = put(home.parent / "project/.vscode/mcp.json", json.dumps({"servers": {"b": {"command": "srv"}}}))
    assert onlooker(home, "install", "mcp", "--apply").exit_code == 0
    assert json.loads(claude.read_text())["projects"]["/p"]["mcpServers"]["a"]["args"][-2:] == ["--", "srv"]
    assert json.loads(code.read_text())["servers"]["b"]["args"][-2:] == ["--", "srv"]


@pytest.mark.parametrize(
    "text",
    ["// a comment\n{}", "[]", '{"mcpServers": {}, "mcpServers": {}}', '{"mcpServers": [1]}', "\x00",
     '{"mcpServers": {"a": {"command": "x", "args": "y"}}}'],
)  # fmt: skip
def test_a_file_that_cannot_be_changed_safely_is_left_alone_and_said(home, text):
    bad, good = put(home / ".cursor/mcp.json", text), put(home / ".claude.json")
    result = onlooker(home, "install", "mcp", "--apply")
    assert (result.exit_code, "it is left alone" in result.output) == (3, True), result.output
    assert bad.read_text(encoding="utf-8") == text
    assert good.read_text(encoding="utf-8") != TEXT


def test_a_linked_configuration_stays_a_link(home):
    real = put(home.parent / "dotfiles/mcp.json")
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(real)
    onlooker(home, "install", "mcp", "--apply")
    assert (home / ".cursor/mcp.json").is_symlink()
    assert real.read_text(encoding="utf-8") != TEXT
    onlooker(home, "uninstall", "mcp", "--apply")
    assert real.read_text(encoding="utf-8") == TEXT


def test_nothing_found_is_said(home):
    result = onlooker(home, "install", "mcp")
    assert (result.exit_code, "no configuration file" in result.output) == (0, True)


HOOKS = '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]}}'


@pytest.mark.parametrize("before", [None, "{}", HOOKS])
def test_the_hook_is_put_in_once_and_taken_out_whole(home, before):
    file = home / ".claude/settings.json"
    if before is not None:
        put(file, before)
    assert onlooker(home, "install", "claude-code", "--control", "127.0.0.1:9").exit_code == 1
    assert file.exists() is (before is not None)
    for _ in range(2):
        assert onlooker(home, "install", "claude-code", "--control", "127.0.0.1:9", "--apply").exit_code == 0
    hooks = json.loads(file.read_text())["hooks"]
    urls = [h.get("url") for groups in hooks.values() for g in groups for h in g["hooks"]]
    assert urls.count("http://127.0.0.1:9/hooks/claude-code") == len(hooks)
    assert onlooker(home, "uninstall", "claude-code", "--control", "127.0.0.1:9", "--apply").exit_code == 0
    assert (file.read_text() if file.exists() else None) == before


def test_only_our_hook_goes_when_the_settings_were_changed_since(home):
    file = put(home / ".claude/settings.json", HOOKS)
    onlooker(home, "install", "claude-code", "--apply")
    put(file, json.dumps({**json.loads(file.read_text()), "model": "m"}))
    onlooker(home, "uninstall", "claude-code", "--apply")
    assert json.loads(file.read_text()) == {**json.loads(HOOKS), "model": "m"}
