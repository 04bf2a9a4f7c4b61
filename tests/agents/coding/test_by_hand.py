"""Agents and libraries whose address is set by hand, as their pages in docs/agents say: one round trip, recorded whole."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from proxy.config import build
from proxy.instance import Instance

pytestmark = [pytest.mark.agents, pytest.mark.filterwarnings("default")]
HERE = Path(__file__).parent
PROBE = "echo probe > probe.txt; exit 3"
OPENHANDS = Path(os.environ.get("ONLOOKER_PYTHON_AGENTS") or HERE / "environments") / "openhands" / "bin" / "python"


@pytest.fixture
def through(tmp_path, mock_of):
    """``through(command, function)`` -> (address of the route, the mock, the instance)."""
    made = []

    def start(command, function=None):
        mock = mock_of(command, function)
        settings = {"state": str(tmp_path / "s"), "listen": "127.0.0.1:0", "control": "127.0.0.1:0"}
        instance = Instance.start(build(None, {**settings, "routes": {"m": {"url": mock.url, "agui": False}}}))
        made.append(instance)
        return f"{instance.base}/m", mock, instance

    yield start
    for instance in made:
        instance.stop()


def the_call(instance):
    instance.stop()
    records = instance.records()
    (action,) = [r for r in records if r["kind"] == "action"]
    (outcome,) = [r for r in records if r["kind"] == "outcome"]
    assert outcome["action"] == action["id"]
    assert [r for r in records if r["kind"] in {"gap", "analysis_failed", "opaque_flow"}] == []
    return action


def test_aider_is_told_by_the_command_and_its_edit_is_read_from_the_text(agents):
    run = agents.run("aider", through=True)
    assert run.code == 0, run.stderr
    assert (run.folder / "a.py").read_text() == "x = 2\n"
    (action,) = [r for r in run.records if r["kind"] == "action"]
    assert (action["agent"]["id"], action["call"]["kind"]) == ("aider", "text_action")
    assert any("a.py" in (e["target"] or "") for e in action["classification"]["effects"])
    (end,) = [r for r in run.records if r["kind"] == "session" and r["event"] == "end"]
    assert end["summary"]["text_actions"] == "read"


def test_continue_asks_through_its_api_base(agents, through):
    base, _, instance = through(PROBE)
    run = agents.run_at("cn", base)
    assert (run.code, run.probe) == (0, True), run.stderr
    instance.stop()
    (action,) = [r for r in instance.records() if r["kind"] == "action"]
    assert any("probe.txt" in (e["target"] or "") for e in action["classification"]["effects"])
    assert action["call"]["advertised"] == "yes"


def test_openhands_asks_through_its_base_url(tmp_path, through):
    if not OPENHANDS.exists():
        pytest.skip(
            "OpenHands is not installed (it needs Python 3.12): make test-agents installs it where there is one"
        )
    base, _, instance = through("echo probe > probe.txt")  # its shell stays open: no exit
    work = tmp_path / "work"
    work.mkdir()
    environment = {
        "HOME": str(tmp_path),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    argv = [str(OPENHANDS), str(HERE / "openhands_agent.py"), f"{base}/v1", str(work)]
    done = subprocess.run(argv, env=environment, cwd=work, capture_output=True, text=True, timeout=150, check=False)
    assert (done.returncode, (work / "probe.txt").exists()) == (0, True), done.stderr[-2000:]
    action = the_call(instance)
    assert any("probe.txt" in (e["target"] or "") for e in action["classification"]["effects"])


TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


@pytest.mark.parametrize(("model", "protocol", "suffix"), [
    ("openai/m", "openai-chat", "/v1"), ("anthropic/m", "anthropic-messages", ""),
])  # fmt: skip
def test_litellm_asks_through_its_api_base(monkeypatch, through, model, protocol, suffix):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    base, _, instance = through("true", "weather")
    asked = {"model": model, "api_base": base + suffix, "api_key": "x", "tools": [TOOL], "num_retries": 0}
    history = [{"role": "user", "content": "weather?"}]
    message = litellm.completion(messages=history, **asked).choices[0].message
    (call,) = message.tool_calls
    assert json.loads(call.function.arguments) == {"city": "Oslo"}
    history += [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
    assert litellm.completion(messages=history, **asked).choices[0].message.content == "done"
    action = the_call(instance)
    assert (action["call"]["name"], action["exchange"]["protocol"]) == ("weather", protocol)


def test_a_langgraph_agent_asks_through_its_models_base_url(through):
    agents = pytest.importorskip("langchain.agents")
    langchain_openai = pytest.importorskip("langchain_openai")
    tools = pytest.importorskip("langchain_core.tools")
    base, _, instance = through("true", "weather")

    @tools.tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return f"rain in {city}"

    model = langchain_openai.ChatOpenAI(model="m", api_key="x", base_url=f"{base}/v1")
    answer = agents.create_agent(model, [weather]).invoke({"messages": [("user", "weather?")]})
    assert answer["messages"][-1].content == "done"
    assert the_call(instance)["call"]["name"] == "weather"
