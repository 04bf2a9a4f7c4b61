"""An agent whose harness acts on text: its blocks are actions once the configuration says so, and not before."""

from __future__ import annotations

import json

import pytest

from classifiers.strict_yaml import StrictYamlError
from proxy.config import build

TEXT = "Cleaning up.\n```bash\nrm -rf /srv/data\n```\n"


def reply():
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "stop_reason": "end_turn"}
    return json.dumps(
        {**message, "content": [{"type": "text", "text": TEXT}], "usage": {"input_tokens": 1, "output_tokens": 1}}
    ).encode()


ASK = {"model": "m-1", "max_tokens": 10, "messages": [{"role": "user", "content": "tidy up"}]}


@pytest.mark.parametrize(
    ("agents", "calls"),
    [
        ({}, []),
        ({"claude-*": {"text_actions": "aider"}}, [("bash", "text_action", "text")]),
        ({"codex": {"text_actions": "aider"}}, []),
    ],
)
def test_blocks_are_actions_of_configured_agents_only(make_bench, wire, agents, calls):
    bench = make_bench(agents=agents)
    bench.feed(wire.exchange(1, ASK, reply(), content_type="application/json"))
    found = bench.log.of("action")
    assert [(a["call"]["name"], a["call"]["kind"], a["call"]["observed_at"]) for a in found] == calls
    for action in found:
        assert action["classification"]["surface"] == "text_action"
        assert {effect["certainty"] for effect in action["classification"]["effects"]} == {"possible"}


def test_a_profile_that_is_none_is_a_mistake_with_its_place(tmp_path):
    file = tmp_path / "onlooker.yaml"
    file.write_text("onlooker: 1\nagents:\n  aider: {text_actions: aidr}\n", encoding="utf-8")
    with pytest.raises(StrictYamlError, match="aider: text_actions 'aidr'; expected aider or cline"):
        build(file)
