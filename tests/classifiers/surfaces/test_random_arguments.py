"""Whatever the arguments, every surface and every tool gives one Action and raises nothing."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from classifiers.call import ToolCall
from classifiers.context import Context
from classifiers.discover import discover
from classifiers.dispatch import classify
from classifiers.effects import Action
from classifiers.surface import CallParts

ROLES = [
    "command", "argv", "stdin", "cwd", "sql", "dialect", "url", "method", "body", "path", "content", "code", "language", "patch",
    "query", "operation", "actions", "action", "chars", "destination", "kind", "urls_in", "text", "append", "host", "database",
]  # fmt: skip
WORDS = st.sampled_from(["rm -rf /srv", "select 1; drop table a", "https://one.example/a", "*** Begin Patch\n*** Delete File: a", "$(x", "read",
                         "patch", "write", "navigate", "python", "DELETE", "import os\nos.remove('a')", "Remove-Item a", "\0", "é", "[", "{{"])  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=60) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*ROLES, "x"]), inner, max_size=4),
    max_leaves=12,
)
TOOLS = ["Bash", "Read", "Write", "MultiEdit", "apply_patch", "WebFetch", "computer", "memory", "shell", "multi_tool_use.parallel", "mcp__x__y",
         "mcp__postgres__query", "use_mcp_tool", "PowerShell", "code_interpreter", "write_stdin", "batch", "str_replace_editor", "zzz"]  # fmt: skip
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("surface", discover("classifiers.surfaces", "SURFACE"), ids=lambda s: s.name)
@QUICK
@given(values=st.dictionaries(st.sampled_from(ROLES), VALUES, max_size=6))
def test_a_surface_gives_an_action_or_says_it_is_not_its_own(surface, values):
    action = surface.classify(CallParts(surface.name, values), Context())
    assert action is None or isinstance(action, Action)


@QUICK
@given(tool=st.sampled_from(TOOLS), arguments=VALUES)
def test_a_call_gives_one_action_with_a_json_form(tool, arguments):
    action = classify(ToolCall(tool, arguments, arguments_valid=True))
    assert not any("the classifier failed" in note for note in action.notes), action.notes
    assert json.loads(json.dumps(action.to_json())) is not None
    assert action.complete is (not action.opaque)


@QUICK
@given(
    server=st.text(max_size=12),
    name=st.text(max_size=30),
    arguments=st.dictionaries(st.text(max_size=8), VALUES, max_size=4),
)
def test_names_of_any_kind_are_taken(server, name, arguments):
    assert classify(ToolCall(name, arguments, arguments_valid=True, server=server)).surface is not None


@QUICK
@given(tools=st.dictionaries(st.text(max_size=8), VALUES, max_size=3))
def test_user_mappings_of_any_shape_are_used_or_refused_with_a_note(tools):
    action = classify(ToolCall("Read", {"file_path": "/a"}, arguments_valid=True), Context(tools=tools))
    assert not any("the classifier failed" in note for note in action.notes)
