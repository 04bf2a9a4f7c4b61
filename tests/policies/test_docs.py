"""Pages that are made from tables are what the tables say, and the examples in the guides check and pass."""

from datetime import UTC, datetime
from pathlib import Path

from policies.docs import rules, vocabulary
from policies.evaluate import Compiled
from policies.inline import failing
from policies.objectives import failing as failing_objective
from policies.objectives import read_text
from policies.source import STARTER, check_text, gather

DOCS = Path(__file__).parents[2] / "docs"
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def block(page: str, start: str) -> str:
    text = (DOCS / page).read_text("utf-8")
    return next(
        b.partition("\n```")[0] for b in text.split("```yaml\n")[1:] if start in b.splitlines()[0] + b.splitlines()[1]
    )


def test_reference_pages_are_current():
    assert (DOCS / "policy-vocabulary.md").read_text("utf-8").endswith("\n\n" + vocabulary())
    policy = gather(STARTER, NOW).policy
    assert policy is not None
    assert (DOCS / "policy-rules.md").read_text("utf-8").endswith(rules(policy).partition("\n\n")[2])


def test_the_guides_policy_checks_and_passes():
    made = check_text(block("policy.md", "policy: 1"), "guide.yaml", NOW)
    assert [str(d) for d in made.found] == []
    assert made.policy is not None
    assert failing(Compiled(made.policy)) == []


def test_the_guides_objective_checks_and_passes():
    made, found = read_text(block("objectives.md", "objective: 1"), "guide.yaml")
    assert [str(d) for d in found] == []
    assert made is not None
    assert failing_objective(made) == []
