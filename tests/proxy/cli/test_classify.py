"""``onlooker classify``, ``knowledge`` and ``scorecard``: the shapes scripts depend on."""

import json

import pytest
from click.testing import CliRunner

from proxy.cli import cli
from proxy.scorecard.card import rows
from proxy.scorecard.peers import Said


def run(*args, text=None):
    return CliRunner().invoke(cli, list(args), input=text)


def test_classify_underlines_the_words_and_names_the_knowledge():
    out = run("classify", "sudo rm -rf build").output
    assert "delete filesystem:build" in out
    assert "~~~~~" in out
    assert "coreutils/rm.yaml:" in out


def test_classify_json_has_the_contract_s_keys():
    got = json.loads(run("classify", "--json", "--cwd", "/srv", "rm x").output)
    assert set(got) == {
        "id",
        "surface",
        "complete",
        "destructive",
        "reversibility",
        "parsers",
        "effects",
        "flows",
        "opaque",
    }
    assert got["effects"][0]["target"] == "/srv/x"
    assert set(got["effects"][0]["evidence"]) == {"path", "start", "end"}


def test_jsonl_answers_every_line_in_order_and_survives_a_bad_one():
    lines = ['{"id": 1, "command": "ls"}', "nonsense", '{"id": 3}', '{"id": 4, "command": "rm x", "cwd": "/a"}']
    out = [json.loads(line) for line in run("classify", "--jsonl", text="\n".join(lines)).output.splitlines()]
    assert [o["id"] for o in out] == [1, None, 3, 4]
    assert "error" in out[1]
    assert out[3]["destructive"] is True


def test_no_command_is_a_usage_error():
    assert run("classify").exit_code == 2


def test_knowledge_check_tells_a_failing_example_and_a_broken_file(tmp_path):
    good = tmp_path / "a.yaml"
    good.write_text('family: f\nsource: s\ncommands:\n  "zz":\n    effects: []\n    examples: {"rm x": []}\n', "utf-8")
    failing = run("knowledge", "check", str(good))
    assert failing.exit_code == 1
    assert "not expected: delete filesystem:x" in failing.output
    good.write_text("family: f\ncommands: {}\n", "utf-8")
    assert run("knowledge", "check", str(good)).exit_code == 3


def test_scorecard_counts_and_leaves_disputes_out(tmp_path):
    labelled = [
        {"id": "a", "command": "ls", "shell": "bash", "labels": {"safe": True}},
        {"id": "b", "command": "rm x", "shell": "bash", "labels": {"safe": True}},
    ]
    corpus = tmp_path / "dippy.jsonl"
    corpus.write_text("\n".join(map(json.dumps, labelled)), "utf-8")
    assert "1 of 2" in run("scorecard", str(tmp_path)).output
    disputes = tmp_path / "d.yaml"
    disputes.write_text('disputes: {"b": it deletes}\n', "utf-8")
    assert "1 of 1" in run("scorecard", str(tmp_path), "--disputes", str(disputes)).output


def test_the_scorecard_asks_a_peer_the_same_questions():
    row = next(r for r in rows() if r.name == "called dangerous: not silent while complete")
    item = {"id": "a", "command": "x", "shell": "bash", "labels": {"destructive": True}}
    for said in (Said(True, None), Said(True, True), Said(False, None)):
        row.see_peers("dcg", item, {"other": said})
    row.see_peers("dippy", item, {"other": Said(True, True)})
    assert row.peers_good["other"] == 2


def test_the_scorecard_counts_labelled_effects_one_by_one(tmp_path):
    labels = {"effects": [{"domain": "filesystem", "action": "delete", "target": "/srv/x"}], "destructive": True}
    other = {"effects": [{"domain": "cloud", "action": "delete"}], "destructive": True}
    rows_ = [
        {"id": "a", "command": "rm x; cat y", "shell": "bash", "labels": labels},
        {"id": "b", "command": "./deploy.sh | frob", "shell": "bash", "labels": other},
    ]
    (tmp_path / "hard_cases.jsonl").write_text("\n".join(map(json.dumps, rows_)), "utf-8")
    lines = {
        line[:52].strip(): line[52:].split("%")[0].split()
        for line in run("scorecard", str(tmp_path)).output.splitlines()
    }
    assert lines["labelled effects present (recall)"][:3] == ["1", "of", "2"]
    assert lines["the same, with a target"][:3] == ["1", "of", "1"]
    assert lines["effects told that a label names (precision)"][:3] == ["1", "of", "4"]
    assert lines["labelled effects present where complete is claimed"][:3] == ["1", "of", "1"]


@pytest.mark.parametrize(
    ("command", "function", "good"),
    [
        ("cat /etc/motd", "file-read", 1),
        ("cat /etc/motd", "file-write", 0),
        ("awk 'BEGIN {system(\"/bin/dash\")}'", "shell", 1),
        ("awk 'BEGIN {system(\"/bin/dash\")}'", "file-upload", 0),
        ("frobnicate a", "shell", 0),
        ("wget -q https://files.example/a -O a", "download", 1),
    ],
)
def test_an_escape_counts_when_its_function_shows(tmp_path, command, function, good):
    row = {"id": "a", "command": command, "shell": "bash", "labels": {"function": function}}
    (tmp_path / "gtfobins.jsonl").write_text(json.dumps(row), "utf-8")
    line = next(line for line in run("scorecard", str(tmp_path)).output.splitlines() if line.startswith("gtfobins"))
    assert f"{good} of 1" in line
