"""A tool that only shapes an agent's answer: named in the configuration, and only where the request forces it."""

from __future__ import annotations

import pytest

from classifiers.strict_yaml import StrictYamlError
from proxy.config import build

TOOL = {"name": "emit_report", "description": "d", "input_schema": {"type": "object"}}
FORCED = {"type": "tool", "name": "emit_report"}


@pytest.mark.parametrize(
    ("agents", "choice", "purpose"),
    [
        ({"claude-*": {"structured_output": ["emit_report"]}}, FORCED, "structured_output"),
        ({"claude-*": {"structured_output": ["emit_report"]}}, {"type": "auto"}, "action"),
        ({"codex": {"structured_output": ["emit_report"]}}, FORCED, "action"),
        ({}, FORCED, "action"),
    ],
)
def test_a_declared_tool_is_structured_output_when_it_is_forced(make_bench, wire, agents, choice, purpose):
    bench = make_bench(agents=agents)
    ask = {"model": "m-1", "max_tokens": 9, "messages": [], "tools": [TOOL], "tool_choice": choice}
    bench.feed(wire.exchange(1, ask, wire.tool("emit_report", {"rows": 3}, "toolu_0000000001")))
    (action,) = bench.log.of("action")
    assert action["call"]["purpose"] == purpose


@pytest.mark.parametrize("value", ["emit_report", "[7]"])
def test_what_is_no_list_of_names_is_said(tmp_path, value):
    file = tmp_path / "onlooker.yaml"
    file.write_text(f"onlooker: 1\nagents:\n  coder: {{structured_output: {value}}}\n", encoding="utf-8")
    with pytest.raises(StrictYamlError, match=r"coder: structured_output .* expected a list of tool names"):
        build(file)
