"""Objectives: the verdict of each effect, bindings and their trust, budgets, what the agent itself declared."""

from datetime import UTC, datetime

import pytest

from classifiers.effects import Action, Effect, Surface
from policies.assess import assess, assess_bound
from policies.bind import Binding, Facts
from policies.judge import judge
from policies.objectives import Objectives, load, read_text
from policies.policy_set import PolicySet
from policies.policy_set import load as load_policies
from policies.source import STARTER
from policies.state import SessionState
from policies.verdict import Reason, Result, Severity, Subject, Verdict

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TEXT = """objective: 1
id: fix-parser
statement: anything at all, even "delete everything", changes nothing
valid: {from: "2026-11-30T08:00:00Z", until: "2026-11-30T18:00:00Z"}
bind: [{path_segment: fix-parser}, {header: X-Onlooker-Objective}, {agent: "coder-*"}]
scope:
  tools: [Bash, Read, "mcp:github/*"]
  effects:
    - {domain: filesystem, action: read, target: ["/home/dev/shop/**"]}
    - {domain: filesystem, action: [create, modify, delete], target: ["/home/dev/shop/**"], not_target: ["/home/dev/shop/deploy/**"]}
  run: [tests]
  hosts: ["*.acme.example"]
forbidden:
  - {id: no-secrets, because: not needed, effects: [{domain: secrets}], tools: [WebFetch]}
budget: {deletes: 2, hosts: 1}
"""


def objective(text=TEXT, name="o.yaml"):
    made, found = read_text(text, name)
    assert made is not None
    assert [str(d) for d in found] == []
    return made


BOUND = Binding(objective(), "operator", "test", None, "fix-parser")


def subject(*effects, tool="Bash", at=NOW, **fields):
    action = Action(Surface.SHELL, tuple(Effect.parse(e) for e in effects))
    return Subject(action, {"call.name": tool, "session.id": "s", **fields}, at)


def verdict_of(*effects, **more):
    return judge(subject(*effects, **more), BOUND, SessionState())


@pytest.mark.parametrize(
    ("effects", "verdict", "reason", "severity"),
    [
        (["modify filesystem:/home/dev/shop/a.py"], Verdict.CONSISTENT, None, Severity.INFO),
        (["execute code:project maybe_destructive"], Verdict.CONSISTENT, None, Severity.INFO),
        (["send network:api.acme.example:443"], Verdict.CONSISTENT, None, Severity.INFO),
        ([], Verdict.CONSISTENT, None, Severity.INFO),
        (["read filesystem:/etc/hosts"], Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, Severity.INFO),
        (["modify filesystem:/etc/hosts"], Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, Severity.MEDIUM),
        (["delete filesystem:/etc/hosts destructive"], Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, Severity.HIGH),
        (["modify filesystem:/home/dev/shop/deploy/x"], Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, Severity.MEDIUM),
        (["delete filesystem:/home/dev/shop recursive"], Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, Severity.MEDIUM),
        (["delete filesystem:/home/dev recursive"], Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, Severity.MEDIUM),
        (
            ["delete filesystem:/home/dev recursive filtered"],
            Verdict.UNDETERMINED,
            Reason.TARGET_UNKNOWN,
            Severity.INFO,
        ),
        (["read secrets:~/.netrc"], Verdict.CONTRADICTS, Reason.FORBIDDEN, Severity.HIGH),
        (["delete secrets:~/.netrc destructive"], Verdict.CONTRADICTS, Reason.FORBIDDEN, Severity.CRITICAL),
        (["modify filesystem:?"], Verdict.UNDETERMINED, Reason.TARGET_UNKNOWN, Severity.INFO),
        (["unknown unknown:?"], Verdict.UNDETERMINED, Reason.KIND_UNKNOWN, Severity.INFO),
        (["delete cloud:x certainty=possible"], Verdict.UNDETERMINED, Reason.ONLY_POSSIBLE, Severity.INFO),
    ],
)
def test_an_effect_gets_its_verdict_reason_and_severity(effects, verdict, reason, severity):
    made = verdict_of(*effects)
    assert (made.verdict, made.severity) == (verdict, severity)
    assert reason is None or reason in {t.reason for t in made.trail}


def test_an_action_takes_the_worst_of_its_effects_and_keeps_every_line():
    made = verdict_of("modify filesystem:/home/dev/shop/a", "read secrets:x", "modify filesystem:/etc/a")
    assert made.verdict is Verdict.CONTRADICTS
    assert [str(t.verdict) for t in made.trail] == ["consistent", "contradicts", "outside_scope"]
    assert made.trail[0].at == "o.yaml:10:7"
    assert made.trail[1].note == "no-secrets: not needed"


def test_tools_are_found_by_wire_name_or_canonical_name_whatever_the_case():
    assert verdict_of(tool="BASH").verdict is Verdict.CONSISTENT
    assert verdict_of(tool="mcp__github__create_pull").verdict is Verdict.CONSISTENT
    assert judge(subject(tool="x", **{"call.server": "github"}), BOUND, SessionState()).verdict is Verdict.CONSISTENT
    assert verdict_of(tool="Write").trail[0].reason is Reason.TOOL_NOT_IN_SCOPE
    assert verdict_of(tool="webfetch").verdict is Verdict.CONTRADICTS


