"""Windows commands that hide danger, or only look dangerous, say these effects or say that they are not read."""

from pathlib import Path

import pytest

from classifiers.context import Context
from classifiers.knowledge.examples import compare
from classifiers.strict_yaml import load
from classifiers.surface import CallParts, surface_named

HERE = Path(__file__).parent


def rows():
    for kind in ("powershell", "cmd"):
        table = load((HERE / f"{kind}.yaml").read_text("utf-8"), kind).value["commands"]
        assert len(table) >= 60
        for command, expected in table.items():
            yield pytest.param(kind, command, tuple(expected), id=f"{kind}: {command[:50]}")


@pytest.mark.parametrize(("kind", "command", "expected"), list(rows()))
def test_a_windows_command_says_these_effects(kind, command, expected):
    context = Context(shell=kind, max_ms=5_000)
    action = surface_named(kind).classify(CallParts(kind, {"command": command}), context)
    assert compare(action, expected) == []
