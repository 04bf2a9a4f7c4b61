"""Every disputed label has a reason."""

from pathlib import Path

from classifiers.strict_yaml import load

FILE = Path(__file__).parent / "disputes.yaml"


def test_every_dispute_says_why():
    disputes = load(FILE.read_text("utf-8"), str(FILE)).value["disputes"]
    assert disputes
    assert all(isinstance(reason, str) and len(reason) > 10 for reason in disputes.values())
