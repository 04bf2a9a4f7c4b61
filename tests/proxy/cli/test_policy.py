"""``onlooker policy`` and ``onlooker objective``: formats and exit codes."""

import json

import jsonschema
import pytest
from click.testing import CliRunner

from classifiers.effects import Effect
from classifiers.strict_yaml import load
from policies.source import RULES, STARTER_FILE
from proxy.cli.objective import COMMAND as OBJECTIVE
from proxy.cli.policy import COMMAND as POLICY

GOOD = """policy: 1
id: acme.x
rules:
  - id: acme.delete
    severity: high
    match: {effects: [{domain: filesystem, action: delete, target: /srv/**}]}
    tests:
      - {call: {tool: bash, arguments: {command: "git status && rm -rf /srv/app"}}, expect: match}
      - {call: {tool: Bash, arguments: {command: "ls /srv"}}, expect: no_match}
      - {action: {tool: Bash, effects: [{domain: filesystem, action: delete}]}, expect: undetermined}
"""
OBJ = """objective: 1
id: fix
scope:
  effects: [{domain: filesystem, action: [read, modify], target: /home/dev/shop/**}]
tests: [{call: {tool: Edit, arguments: {file_path: /etc/hosts, old_string: a, new_string: b}}, expect: outside_scope}]
"""


