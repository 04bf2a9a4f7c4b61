"""Policies in force: side by side, never raising, exceptions and statuses, what a finding says."""

from datetime import UTC, datetime

import pytest

from audit.summary import findings as findings_of
from classifiers.effects import Action, Effect, Opaque, OpaqueReason, Surface
from policies.inline import failing
from policies.policy_set import load
from policies.source import STARTER
from policies.state import SessionState
from policies.verdict import Result, Severity, Subject
from proxy.findings import reasons

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HEAD = "policy: 1\nid: acme.x\nrules:\n"


def policy(tmp_path, rules, head=HEAD, name="p.yaml"):
    (tmp_path / name).write_text(head + rules)
    return load([tmp_path / name], now=NOW)


def subject(*effects, opaque=(), at=NOW, **fields):
    return Subject(Action(Surface.SHELL, tuple(map(Effect.parse, effects)), opaque=opaque), fields, at)


def findings(policies, given, state=None):
    return {f.rule: f for r in policies.evaluate(given, state or SessionState()) for f in r.findings}


DELETE = (
    "  - {id: acme.delete, severity: high, match: {effects: [{domain: filesystem, action: delete, target: /srv/**}]}}\n"
)


def test_several_policies_are_all_asked(tmp_path):
    (tmp_path / "a.yaml").write_text(HEAD + DELETE)
    (tmp_path / "b.yaml").write_text(HEAD.replace("acme.x", "acme.y") + DELETE.replace("high", "low"))
    results = load([tmp_path / "a.yaml", tmp_path / "b.yaml"], now=NOW).evaluate(
        subject("delete filesystem:/srv/a"), SessionState()
    )
    assert [(r.id, r.findings[0].severity) for r in results] == [("acme.x", Severity.HIGH), ("acme.y", Severity.LOW)]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("policy: 1\nid: [", "not YAML"),
        (HEAD + "  - {id: a.b, match: {tolls: [x]}}\n", "1:"),
        (None, "cannot be read"),
        ("\x00", "not YAML"),
        ("- a\n", "starts with 'policy: 1'"),
    ],
)
def test_a_policy_that_cannot_be_loaded_says_so_on_every_action_and_raises_nothing(tmp_path, text, error):
    file = tmp_path / "p.yaml"
    if text is not None:
        file.write_text(text)
    (result,) = load([file], now=NOW).evaluate(subject(), SessionState())
    assert result.state == "not_loaded"
    assert (error if error != "1:" else "did you mean 'tools'?") in (result.error or "")
    assert result.findings == ()


def test_one_broken_policy_leaves_the_other_in_force(tmp_path):
    (tmp_path / "bad.yaml").write_text("nonsense: 1\n")
    (tmp_path / "good.yaml").write_text(HEAD + DELETE)
    results = load([tmp_path / "bad.yaml", tmp_path / "good.yaml"], now=NOW).evaluate(
        subject("delete filesystem:/srv/a"), SessionState()
    )
    assert [r.state for r in results] == ["not_loaded", "active"]
    assert results[1].findings[0].rule == "acme.delete"


def test_an_exception_excuses_only_the_effects_it_covers_until_it_ends(tmp_path):
    rules = """  - id: acme.delete
    match: {effects: [{domain: filesystem, action: delete, target: /srv/**}]}
    exceptions:
      - {id: drill, reason: x, until: "2026-12-01T00:00:00Z", match: {agents: [ops-*], effects: [{target: /srv/drill/**}]}}
"""
    policies = policy(tmp_path, rules)
    who = {"agent.id": "ops-1"}

    def answer(*effects, **more):
        found = findings(policies, subject(*effects, **{**who, **more}))["acme.delete"]
        return found.result, found.effects, found.excepted_by

    assert answer("delete filesystem:/srv/drill/a") == (Result.EXCEPTED, (), "drill")
    assert answer("delete filesystem:/srv/a") == (Result.MATCH, (0,), None)
    assert answer("delete filesystem:/srv/drill/a", "delete filesystem:/srv/a") == (Result.MATCH, (1,), "drill")
    assert answer("delete filesystem:/srv recursive") == (Result.MATCH, (0,), None), "covers more than the exception"
    assert answer("delete filesystem:/srv/drill/a", **{"agent.id": None})[0] is Result.UNDETERMINED
    over = findings(policies, subject("delete filesystem:/srv/drill/a", at=datetime(2026, 12, 1, tzinfo=UTC), **who))
    assert over["acme.delete"].result is Result.MATCH


def test_an_undetermined_finding_names_what_is_not_known(tmp_path):
    rules = "  - {id: acme.r, match: {effects: [{domain: filesystem, target: /srv/**, destructive: true}], where: {agent.team: dba}}}\n"
    found = findings(policy(tmp_path, rules), subject("delete filesystem:? maybe_destructive"))["acme.r"]
    assert (found.result, set(found.unknown)) == (
        Result.UNDETERMINED,
        {"agent.team", "effect.target", "effect.destructive"},
    )


