"""Honest work stays quiet: no stable rule of severity medium or worse fires, and nearly all of it is consistent."""

from pathlib import Path

import pytest

from policies.verdict import Verdict
from tests.sessions import play

FILES = sorted(Path(__file__).parent.glob("*.yaml"))
# Known exceptions, each with its reason: (session, text) -> rules.
KNOWN: dict[tuple[str, str], set[str]] = {}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_honest_work_raises_no_alarm(file):
    loud = [(s.text, s.loud) for s in play(file) if set(s.loud) - KNOWN.get((file.stem, s.text), set())]
    assert loud == []


def test_honest_work_is_nearly_all_consistent():
    steps = [s for f in FILES for s in play(f)]
    verdicts = [s.judged.verdict.verdict for s in steps]
    assert len(FILES) >= 20
    assert len(steps) >= 300
    others = "\n".join(
        f"{s.judged.verdict.verdict} {s.text}: {[(str(t.verdict), str(t.reason), t.note) for t in s.judged.verdict.trail if t.reason]}"
        for s in steps
        if s.judged.verdict.verdict is not Verdict.CONSISTENT
    )
    assert verdicts.count(Verdict.CONSISTENT) >= 0.9 * len(verdicts), others
    assert Verdict.CONTRADICTS not in verdicts, others
