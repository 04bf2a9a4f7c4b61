"""The worst verdict on an effect nobody can undo is counted, not the worst of the whole call."""

import pytest

from classifiers.effects import Action, Domain, Effect, Reversibility, Surface, Verb
from policies.verdict import ObjectiveVerdict, Severity, TrailEntry, Verdict
from proxy.analyzer.calls import irreversible_verdict

READ, LOST = Reversibility.READ_ONLY, Reversibility.IRREVERSIBLE
FINE, OUT, BAD = Verdict.CONSISTENT, Verdict.OUTSIDE_SCOPE, Verdict.CONTRADICTS


@pytest.mark.parametrize(
    ("effects", "trail", "expected"),
    [
        ([LOST], [(0, OUT)], OUT),
        ([READ, LOST], [(0, OUT), (1, FINE)], FINE),
        ([LOST, LOST], [(0, BAD), (1, OUT)], BAD),
        ([LOST], [(None, OUT), (0, FINE)], OUT),
        ([READ], [(0, BAD)], None),
        ([LOST], [], None),
    ],
)
def test_only_verdicts_on_irreversible_effects_count(effects, trail, expected):
    verb = {READ: Verb.READ, LOST: Verb.DELETE}
    action = Action(
        surface=Surface.SHELL,
        effects=tuple(Effect(Domain.FILESYSTEM, verb[r], "/srv/x", reversibility=r) for r in effects),
    )
    said = ObjectiveVerdict(OUT, Severity.HIGH, "o", trail=tuple(TrailEntry(i, v, None) for i, v in trail))
    assert irreversible_verdict(action, said) == expected
