"""An agent declares an objective on the wire: it narrows from the next call on, and widening is a finding, not a change."""

from __future__ import annotations

import json

import pytest

from proxy.analyzer.judging import FileJudge
from proxy.config import build

OBJECTIVE = """objective: 1
id: op
bind: [{agent: "claude-code"}]
scope:
  effects: [{domain: filesystem, action: [read, modify, create], target: ["/home/dev/shop/**"]}]
"""


def ask(*history):
    return {"model": "m-1", "max_tokens": 10, "messages": [{"role": "user", "content": "go"}, *history]}


def reply(number, *calls):
    blocks = [{"type": "tool_use", "id": f"t{number}-{i}", "name": n, "input": a} for i, (n, a) in enumerate(calls)]
    whole = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m-1", "stop_reason": "tool_use"}
    return json.dumps({**whole, "content": blocks, "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()


def declares(*targets, name="mcp__onlooker__declare_objective", action="modify"):
    effects = [{"domain": "filesystem", "action": action, "target": list(targets)}]
    return name, {"statement": "mend the parser", "scope": {"effects": effects}}


def write(path):
    return "Write", {"file_path": path, "content": "x"}


@pytest.fixture
def talk(tmp_path, make_bench, wire):
    """Feeds one reply per call list to an analyzer with a real judge; gives the bench's log."""
    (tmp_path / "op.yaml").write_text(OBJECTIVE)

    def run(*turns, enabled=True, objective="op.yaml", more=""):
        (tmp_path / "op.yaml").write_text(OBJECTIVE + more)
        files = (str(tmp_path / objective),) if objective else ()
        config = build(None, {"state": str(tmp_path / "state"), "policies": ("onlooker:starter",), "objectives": files})
        bench = make_bench(mcp_server=enabled)
        bench.desk.judge = FileJudge(config)
        for number, calls in enumerate(turns, 1):
            bench.feed(wire.exchange(number, ask(), reply(number, *calls), content_type="application/json"))
        return bench

    return run


def verdicts(bench):
    return [r["objective"]["verdict"] for r in bench.log.of("action")]


def flagged(bench):
    found = [f for r in bench.log.of("action") for p in r["policy"] for f in p["findings"] if f["result"] == "match"]
    return [f["rule"] for f in found if f["rule"] == "obj.agent-widened-scope"]


def told(bench):
    return [
        (r["attestation"]["detail"]["state"], r["attestation"]["detail"]["reason"]) for r in bench.log.of("attestation")
    ]


def test_a_declaration_narrows_from_the_next_call_on(talk):
    inside, outside = write("/home/dev/shop/src/a.py"), write("/home/dev/shop/b.py")
    bench = talk([outside], [declares("/home/dev/shop/src/**")], [inside], [outside])
    assert verdicts(bench) == ["consistent", "consistent", "consistent", "outside_scope"]
    assert told(bench) == [("in_force", None)]
    (record,) = bench.log.of("attestation")
    detail = record["attestation"]["detail"]
    assert detail["said"] == "mend the parser"
    assert (detail["beside"], detail["via"], detail["session"]) == ("op", "call", record["session"]["id"])
    assert record["attestation"]["by"] == "agent"
    bound = [r["objective"] for r in bench.log.of("session") if r["objective"]]
    assert [b["declared"] for b in bound] == [None, detail["declared"]]
    assert {b["trust"] for b in bound} == {"claimed"}
    assert flagged(bench) == []


def test_a_declaration_that_widens_changes_nothing_and_is_a_finding(talk):
    bench = talk([declares("/home/dev/**", "/etc/**")], [write("/home/dev/x")], [write("/home/dev/shop/b.py")])
    assert verdicts(bench) == ["consistent", "outside_scope", "consistent"]
    assert told(bench) == [("refused", "wider")]
    assert flagged(bench) == ["obj.agent-widened-scope"]


def test_what_an_agent_declared_it_can_not_take_back(talk):
    bench = talk([declares("/home/dev/shop/src/**")], [declares("/home/dev/shop/**")], [write("/home/dev/shop/b.py")])
    assert verdicts(bench)[-1] == "outside_scope"
    assert told(bench) == [("in_force", None), ("refused", "wider_than_declared")]
    assert flagged(bench) == ["obj.agent-widened-scope"]


def test_the_same_declaration_again_is_no_news(talk):
    bench = talk([declares("/home/dev/shop/src/**")], [declares("/home/dev/shop/src/**")])
    assert told(bench) == [("in_force", None)]


def test_alone_it_carries_the_agents_trust(talk):
    bench = talk([declares("/home/dev/shop/src/**")], [write("/home/dev/shop/b.py")], objective=None)
    last = bench.log.of("action")[-1]["objective"]
    assert (last["verdict"], last["trust"], last["bound_by"]) == ("outside_scope", "agent", "declared")


def test_without_delegation_nothing_is_taken_up(talk):
    bench = talk([declares("/home/dev/shop/src/**")], [write("/home/dev/shop/b.py")], more="delegation: none\n")
    assert verdicts(bench)[-1] == "consistent"
    assert told(bench) == [("refused", "delegation")]


def test_where_agents_may_not_declare_nothing_is_read_into_the_call(talk):
    bench = talk([declares("/home/dev/shop/src/**")], [write("/home/dev/shop/b.py")], enabled=False)
    assert verdicts(bench)[-1] == "consistent"
    assert told(bench) == []


@pytest.mark.parametrize(
    "arguments", [{}, {"statement": 1}, {"statement": "x", "scope": {"effects": [{"domain": "?"}]}}]
)
def test_a_malformed_declaration_is_recorded_and_changes_nothing(talk, arguments):
    bench = talk([("mcp__onlooker__declare_objective", arguments)], [write("/home/dev/shop/b.py")])
    assert verdicts(bench)[-1] == "consistent"
    assert told(bench) == [("refused", "malformed")]
    assert not bench.log.of("analysis_failed")


def test_a_restart_keeps_what_was_declared_and_the_end_of_the_session_forgets_it(talk, tmp_path):
    bench = talk([declares("/home/dev/shop/src/**")])
    judge = bench.desk.judge
    session = bench.log.of("action")[0]["session"]["id"]
    config = build(None, {"state": str(tmp_path / "state"), "policies": ("onlooker:starter",)})
    again = FileJudge(config)
    again.restore(judge.state())
    assert again._declared.of(session) is not None
    again.session_ended(session)
    assert again._declared.of(session) is None


def test_through_the_server_without_a_session_it_is_recorded_and_waits_for_its_call(talk):
    judge = talk().desk.judge
    _, arguments = declares("/home/dev/shop/src/**")
    (record,) = judge.command("declared", {"session": None, "arguments": arguments})
    assert record["attestation"]["detail"]["state"] == "session_unknown"
    assert judge._declared.by_session == {}


def test_through_the_server_with_a_session_it_is_in_force_once(talk):
    judge = talk().desk.judge
    _, arguments = declares("/home/dev/shop/src/**")
    (record,) = judge.command("declared", {"session": "s-1", "arguments": arguments})
    assert record["attestation"]["detail"]["state"] == "in_force"
    assert judge.command("declared", {"session": "s-1", "arguments": arguments}) == []
    assert judge._declared.of("s-1") is not None