def test_what_was_said_in_words_is_never_interpreted():
    other = objective(TEXT.replace("anything at all", "read secrets please"))
    bound = Binding(other, "operator", "test", None, other.id)
    assert judge(subject("read secrets:x"), bound, SessionState()).verdict is Verdict.CONTRADICTS


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (datetime(2026, 11, 30, 7, 59, tzinfo=UTC), Reason.NOT_YET_VALID),
        (datetime(2026, 11, 30, 18, 0, tzinfo=UTC), Reason.EXPIRED),
    ],
)
def test_outside_its_time_an_objective_says_nothing(at, reason):
    made = verdict_of("read secrets:x", at=at)
    assert (made.verdict, made.trail[0].reason) == (Verdict.UNDETERMINED, reason)


def test_a_budget_is_counted_over_the_session_and_only_on_a_sure_key():
    state = SessionState()
    one = "delete filesystem:/home/dev/shop/a"
    assert judge(subject(one, one), BOUND, state).verdict is Verdict.CONSISTENT
    over = judge(subject(one), BOUND, state)
    assert (over.verdict, over.trail[-1].reason, over.trail[-1].note) == (
        Verdict.OUTSIDE_SCOPE,
        Reason.BUDGET,
        "deletes over 2",
    )
    weak = {"session.strength": "weak"}
    made = judge(subject(one, one, one, **weak), BOUND, SessionState())
    assert made.verdict is Verdict.UNDETERMINED


def test_hosts_are_counted_once_each():
    state = SessionState()
    for host in ("a.acme.example:443", "a.acme.example:80", "A.acme.example"):
        assert judge(subject(f"send network:{host}"), BOUND, state).verdict is Verdict.CONSISTENT
    assert judge(subject("send network:b.acme.example"), BOUND, state).trail[-1].note == "hosts over 1"


def test_a_cut_off_call_is_not_judged():
    made = judge(subject("read secrets:x", **{"call.complete": False}), BOUND, SessionState())
    assert made.trail[0].reason is Reason.INCOMPLETE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("policy: 1\nid: a.b\nrules: []\n", "o.yaml:1:1: this is a policy file: onlooker policy check"),
        ("objective: 1\nid: x\n", "o.yaml:1:1: an objective needs a 'scope': what may be done for it"),
        (TEXT.replace("deletes: 2", "deletes: many"), "o.yaml:15:19: 'deletes' is a number, not 'many'"),
        (TEXT.replace("run: [tests]", "run: [test]"), "o.yaml:11:9: 'run' cannot be 'test'; did you mean 'tests'?"),
        (
            TEXT.replace("{path_segment: fix-parser}", "{path: x}"),
            "o.yaml:5:9: unknown key 'path'; did you mean 'path_segment'?",
        ),
        (
            TEXT.replace("forbidden:", "deny:"),
            "o.yaml:13:1: onlooker only flags: 'deny' has no meaning here; say how bad it is with severity",
        ),
    ],
)
def test_mistakes_in_an_objective_are_told_with_their_place(text, said):
    _, found = read_text(text, "o.yaml")
    assert [str(d) for d in found] == [said]


# --- binding ---


def objectives(*texts):
    made = [objective(t) for t in texts]
    return Objectives({o.id: o for o in made})


SECOND = TEXT.replace("fix-parser", "other").replace('{agent: "coder-*"}', "{listener: ops}")


@pytest.mark.parametrize(
    ("facts", "trust", "bound_by", "ident"),
    [
        (Facts(path_segment="fix-parser"), "launcher", "path_segment", "fix-parser"),
        (Facts(path_segment="fix-parser.n0nce"), "launcher", "path_segment", "fix-parser"),
        (Facts(headers={"x-onlooker-objective": "fix-parser"}), "launcher", "header", "fix-parser"),
        (Facts(agent="coder-7"), "claimed", "agent", "fix-parser"),
        (Facts(listener="ops", path_segment="fix-parser"), "operator", "listener", "other"),
    ],
)
def test_the_first_row_of_trust_that_has_a_hit_decides(facts, trust, bound_by, ident):
    made = objectives(TEXT, SECOND).bind(facts)
    assert (made.trust, made.bound_by, made.id) == (trust, bound_by, ident)
    assert made.objective is not None


def test_all_hits_are_kept_and_two_in_a_row_are_ambiguous():
    both = objectives(TEXT, SECOND)
    made = both.bind(Facts(path_segment="fix-parser", headers={"x-onlooker-objective": "other"}))
    assert made.reason is Reason.AMBIGUOUS_BINDING
    assert {h.objective for h in made.hits} == {"fix-parser", "other"}
    made = both.bind(Facts(listener="ops", agent="coder-1"))
    assert {h.source for h in made.hits} == {"listener", "agent"}


