"""What is known of a call only after its action line reaches the rules that ask for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from classifiers.call import Approval, ApprovalState, ToolResult
from classifiers.effects import Action, Surface
from policies.bind import Facts
from policies.verdict import Subject
from proxy.analyzer.fields import result_fields
from proxy.analyzer.judging import load_judge
from proxy.config import build


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    state = tmp_path_factory.mktemp("state")
    return load_judge(build(None, {"state": str(state), "policies": ("onlooker:starter",)}))


@pytest.mark.parametrize(
    ("result", "rule"),
    [
        (ToolResult(extra={"answered_by_producer": True}), "agui.frontend-result-fabricated"),
        (ToolResult(final=False, extra={"pending_disagrees": True}), "agui.pending-list-mismatch"),
        (ToolResult(final=False, extra={"history_disagrees": True}), "call.request-side-claim"),
        (ToolResult(final=False, extra={"disagrees": True}), "call.request-side-claim"),
        (ToolResult(final=False, extra={"unanswered": "continued"}), "call.unanswered-continued"),
        (ToolResult(extra={"executed_by": "client", "advertised": "no"}), "call.not-advertised"),
        (ToolResult(final=False, approval=Approval(ApprovalState.LATE)), "approval.late"),
        (ToolResult(), None),
        (ToolResult(extra={"executed_by": "agent", "advertised": "not_needed"}), None),
    ],
)
def test_a_late_fact_is_a_finding_of_its_rule_and_of_no_other(judge, result, rule):
    fields = {"call.name": "open_page", **result_fields(result, None)}
    subject = Subject(Action(Surface.UNKNOWN), fields, datetime(2030, 1, 1, tzinfo=UTC))
    found = [finding.rule for policy in judge.judge_result(subject, Facts()) for finding in policy.findings]
    assert found == ([rule] if rule else [])
