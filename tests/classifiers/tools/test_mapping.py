"""Tool names and argument shapes to surfaces, through the dispatcher: the effects are those of the arguments."""

import pytest

from classifiers.call import Definition, ExecutedBy, ToolCall
from classifiers.context import Context
from classifiers.dispatch import classify
from classifiers.effects import OpaqueReason, Surface

HERE = Context(cwd="/home/dev/shop", home="/home/dev")


def read(name, arguments, context=HERE, **more):
    return classify(ToolCall(name, arguments, arguments_valid=True, **more), context)


def short(action):
    return [f"{e.action} {e.domain}:{e.target}" for e in action.effects]


CASES = [
    ("Read", {"file_path": "a.py"}, ["read filesystem:/home/dev/shop/a.py"]),
    ("read", {"filePath": "a.py"}, ["read filesystem:/home/dev/shop/a.py"]),
    ("Write", {"file_path": "a.py", "content": ""}, ["modify filesystem:/home/dev/shop/a.py"]),
    ("MultiEdit", {"file_path": "a.py", "edits": []}, ["modify filesystem:/home/dev/shop/a.py"]),
    ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": ""}, ["modify filesystem:/home/dev/shop/n.ipynb"]),
    ("TodoWrite", {"todos": []}, []),
    ("KillShell", {"shell_id": "7"}, ["control process:7"]),
    ("WebSearch", {"query": "x"}, ["receive network:None"]),
    ("WebFetch", {"url": "https://docs.shop.example/a", "prompt": "x"}, ["receive network:docs.shop.example"]),
    ("replace", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, ["modify filesystem:/home/dev/shop/a.py"]),
    ("view_image", {"path": "p.png"}, ["read filesystem:/home/dev/shop/p.png"]),
    ("apply_patch", {"type": "delete_file", "path": "p.png"}, ["delete filesystem:/home/dev/shop/p.png"]),
    ("str_replace_based_edit_tool", {"command": "view", "path": "/srv"}, ["read filesystem:/srv"]),
    ("memory", {"command": "delete", "path": "/memories/a"}, ["delete agent:/memories/a"]),
    ("requests_delete", "https://api.shop.example/a", ["send network:api.shop.example"]),
    ("mcp__filesystem__move_file", {"source": "/a", "destination": "/b"}, ["modify filesystem:/a", "modify filesystem:/b"]),
    ("mcp__postgres__query", {"sql": "select * from a"}, ["read database:db:postgres:*/*/a"]),
    ("mcp__github__merge_pull_request", {"owner": "acme", "repo": "shop"}, ["modify vcs:git:github.com/acme/shop"]),
    ("mcp__slack__slack_post_message", {"channel_id": "C1", "text": "x"}, ["send messaging:slack/C1"]),
    ("browser_navigate", {"url": "https://shop.example/"}, ["receive network:shop.example"]),
    ("multi_tool_use.parallel", {"tool_uses": [{"recipient_name": "functions.Read", "parameters": {"file_path": "/a"}}]}, ["read filesystem:/a"]),
    ("lookup_order", {"order": 3}, ["unknown unknown:None"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES, ids=[f"{c[0]} {i}" for i, c in enumerate(CASES)])
def test_a_known_tool_has_the_effects_of_its_arguments(name, arguments, expected):
    assert short(read(name, arguments)) == expected


def test_names_match_whatever_their_case():
    assert short(read("READ", {"file_path": "/a"})) == ["read filesystem:/a"]


def test_evidence_names_the_argument():
    (effect,) = read("Read", {"file_path": "a.py"}).effects
    assert (effect.evidence.path, effect.evidence.start, effect.evidence.end) == ("arguments.file_path", 0, 4)


def test_evidence_of_a_wrapped_call_goes_through_the_wrapper():
    call = {"tool_uses": [{"recipient_name": "functions.Read", "parameters": {"file_path": "/a"}}]}
    (effect,) = read("parallel", call).effects
    assert effect.evidence.path == "arguments.tool_uses[0].parameters.file_path"


@pytest.mark.parametrize(("name", "arguments", "surface", "reason"), [
    ("run_report", {"query": "select * from a"}, Surface.SQL, "guessed:argument sql"),
    ("grab", {"url": "https://shop.example/"}, Surface.HTTP, "guessed:argument url"),
    ("put", {"path": "/a", "content": "x"}, Surface.FILES, "guessed:arguments path and content"),
    ("write_sql", "select * from a", Surface.SQL, "guessed:text that is SQL"),
])  # fmt: skip
def test_a_shape_is_a_guess_and_says_so(name, arguments, surface, reason):
    action = read(name, arguments)
    assert action.surface is surface
    assert all(e.via[0] == reason for e in action.effects)


def test_a_plain_question_is_no_sql():
    action = read("ask_catalog", {"query": "which shoes are left"})
    assert [o.reason for o in action.opaque] == [OpaqueReason.PAYLOAD_UNREADABLE]


def test_an_unknown_server_with_a_well_known_tool_name_is_a_guess():
    (effect,) = read("mcp__homegrown__read_file", {"path": "/a"}).effects
    assert effect.via[0] == "mcp:homegrown/read_file"
    assert effect.via[1].startswith("guessed:")


def test_the_user_mapping_wins():
    tools = {"Read": {"effects": ["delete cloud:{text:file_path} destructive"]}}
    assert short(read("read", {"file_path": "x"}, Context(tools=tools))) == ["delete cloud:x"]


def test_a_wrong_user_mapping_is_said_once_and_the_rest_still_works():
    action = read("Read", {"file_path": "/a"}, Context(tools={"x": {"surface": "shel"}}))
    assert short(action) == ["read filesystem:/a"]
    assert any("tools: x: surface 'shel' is not known" in note for note in action.notes)


def test_annotations_are_claims_and_change_nothing():
    definition = Definition("wipe", annotations={"readOnlyHint": True, "other": 1})
    action = classify(ToolCall("wipe", {}, arguments_valid=True, definition=definition))
    assert action.claimed == {"readOnlyHint": True}
    assert action.destructive is None


def test_what_the_provider_runs_happens_at_the_provider():
    (effect,) = read("code_interpreter", {"code": "open('/mnt/data/a')"}, executed_by=ExecutedBy.PROVIDER).effects
    assert effect.where == "provider"


def test_structured_output_has_no_effects():
    assert read("final_result", {"delete": "all"}, purpose="structured_output").effects == ()


def test_arguments_that_are_not_json_are_a_parse_error():
    call = ToolCall("Bash", None, '{"command": "ls', arguments_valid=False, arguments_error="cut")
    assert [o.reason for o in classify(call).opaque] == [OpaqueReason.PARSE_ERROR]


def test_a_call_that_never_closed_is_truncated():
    call = ToolCall("Bash", None, '{"command": "ls', complete=False)
    assert [o.reason for o in classify(call).opaque] == [OpaqueReason.TRUNCATED]


def test_workdir_is_where_relative_paths_start():
    patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"
    assert short(read("apply_patch", {"input": patch, "workdir": "/srv/app"})) == ["delete filesystem:/srv/app/a.txt"]
