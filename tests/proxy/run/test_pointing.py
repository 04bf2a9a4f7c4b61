"""An agent is pointed at onlooker by what it reads anyway; where the user pointed it before is where its traffic goes."""

import json

import pytest

from proxy.cli._pointing import address_of
from proxy.run.pointing import point, profile_of, profiles

ADDRESS = address_of("127.0.0.1:9")


def pointed(agent, tmp_path, environment=None):
    return point(profiles()[agent], environment or {}, tmp_path, ADDRESS)


COMMANDS = [
    ("claude", "claude-code"),
    ("/opt/bin/codex", "codex"),
    ("gemini", "gemini-cli"),
    ("opencode", "opencode"),
    ("aider", "aider"),
    ("cn", "continue"),
    ("python3", "generic"),
]


@pytest.mark.parametrize(("program", "agent"), COMMANDS)
def test_the_program_says_which_profile(program, agent):
    assert profile_of([program, "-p", "x"])["agent"] == agent


@pytest.mark.parametrize("agent", sorted(profiles()))
def test_every_profile_names_its_source_and_only_routes_there_are(agent):
    from proxy.config import built_in_routes

    profile = profiles()[agent]
    assert profile["source"]
    assert {v["route"] for v in profile["variables"]} <= set(built_in_routes())


def test_claude_code_keeps_loading_its_tools_late(tmp_path):
    variables = pointed("claude-code", tmp_path).variables
    assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9/anthropic"
    assert variables["ENABLE_TOOL_SEARCH"] == "true"


def test_behind_a_gateway_of_the_users_own_nothing_else_changes(tmp_path):
    found = pointed("claude-code", tmp_path, {"ANTHROPIC_BASE_URL": "https://gateway.example/llm/"})
    assert found.routes["anthropic"] == {"url": "https://gateway.example/llm", "agui": False}
    assert "ENABLE_TOOL_SEARCH" not in found.variables


def test_a_base_url_with_the_sdks_suffix_keeps_it(tmp_path):
    found = pointed(
        "generic", tmp_path, {"OPENAI_BASE_URL": "https://gw.example/v1", "GROQ_BASE_URL": "https://gw.example/groq"}
    )
    assert (found.routes["openai"]["url"], found.variables["OPENAI_BASE_URL"]) == (
        "https://gw.example",
        "http://127.0.0.1:9/openai/v1",
    )
    assert found.variables["GROQ_BASE_URL"] == "http://127.0.0.1:9/groq"


def test_an_address_that_is_no_url_is_left_alone(tmp_path):
    assert "OLLAMA_HOST" not in pointed("generic", tmp_path, {"OLLAMA_HOST": "10.0.0.5:11434"}).variables


def test_the_objective_stands_in_the_address():
    assert address_of("127.0.0.1:9", "obj-1.ab12")("openai") == "http://127.0.0.1:9/o/obj-1.ab12/openai"


def test_codex_is_pointed_on_its_command_line(tmp_path):
    assert pointed("codex", tmp_path).arguments == ("-c", 'openai_base_url="http://127.0.0.1:9/openai/v1"')


def test_codex_with_a_provider_of_its_own_is_routed_to_that_provider(tmp_path):
    home = tmp_path / "codex-home"
    home.mkdir()
    (home / "config.toml").write_text(
        'model_provider = "local"\n[model_providers.local]\nbase_url = "http://127.0.0.1:1/v1"\n'
    )
    found = pointed("codex", tmp_path, {"CODEX_HOME": str(home)})
    assert found.arguments == ("-c", 'model_providers.local.base_url="http://127.0.0.1:9/codex"')
    assert found.routes["codex"]["url"] == "http://127.0.0.1:1/v1"


def test_opencodes_providers_are_overridden_and_its_own_settings_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".config/opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text(
        '{"provider": {"local": {"options": {"baseURL": "http://127.0.0.1:1/v1", "apiKey": "x"}}}}'
    )
    found = pointed("opencode", tmp_path, {"OPENCODE_CONFIG_CONTENT": '{"theme": "dark"}'})
    content = json.loads(found.variables["OPENCODE_CONFIG_CONTENT"])
    assert content["theme"] == "dark"
    assert content["provider"]["local"] == {"options": {"baseURL": "http://127.0.0.1:9/opencode-local"}}
    assert found.routes["opencode-local"]["url"] == "http://127.0.0.1:1/v1"