@pytest.fixture
def run(tmp_path):
    def call(group, *args, stdin=None, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        resolved = [a.replace("DIR/", f"{tmp_path}/") for a in args]
        return CliRunner().invoke(group, resolved, input=stdin)

    return call


def test_check_says_ok_or_every_mistake_with_exit_three(run):
    assert run(POLICY, "check", "DIR/p.yaml", p=GOOD).output == "1 ok\n"
    out = run(POLICY, "check", "DIR/p.yaml", p=GOOD.replace("delete, target", "remove, target").replace("high", "hihg"))
    assert out.exit_code == 3
    assert [line.rpartition(": ")[2] for line in out.output.splitlines()] == [
        "'severity' cannot be 'hihg'; did you mean 'high'?",
        "'action' cannot be 'remove'; did you mean 'delete'?",
    ]


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_check_speaks_to_machines(run, form):
    out = run(POLICY, "check", "-", "--format", form, stdin=GOOD.replace("high", "block"))
    assert out.exit_code == 3
    if form == "github":
        assert out.output.startswith("::error file=-,line=5,col=15,title=value::onlooker only flags")
        return
    value = json.loads(out.output)
    place = value[0] if form == "json" else value["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert (place.get("line") or place.get("startLine")) == 5


def test_warnings_are_told_and_fail_only_when_asked(run):
    text = GOOD.partition("    tests:")[0]
    assert run(POLICY, "check", "DIR/p.yaml", p=text).exit_code == 0
    out = run(POLICY, "check", "--strict", "DIR/p.yaml", p=text)
    assert (out.exit_code, "warning: rule 'acme.delete' has no tests" in out.output) == (1, True)


def test_tests_run_through_the_classifier_and_fail_with_exit_one(run, tmp_path):
    out = run(POLICY, "test", "DIR/p.yaml", "--coverage", "--min", "100", "--junit", "DIR/j.xml", p=GOOD)
    assert out.exit_code == 0
    assert "3 passed, 0 failed; 100 % of 1 rules have tests" in out.output
    assert 'tests="3" failures="0"' in (tmp_path / "j.xml").read_text()
    out = run(POLICY, "test", "DIR/p.yaml", p=GOOD.replace("expect: no_match", "expect: match"))
    assert out.exit_code == 1
    assert "acme.delete: expected match, got no_match" in out.output
    assert run(POLICY, "test", "DIR/p.yaml", "--min", "100", p=GOOD.partition("    tests:")[0]).exit_code == 1
    assert run(POLICY, "test", "DIR/p.yaml", p="rules: [").exit_code == 3


def test_the_starter_library_passes_its_tests_from_the_command_line(run):
    assert run(POLICY, "test", "onlooker:starter", "--min", "100").exit_code == 0


def test_the_schemas_accept_what_the_checker_accepts(run):
    schema = json.loads(run(POLICY, "schema").output)
    check = jsonschema.Draft7Validator(schema)
    jsonschema.Draft7Validator.check_schema(schema)
    for file in (*sorted(RULES.glob("*.yaml")), STARTER_FILE):
        assert list(check.iter_errors(load(file.read_text("utf-8"), file.name).value)) == [], file.name
    assert check.is_valid(load(GOOD, "p").value)
    assert not check.is_valid(load(GOOD.replace("match:", "deny:"), "p").value)
    assert not check.is_valid(load(GOOD.replace("action: delete", "action: remove"), "p").value)
    objective = jsonschema.Draft7Validator(json.loads(run(POLICY, "schema", "--objective").output))
    assert objective.is_valid(load(OBJ, "o").value)
    assert not objective.is_valid(load(OBJ.replace("scope:", "allow:"), "o").value)


def test_docs_are_made_from_the_tables(run):
    assert "| `agent.id` | text |" in run(POLICY, "docs").output
    assert "| `exec.reverse-shell` | critical | stable |" in run(POLICY, "docs", "onlooker:starter").output


def test_fmt_changes_layout_and_never_meaning(run, tmp_path):
    messy = GOOD.replace("\n", "  \r\n") + "\n\n\n"
    assert run(POLICY, "fmt", "--check", "DIR/p.yaml", p="# x\n\n\n" + messy).exit_code == 1
    assert run(POLICY, "fmt", "--schema", "./s.json", "DIR/p.yaml").exit_code == 0
    text = (tmp_path / "p.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=./s.json\n# x\n\npolicy: 1\n")
    assert load(text, "p").value == load(GOOD, "p").value
    assert run(POLICY, "fmt", "--check", "DIR/p.yaml").exit_code == 0
    block = "policy: 1\nid: a.b\ndescription: |+\n  x\n\n\nrules: []\n"
    assert run(POLICY, "fmt", "DIR/q.yaml", q=block).exit_code == 3, "blank lines that mean something stay"


def test_explain_shows_the_evidence_the_tree_and_what_would_change(run):
    out = run(POLICY, "explain", "--policy", "DIR/p.yaml", "--cwd", "/srv", "--", "rm -rf app", p=GOOD)
    assert out.exit_code == 0
    assert "effect 0: delete filesystem:/srv/app recursive irreversible destructive" in out.output
    assert "+ acme.delete: match: true" in out.output
    assert "it would change if 'target is /srv/**' were not so" in out.output
    out = run(POLICY, "explain", "--policy", "DIR/p.yaml", "--rule", "acme.delete", "--json", "--", "rm -rf $X")
    assert json.loads(out.output)["rules"][0]["tree"]["value"] is None
    assert run(POLICY, "explain", "--policy", "DIR/bad.yaml", "--", "ls", bad="nonsense").exit_code == 3
    assert run(POLICY, "explain", "--state", "DIR/", "log:1").exit_code == 3


def _log(tmp_path, effects):
    lines = [
        json.dumps(
            {
                "kind": "action",
                "id": f"l:{i}",
                "seq": i,
                "ts": "2026-11-30T08:00:00Z",
                "session": {"id": "s"},
                "agent": {"id": "coder"},
                "call": {"name": "Bash"},
                "classification": {"effects": [Effect.parse(e).to_json()]},
            },
            separators=(",", ":"),
        )
        for i, e in enumerate(effects)
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")


def test_explain_finds_a_recorded_action(run, tmp_path):
    _log(tmp_path, ["delete filesystem:/srv/a", "read filesystem:/srv/a"])
    out = run(POLICY, "explain", "--policy", "DIR/p.yaml", "--log", "DIR/log.jsonl", "l:0", p=GOOD)
    assert "+ acme.delete: match" in out.output
    assert run(POLICY, "explain", "--log", "DIR/log.jsonl", "l:9").exit_code == 3


def test_explain_of_a_record_keeps_the_verdict_that_was_recorded(run, tmp_path):
    _log(tmp_path, ["delete filesystem:/srv/a"])
    record = json.loads((tmp_path / "log.jsonl").read_text())
    entry = {"effect": 0, "verdict": "contradicts", "reason": "forbidden", "at": "o.yaml:9:5", "note": "no-deploy"}
    bound = {"id": "fix", "hash": "sha256:0", "trust": "launcher", "bound_by": "path_segment"}
    record["objective"] = {**bound, "verdict": "contradicts", "severity": "high", "trail": [entry]}
    (tmp_path / "log.jsonl").write_text(json.dumps(record, separators=(",", ":")) + "\n")
    out = run(POLICY, "explain", "--log", "DIR/log.jsonl", "l:0")
    assert out.exit_code == 0
    assert "effect 0: contradicts forbidden no-deploy (o.yaml:9:5)" in out.output
    assert "+ obj.contradicts: match: true" in out.output


def test_a_scope_is_drafted_from_what_was_seen_with_its_evidence(run, tmp_path):
    effects = ["modify filesystem:/home/dev/shop/a.py", "read secrets:~/.netrc", "create packages:pypi:x==1"] * 10
    _log(tmp_path, effects)
    out = run(OBJECTIVE, "suggest", "DIR/log.jsonl", "--id", "seen")
    assert out.exit_code == 0
    assert '- "/home/dev/shop/**"  # 10 effects in 1 sessions, for example /home/dev/shop/a.py' in out.output
    assert "# left out: a secret (10 effects)" in out.output
    assert run(OBJECTIVE, "check", "DIR/o.yaml", o=out.output).output == "1 ok\n"
    assert "not learned from fewer than 50" in run(POLICY, "suggest", "DIR/log.jsonl", "--min-calls", "50").output
    assert run(OBJECTIVE, "suggest").exit_code == 2


def test_exceptions_are_drafted_for_what_a_policy_flags_often(run, tmp_path):
    _log(tmp_path, ["delete filesystem:/srv/drill/a"] * 30)
    out = run(POLICY, "suggest", "DIR/log.jsonl", "--exceptions-for", "DIR/p.yaml", p=GOOD)
    assert "- id: acme.delete  # 30 flags in 1 sessions" in out.output
    assert 'agents: ["coder"], effects: [{target: ["/srv/drill/**"]}]' in out.output


def test_permissions_of_claude_code_become_scope_and_rules(run, tmp_path):
    permissions = {
        "allow": ["Bash(git diff:*)", "Edit(src/**)", "WebFetch(domain:docs.python.org)", "mcp__github"],
        "ask": ["Bash(git push:*)"],
        "deny": ["Read(./.env)", "Bash(rm -rf:*)", "Bash(x*y)"],
        "defaultMode": "plan",
    }
    (tmp_path / "s.json").write_text(json.dumps({"permissions": permissions}))
    args = ("import", "claude-code", "DIR/s.json", "--objective", "DIR/o.yaml", "--policy", "DIR/q.yaml")
    out = run(POLICY, *args)
    assert out.exit_code == 0
    assert "not carried over: deny Bash(x*y)" in out.output
    assert run(OBJECTIVE, "check", "DIR/o.yaml").exit_code == 0
    assert run(POLICY, "check", "DIR/q.yaml").exit_code == 0
    rules = load((tmp_path / "q.yaml").read_text(), "q").value["rules"]
    assert [(r["severity"], r["description"].rpartition(": ")[2]) for r in rules] == [
        ("medium", "Bash(git push:*)"),
        ("high", "Read(./.env)"),
        ("high", "Bash(rm -rf:*)"),
    ]
    assert {"domain": "filesystem", "action": ["delete"]} in rules[2]["match"]["effects"]


def test_settings_of_codex_become_scope(run, tmp_path):
    (tmp_path / "c.toml").write_text(
        'approval_policy = "never"\nsandbox_mode = "workspace-write"\n[sandbox_workspace_write]\nwritable_roots = ["/home/dev/x"]\n'
    )
    out = run(POLICY, "import", "codex", "DIR/c.toml", "--objective", "DIR/o.yaml")
    assert out.exit_code == 0
    assert "not carried over: approval_policy" in out.output
    assert '"/home/dev/x/**"' in (tmp_path / "o.yaml").read_text()
    assert run(POLICY, "import", "codex", "DIR/no.toml").exit_code == 3


def test_an_objective_is_checked_tested_and_shown(run):
    assert run(OBJECTIVE, "check", "DIR/o.yaml", o=OBJ).output == "1 ok\n"
    assert run(OBJECTIVE, "test", "DIR/o.yaml").output == "1 passed, 0 failed\n"
    assert "scope      modify, read filesystem: /home/dev/shop/**" in run(OBJECTIVE, "show", "DIR/o.yaml").output
    assert json.loads(run(OBJECTIVE, "show", "--json", "DIR/o.yaml").output)["id"] == "fix"
    out = run(OBJECTIVE, "check", "DIR/o.yaml", o=OBJ.replace("scope", "allow"))
    assert out.exit_code == 3
    assert "onlooker only flags: 'allow'" in out.output
    assert run(OBJECTIVE, "test", "DIR/o.yaml", o=OBJ.replace("outside_scope}", "consistent}")).exit_code == 1


def test_a_new_objective_checks_without_a_remark_and_is_never_overwritten(run, tmp_path):
    args = (
        "new",
        "Fix the parser",
        "--id",
        "Fix It",
        "--path",
        "/home/dev/shop",
        "--repo",
        "github.com/acme/shop",
        "--not",
        "/home/dev/shop/deploy",
        "--out",
        "DIR/n.yaml",
    )
    assert run(OBJECTIVE, *args).exit_code == 0
    assert run(OBJECTIVE, "check", "--strict", "DIR/n.yaml").output == "1 ok\n"
    assert "id: fix-it" in (tmp_path / "n.yaml").read_text()
    assert run(OBJECTIVE, *args).exit_code == 2
