"""The cookbook's policy is a real one: it checks without a remark and its tests hold."""

from datetime import UTC, datetime
from pathlib import Path

from policies.evaluate import Compiled
from policies.inline import failing
from policies.source import check_text

PAGE = (Path(__file__).parents[2] / "docs" / "policy-cookbook.md").read_text("utf-8")
TEXT = PAGE.split("```yaml\n")[1].split("```")[0]
MADE = check_text(TEXT, "cookbook.yaml", datetime(2026, 11, 30, tzinfo=UTC))


def test_the_cookbook_checks_without_a_remark():
    assert [str(d) for d in MADE.found] == []


def test_thirty_public_rules_can_be_said_and_their_tests_hold():
    assert MADE.policy is not None
    listed = [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `cook.")]
    assert len(listed) >= 30
    assert set(listed) <= {r.id for r in MADE.policy.rules}
    assert [str(f) for f in failing(Compiled(MADE.policy))] == []
