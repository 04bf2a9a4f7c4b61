"""Claude Code with our MCP server in its configuration: its declaration is heard on the wire, and narrows or is refused."""

import json
import sys

import pytest

from tests.agents.coding.conftest import ROOT

pytestmark = pytest.mark.agents
TOOL = "mcp__onlooker__declare_objective"


def steps(target):
    effects = [{"domain": "filesystem", "action": ["read", "create", "modify"], "target": [target]}]
    declares = {"call": TOOL, "arguments": json.dumps({"statement": "mend app.py", "scope": {"effects": effects}})}
    return (declares, {"write": "{work}/other.py", "content": "pass\n"})


CASES = [("{work}/app.py", ("in_force", None), "outside_scope"), ("/**", ("refused", "wider"), "consistent")]


@pytest.mark.parametrize(("target", "became", "verdict"), CASES)
def test_what_claude_code_declares_narrows_or_is_refused(agents, tmp_path, target, became, verdict):
    config = tmp_path / "onlooker.yaml"
    config.write_text("onlooker: 1\nmcp_server: true\n")
    handed_on = {name: "${%s}" % name for name in ("ONLOOKER_STATE", "ONLOOKER_CONFIG")} | {"PYTHONPATH": str(ROOT)}  # noqa: UP031 - braces are the client's
    server = {"command": sys.executable, "args": ["-m", "proxy", "mcp-server"], "env": handed_on}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"onlooker": server}}))
    agents.onlooker = ["--config", str(config)]
    agents.more = ["--mcp-config", str(tmp_path / "mcp.json"), "--strict-mcp-config", "--allowedTools", TOOL]
    run = agents.run("claude", through=True, script=steps(target))
    assert run.code == 0, run.stderr
    asked = {r["call"]["name"]: r for r in run.records if r["kind"] == "action"}
    assert set(asked) == {TOOL, "Write"}
    details = [r["attestation"]["detail"] for r in run.records if r["kind"] == "attestation"]
    heard = next(d for d in details if d["via"] == "call")
    assert (heard["state"], heard["reason"]) == became
    assert {d["declared"] for d in details} == {heard["declared"]}  # what the server was told is what was heard
    assert {d["via"] for d in details} == {"call", "mcp-server"}
    assert asked["Write"]["objective"]["verdict"] == verdict
    flagged = [f["rule"] for p in asked[TOOL]["policy"] for f in p["findings"] if f["result"] == "match"]
    assert ("obj.agent-widened-scope" in flagged) == (became[0] == "refused")
