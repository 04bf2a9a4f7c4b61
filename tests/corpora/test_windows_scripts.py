"""Scripts of a public collection of attack tests: what changes something is never called complete and harmless."""

import json
from pathlib import Path

import pytest

from classifiers.context import NOWHERE
from classifiers.effects import Tag
from classifiers.surface import CallParts, surface_named

# Techniques that only look (MITRE ATT&CK, tactic Discovery).
DISCOVERY = [
    "T1007",
    "T1010",
    "T1012",
    "T1016",
    "T1018",
    "T1033",
    "T1040",
    "T1046",
    "T1049",
    "T1057",
    "T1069",
    "T1082",
    "T1083",
    "T1087",
    "T1120",
    "T1124",
    "T1135",
    "T1201",
    "T1217",
    "T1482",
    "T1497",
    "T1518",
    "T1526",
    "T1538",
    "T1580",
    "T1614",
    "T1615",
    "T1619",
    "T1622",
    "T1652",
    "T1654",
    "T1680",
]


def corpus():
    found = (p / "shared" / "corpora" / "atomic_red_team.jsonl" for p in Path(__file__).resolve().parents)
    return next((p for p in found if p.exists()), None)


@pytest.mark.parametrize(("shell", "least"), [("powershell", 0.96), ("cmd", 0.97)])
def test_scripts_that_change_something_are_not_complete_and_harmless(shell, least):
    if corpus() is None:
        pytest.skip("the corpora are development data and not here")
    rows = [json.loads(line) for line in corpus().read_text("utf-8").splitlines()]
    rows = [r for r in rows if r["shell"] == shell and r["labels"]["attack"].partition(".")[0] not in DISCOVERY]
    silent = [r["id"] for r in rows if is_silent(shell, r["command"])]
    assert 1 - len(silent) / len(rows) >= least, silent


def is_silent(shell, command):
    action = surface_named(shell).classify(CallParts(shell, {"command": command}), NOWHERE)
    risky = any(e.action == "grant" or e.domain == "secrets" or set(e.tags) & set(Tag) for e in action.effects)
    return action.complete and action.destructive is False and not action.flows and not risky