@pytest.mark.parametrize(
    ("on_unknown", "result"), [("report", Result.UNDETERMINED), ("flag", Result.MATCH), ("ignore", None)]
)
def test_what_happens_to_the_unknown_is_the_policys_choice(tmp_path, on_unknown, result):
    head = HEAD.replace("rules:", f"defaults: {{on_unknown: {on_unknown}}}\nrules:")
    found = findings(policy(tmp_path, DELETE, head), subject("delete filesystem:?"))
    assert (found["acme.delete"].result if found else None) is result


def test_a_rule_on_trial_is_recorded_with_its_status(tmp_path):
    found = findings(
        policy(tmp_path, DELETE.replace("severity: high", "severity: high, status: test")),
        subject("delete filesystem:/srv/a"),
    )
    assert found["acme.delete"].status == "test"
    assert not found["acme.delete"].alerts


def test_only_a_stable_match_alerts(tmp_path):
    found = findings(policy(tmp_path, DELETE), subject("delete filesystem:/srv/a"))
    assert found["acme.delete"].alerts
    assert not findings(policy(tmp_path, DELETE), subject("delete filesystem:?"))["acme.delete"].alerts


def test_a_rule_is_switched_off_only_by_name(tmp_path):
    head = "policy: 1\nid: acme.x\nextends: [onlooker:starter]\n"
    policies = policy(
        tmp_path,
        "overrides: [{id: fs.delete-protected-tree, enabled: false}, {id: exec.reverse-shell, severity: low}]\n",
        head,
    )
    found = findings(policies, subject("delete filesystem:/srv/a", "send network:x.example:1 reverse_shell"))
    assert "fs.delete-protected-tree" not in found
    assert found["exec.reverse-shell"].severity is Severity.LOW


def test_a_list_of_ones_own_replaces_the_librarys(tmp_path):
    head = "policy: 1\nid: acme.x\nextends: [onlooker:starter]\nlists: {approved_hosts: [drop.example]}\nrules: []\n"
    policies = policy(tmp_path, "", head)
    assert "net.unapproved-egress" not in findings(policies, subject("send network:drop.example"))
    assert "net.unapproved-egress" in findings(policies, subject("send network:github.com"))


def test_on_an_open_action_what_was_read_counts_and_the_rest_is_one_finding():
    starter = load([STARTER], now=NOW)
    opaque = (Opaque(OpaqueReason.UNKNOWN_EXECUTABLE),)
    (result,) = starter.evaluate(subject("unknown unknown:?", opaque=opaque), SessionState())
    assert result.effects_open
    assert [f.rule for f in result.findings] == ["exec.unclassifiable"]
    (result,) = starter.evaluate(subject("delete filesystem:/srv/a", opaque=opaque), SessionState())
    assert {f.rule for f in result.findings} == {"exec.unclassifiable", "fs.delete-protected-tree"}


def test_none_of_the_effects_is_unknown_while_more_may_exist(tmp_path):
    rules = "  - {id: acme.quiet, match: {tools: [x], none: [{effects: [{domain: network}]}]}}\n"
    policies = policy(tmp_path, rules)
    given = {"call.name": "X"}
    assert findings(policies, subject(**given))["acme.quiet"].result is Result.MATCH
    opaque = (Opaque(OpaqueReason.PARSE_ERROR),)
    assert findings(policies, subject(opaque=opaque, **given))["acme.quiet"].result is Result.UNDETERMINED
    assert "acme.quiet" not in findings(policies, subject("send network:x.example", opaque=opaque, **given))


def test_a_cut_off_call_and_structured_output_get_no_findings(tmp_path):
    policies = policy(tmp_path, DELETE)
    for field in ({"call.complete": False}, {"call.purpose": "structured_output"}):
        assert findings(policies, subject("delete filesystem:/srv/a", **field)) == {}


def test_times_are_of_the_policys_zone(tmp_path):
    rules = "  - {id: acme.night, match: {where: {time.hour: 21, time.weekday: mon}}}\n"
    head = HEAD.replace("rules:", "timezone: Asia/Tokyo\nrules:")
    assert "acme.night" in findings(policy(tmp_path, rules, head), subject())
    assert "acme.night" not in findings(policy(tmp_path, rules), subject())


def test_a_message_is_filled_in_and_the_unknown_is_a_question_mark(tmp_path):
    rules = DELETE.replace(
        "severity: high", "severity: high, message: '{agent.id} would {effect.action} {effect.target}'"
    )
    found = findings(policy(tmp_path, rules), subject("delete filesystem:/srv/a"))
    assert found["acme.delete"].message == "? would delete /srv/a"


def test_a_possible_effect_makes_no_certain_finding(tmp_path):
    policies = policy(tmp_path, DELETE)
    found = findings(policies, subject("delete filesystem:/srv/a certainty=possible"))["acme.delete"]
    assert (found.result, found.unknown) == (Result.UNDETERMINED, ("effect.certainty",))