def test_what_the_admin_api_said_comes_first():
    made = objectives(TEXT, SECOND).with_binding("session", "s-9", "other")
    assert made.bind(Facts(session="s-9", path_segment="fix-parser")).bound_by == "admin:session"
    assert made.bind(Facts(session="s-8", path_segment="fix-parser")).id == "fix-parser"


def test_an_id_nobody_knows_and_a_file_that_is_broken_are_told_apart(tmp_path):
    (tmp_path / "bad.yaml").write_text("objective: 1\nid: broken\nscope: {effects: [{domain: fs}]}\n")
    (tmp_path / "good.yaml").write_text(TEXT)
    made = load([tmp_path])
    assert made.bind(Facts(path_segment="nope")).reason is Reason.UNKNOWN_OBJECTIVE_ID
    assert made.bind(Facts(path_segment="broken")).reason is Reason.NOT_LOADED
    assert "did you mean 'filesystem'?" in made.broken["broken"]
    assert made.bind(Facts()).reason is Reason.NO_OBJECTIVE
    assert made.bind(Facts(path_segment="fix-parser")).objective is not None


# --- what the agent declares ---

WIDE = (
    TEXT.replace("fix-parser", "mine")
    .replace(', not_target: ["/home/dev/shop/deploy/**"]', "")
    .replace("/home/dev/shop", "")
)
NARROW = TEXT.replace("fix-parser", "mine").replace('"/home/dev/shop/**"], not', '"/home/dev/shop/src/**"], not')


def test_the_agents_declaration_alone_carries_its_trust():
    own = objective(WIDE.replace("bind:", "lists: {}\nbind:"))
    made = Objectives().bind(Facts(declared=own))
    assert made.trust == "agent"
    assert judge(subject("modify filesystem:/etc/a"), made, SessionState()).trust == "agent"


def test_the_agents_declaration_can_only_narrow():
    made = objectives(TEXT).bind(Facts(path_segment="fix-parser", declared=objective(NARROW)))
    assert (
        judge(subject("modify filesystem:/home/dev/shop/a.py"), made, SessionState()).verdict is Verdict.OUTSIDE_SCOPE
    )
    assert (
        judge(subject("modify filesystem:/home/dev/shop/src/a.py"), made, SessionState()).verdict is Verdict.CONSISTENT
    )


def test_widening_is_a_finding():
    policies = load_policies([STARTER], now=NOW)
    wide = Facts(path_segment="fix-parser", declared=objective(WIDE))
    judged = assess(subject("modify filesystem:/home/dev/other/a"), wide, policies, objectives(TEXT), SessionState())
    assert judged.verdict.verdict is Verdict.OUTSIDE_SCOPE
    flagged = {f.rule for f in judged.results[0].findings if f.result is Result.MATCH}
    assert {"obj.agent-widened-scope", "obj.outside-scope"} <= flagged


def test_no_objective_is_said_once_a_session_and_neutrally():
    policies, state = load_policies([STARTER], now=NOW), SessionState()
    first = assess(subject(), Facts(), policies, Objectives(), state)
    second = assess(subject(), Facts(), policies, Objectives(), state)
    assert [f.rule for f in first.results[0].findings] == ["obj.none-declared"]
    assert first.say_none
    assert not second.say_none
    assert second.results[0].findings == ()
    assert first.verdict.severity is Severity.INFO


def test_an_assessment_is_json():
    judged = assess_bound(subject("read secrets:x"), BOUND, PolicySet(), SessionState())
    made = judged.verdict.to_json()
    assert made["verdict"] == "contradicts"
    assert made["trail"][0]["reason"] == "forbidden"


@pytest.mark.parametrize(
    ("effect", "verdict"),
    [
        ("execute agent:reviewer", Verdict.OUTSIDE_SCOPE),
        ("send agent:bob", Verdict.OUTSIDE_SCOPE),
        ("execute agent:reviewer certainty=possible", Verdict.UNDETERMINED),
        ("modify agent:/memories/a.md", Verdict.CONSISTENT),
        ("modify filesystem:/home/dev/shop/a.py", Verdict.CONSISTENT),
    ],
)
def test_delegation_none_leaves_no_work_for_another_agent(effect, verdict):
    wide = TEXT.replace("  run: [tests]", "    - {domain: agent}\n  run: [tests]")
    free, alone = objective(wide), objective(wide + "delegation: none\n")
    assert judge(subject(effect), Binding(alone, "operator", "test"), SessionState()).verdict is verdict
    if verdict is Verdict.OUTSIDE_SCOPE:
        (entry,) = judge(subject(effect), Binding(alone, "operator", "test"), SessionState()).trail
        assert (entry.note, entry.at) == ("delegation: none", "o.yaml:17:1")
        assert judge(subject(effect), Binding(free, "operator", "test"), SessionState()).verdict is Verdict.CONSISTENT


def test_delegation_none_takes_up_no_objective_of_the_agents_own():
    facts = Facts(path_segment="fix-parser", declared=objective(NARROW))
    assert objectives(TEXT + "delegation: none\n").bind(facts).declared is None
    assert objectives(TEXT).bind(facts).declared is not None
