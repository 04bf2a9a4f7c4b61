"""Hooks of Codex, Gemini CLI and OpenCode: shown first, put in once, working as written, taken out whole."""

import http.server
import json
import os
import shutil
import subprocess
import threading

import pytest
from click.testing import CliRunner

from proxy.cli import cli
from proxy.install import BACKUP
from proxy.install.command_hooks import CODEX, GEMINI, command

FILES = {
    "codex": (".codex/hooks.json", "hooks/codex"),
    "gemini": (".gemini/settings.json", "hooks/gemini-cli"),
    "opencode": (".config/opencode/plugins/onlooker.js", "hooks/opencode"),
}
MINE = '{"theme": "x", "hooks": {"PreToolUse": [{"matcher": "B", "hooks": [{"type": "command", "command": "mine"}]}]}}'


def onlooker(home, *args):
    return CliRunner().invoke(cli, [*args, "--home", str(home)])


@pytest.mark.parametrize("client", FILES)
def test_a_hook_is_shown_put_in_once_and_taken_out_whole(tmp_path, client):
    file = tmp_path / FILES[client][0]
    shown = onlooker(tmp_path, "install", client, "--control", "127.0.0.1:9")
    assert (shown.exit_code, file.exists(), "127.0.0.1:9" in shown.output) == (1, False, True), shown.output
    made = onlooker(tmp_path, "install", client, "--control", "127.0.0.1:9", "--apply")
    assert (made.exit_code, made.output.endswith("written; there was no such file\n")) == (0, True), made.output
    text = file.read_text()
    assert FILES[client][1] in text
    again = onlooker(tmp_path, "install", client, "--control", "127.0.0.1:9", "--apply")
    assert (again.exit_code, file.read_text()) == (0, text)
    assert onlooker(tmp_path, "uninstall", client).exit_code == 1
    gone = onlooker(tmp_path, "uninstall", client, "--apply")
    assert (gone.exit_code, gone.output.endswith("removed\n")) == (0, True), gone.output
    assert (file.exists(), [p for p in file.parent.iterdir() if BACKUP in p.name]) == (False, [])


@pytest.mark.parametrize("client", ["codex", "gemini"])
def test_hooks_of_others_stay_byte_for_byte(tmp_path, client):
    file = tmp_path / FILES[client][0]
    file.parent.mkdir(parents=True)
    file.write_text(MINE)
    onlooker(tmp_path, "install", client, "--control", "127.0.0.1:9", "--apply")
    assert json.loads(file.read_text())["hooks"]["PreToolUse"][0]["hooks"] == [{"type": "command", "command": "mine"}]
    onlooker(tmp_path, "uninstall", client, "--control", "127.0.0.1:9", "--apply")
    assert file.read_text() == MINE


def test_a_plugin_of_somebody_else_is_left_alone(tmp_path):
    file = tmp_path / FILES["opencode"][0]
    file.parent.mkdir(parents=True)
    file.write_text("export const Mine = 1\n")
    for action in ("install", "uninstall"):
        result = onlooker(tmp_path, action, "opencode", "--apply")
        assert (result.exit_code, "left alone" in result.output) == (3, True)
    assert file.read_text() == "export const Mine = 1\n"


class Control(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers.get("X-Onlooker-Pid"), body))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


@pytest.mark.parametrize("client", [CODEX, GEMINI], ids=["codex", "gemini"])
def test_the_command_posts_what_it_is_given_and_has_no_opinion(client):
    """Run by a shell, as the clients do; with nobody listening it is as silent."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    server = http.server.HTTPServer(("127.0.0.1", 0), Control)
    server.got = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        **os.environ,
        "ONLOOKER_CONTROL": f"127.0.0.1:{server.server_port}",
        "http_proxy": "http://127.0.0.1:1",
    }
    written = command(client.name, "127.0.0.1:1")
    done = subprocess.run(["sh", "-c", written], input=b'{"a": 1}', env=environment, capture_output=True, check=False)
    server.shutdown()
    server.server_close()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert server.got == [(f"/hooks/{client.name}", str(os.getpid()), b'{"a": 1}')]
    alone = subprocess.run(["sh", "-c", written], input=b"{}", capture_output=True, check=False)
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, b"", b"")