def test_the_cache_gives_the_same_policy_and_notices_every_change(tmp_path):
    file, cache = tmp_path / "p.yaml", tmp_path / "cache"
    file.write_text("policy: 1\nid: acme.x\nextends: [onlooker:starter]\nrules:\n" + DELETE)
    first, second = (load([file], now=NOW, cache=cache).policies[0] for _ in range(2))
    assert len(list(cache.iterdir())) == 1
    assert first.compiled is not None
    assert second.compiled is not None
    assert first.compiled.policy == second.compiled.policy
    file.write_text(file.read_text().replace("acme.delete", "acme.remove"))
    third = load([file], now=NOW, cache=cache).policies[0]
    assert third.compiled is not None
    assert "acme.remove" in third.compiled.by_id
    next(cache.iterdir()).write_text('{"broken": 1}')
    assert load([file], now=NOW, cache=cache).policies[0].state == "active"


def test_files_extend_files_beside_them_and_a_circle_ends(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "base.yaml").write_text("policy: 1\nid: acme.base\nextends: [../p.yaml]\nrules:\n" + DELETE)
    head = "policy: 1\nid: acme.x\nextends: [sub/base.yaml]\noverrides: [{id: acme.delete, severity: low}]\nrules: []\n"
    found = findings(policy(tmp_path, "", head), subject("delete filesystem:/srv/a"))
    assert found["acme.delete"].severity is Severity.LOW


def test_a_folder_of_bare_rules_is_a_policy(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.yaml").write_text("rule: 1\nid: acme.a\nmatch: {effects: [{domain: filesystem, action: delete}]}\n")
    (result,) = load([folder], now=NOW).evaluate(subject("delete filesystem:/srv/a"), SessionState())
    assert (result.id, [f.rule for f in result.findings]) == ("mine", ["acme.a"])


def test_a_rule_that_fails_says_so_and_silences_no_other(tmp_path):
    rules = (
        DELETE
        + """  - {id: acme.call, match: {where: {agent.team: dba}}}
  - {id: acme.both, match: {effects: [{domain: filesystem}], where: {agent.team: dba}}}
"""
    )
    given = subject("delete filesystem:/srv/a", **{"agent.team": {"not": "a text"}})
    found = findings(policy(tmp_path, rules), given)
    assert {k: f.result for k, f in found.items()} == {
        "acme.delete": Result.MATCH,
        "acme.call": Result.ERROR,
        "acme.both": Result.ERROR,
    }


@pytest.mark.parametrize(
    ("effect", "first"),
    [
        ("delete filesystem:/ recursive irreversible destructive", "fs.delete-recursive-root"),
        ("delete filesystem:~ recursive irreversible destructive", "fs.delete-recursive-root"),
        ("delete filesystem:~/.local/state/onlooker recursive irreversible destructive", "agent.edits-policy-or-audit"),
        ("delete filesystem:/etc recursive irreversible destructive", "fs.delete-recursive-root"),
    ],
)
def test_of_equally_severe_rules_the_one_that_names_the_target_comes_first(effect, first):
    """``rm -rf /`` reaches the log too, but what it is is the deletion of everything."""
    given = subject(effect)
    results = load([STARTER], now=NOW).evaluate(given, SessionState())
    record = {"policy": [r.to_json() for r in results], "classification": given.action.to_json(), "objective": None}
    assert findings_of(record)[0]["rule"] == first
    assert reasons(record)[0][1] == f"rule {first}"


def test_of_equally_severe_rules_what_can_not_be_undone_comes_first(tmp_path):
    rules = (
        "  - {id: acme.a, severity: high, match: {effects: [{domain: vcs, action: create}]}}\n"
        "  - {id: acme.b, severity: high, match: {effects: [{domain: filesystem, action: delete}]}}\n"
    )
    given = subject("create vcs:git:.#main reversible", "delete filesystem:/srv/a irreversible")
    results = policy(tmp_path, rules).evaluate(given, SessionState())
    record = {"policy": [r.to_json() for r in results], "classification": given.action.to_json(), "objective": None}
    assert [f["rule"] for f in findings_of(record)] == ["acme.b", "acme.a"]


def test_a_failing_test_of_a_call_says_what_the_call_was_read_as(tmp_path):
    """A newcomer's first question: which effects does the rule see?"""
    test = "    tests: [{call: {tool: bash, arguments: {command: 'rm -r /srv/a; cat b'}}, expect: no_match}]\n"
    rule = "  - id: acme.r\n    match: {effects: [{action: delete}]}\n"
    (loaded,) = policy(tmp_path, rule + test).policies
    (failure,) = failing(loaded.compiled)
    assert "expected no_match, got match (the call is: delete filesystem:/srv/a" in str(failure)
    assert "read filesystem:b" in str(failure)
