"""Editors: the YAML language server completes and marks policy files from our schema. Needs npm (make test-agents)."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from policies.schema import objective_schema, policy_schema

pytestmark = pytest.mark.agents

POLICY = """# yaml-language-server: $schema=./policy.schema.json
policy: 1
id: acme.x
rules:
  - id: acme.r
    severity: high
    match:
      effects:
        - domain: filesystem
          action:@
      where:
        agent.team: dba
""".replace("@", " ")


class Server:
    """Just enough of the Language Server Protocol over standard input and output."""

    def __init__(self, program, folder):
        command = ["node", str(program), "--stdio"]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.told = {}
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        raw = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.told[message["params"]["uri"]] = [d["message"] for d in message["params"]["diagnostics"]]
        elif "method" in message and "id" in message:  # it asks for configuration and the like
            items = message.get("params", {}).get("items") if isinstance(message.get("params"), dict) else None
            self.send({"id": message["id"], "result": [None] * len(items) if items else None})
        return message

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (message := self.read()).get("id") != self.number or "method" in message:
            pass
        return message["result"]

    def open(self, path):
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": path.read_text()}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        while uri not in self.told:
            self.read()
        return uri

    def complete(self, uri, line, character):
        found = self.ask(
            "textDocument/completion",
            {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}},
        )
        return {item["label"] for item in (found["items"] if isinstance(found, dict) else found)}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not here")
    folder = tmp_path_factory.mktemp("editor")
    done = subprocess.run(
        [npm, "i", "yaml-language-server", "--no-audit", "--no-fund"],
        cwd=folder,
        check=False,
        capture_output=True,
        timeout=120,
    )
    if done.returncode:
        pytest.skip("the language server could not be installed")
    (folder / "policy.schema.json").write_text(json.dumps(policy_schema()))
    (folder / "objective.schema.json").write_text(json.dumps(objective_schema()))
    running = Server(folder / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server", folder)
    yield folder, running
    running.process.kill()
    running.process.wait()
    running.process.stdin.close()
    running.process.stdout.close()


def test_an_editor_completes_values_fields_and_keys(server):
    folder, running = server
    (folder / "p.yaml").write_text(POLICY)
    uri = running.open(folder / "p.yaml")
    assert {"delete", "modify", "grant"} <= running.complete(uri, 9, 18)
    assert {"agent.id", "session.counts.deletes"} <= running.complete(uri, 11, 8)
    assert {"description", "exceptions", "tests"} <= running.complete(uri, 5, 4)


def test_an_editor_marks_what_the_checker_refuses(server):
    folder, running = server
    (folder / "bad.yaml").write_text(POLICY.replace("severity: high", "deny: true").replace("filesystem", "filesytem"))
    said = " ".join(running.told[running.open(folder / "bad.yaml")])
    assert "deny" in said
    (folder / "good.yaml").write_text(POLICY.replace("action: \n", "action: delete\n"))
    assert running.told[running.open(folder / "good.yaml")] == []


def test_an_editor_accepts_an_objective(server):
    folder, running = server
    text = "# yaml-language-server: $schema=./objective.schema.json\nobjective: 1\nid: fix\nscope: {run: [tests]}\nbudget: {bytes_out: 50MB}\n"
    (folder / "o.yaml").write_text(text)
    assert running.told[running.open(folder / "o.yaml")] == []
    (folder / "o2.yaml").write_text(text.replace("scope", "allow"))
    assert "allow" in " ".join(running.told[running.open(folder / "o2.yaml")])


DOCS = Path(__file__).parents[2] / "docs"
KINDS = {"policy": "policy", "objective": "objective"}


def examples():
    """Whole files among the YAML blocks of the documentation: (page and number, kind, text)."""
    for page in ("policy.md", "objectives.md", "policy-cookbook.md", "quickstart.md"):
        blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
        for number, block in enumerate(blocks):
            kind = next((k for k in KINDS if re.search(rf"^{k}: 1$", block, re.MULTILINE)), None)
            if kind:
                yield f"{page.removesuffix('.md')}-{number}", kind, block


def test_an_editor_has_nothing_to_say_against_the_examples(server):
    folder, running = server
    seen = []
    for name, kind, text in examples():
        own = "\n".join(line for line in text.split("\n") if "yaml-language-server" not in line)
        file = folder / f"{name}.yaml"
        file.write_text(f"# yaml-language-server: $schema=./{kind}.schema.json\n{own}")
        assert (name, running.told[running.open(file)]) == (name, [])
        seen.append(kind)
    assert set(seen) == set(KINDS)
