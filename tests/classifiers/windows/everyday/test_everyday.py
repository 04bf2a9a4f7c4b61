"""What administrators write every day on Windows has its labelled effects, and what only reads raises no alarm."""

from pathlib import Path

import pytest

from classifiers.context import Context
from classifiers.effects import Action, Effect, Opaque, OpaqueReason, Surface
from classifiers.strict_yaml import load
from classifiers.surface import CallParts, surface_named

HERE = Path(__file__).parent


def rows():
    for kind in ("powershell", "cmd"):
        for row in load((HERE / f"{kind}.yaml").read_text("utf-8"), kind).value["cases"]:
            command, labels, *more = row
            yield pytest.param(kind, command, labels, (more or [{}])[0], id=f"{kind}: {command[:50]}")


def read(kind, command):
    context = Context(shell=kind, home="/home/dev", max_ms=5_000)
    return surface_named(kind).classify(CallParts(kind, {"command": command}), context)


def meets(got, label):
    same = (got.domain, got.action) == (label.domain, label.action)
    return same and (label.target is None or got.target == label.target)


def tolerated(effect, more):
    return more.get("reads") and effect.action in {"read", "receive"} and effect.domain != "secrets"


@pytest.mark.parametrize(("kind", "command", "labels", "more"), list(rows()))
def test_a_command_has_its_labelled_effects(kind, command, labels, more):
    action = read(kind, command)
    expected = [Effect.parse(line) for line in labels]
    complete = more.get("complete", True)
    opaque = () if complete else (Opaque(OpaqueReason.PAYLOAD_UNREADABLE),)
    assert [e for e in expected if not any(meets(got, e) for got in action.effects)] == []
    assert [g for g in action.effects if not (tolerated(g, more) or any(meets(g, e) for e in expected))] == []
    assert action.complete is complete, action.opaque
    assert action.destructive is Action(Surface.UNKNOWN, tuple(expected), opaque=opaque).destructive


@pytest.mark.parametrize(("kind", "command", "labels", "more"), list(rows()))
def test_a_command_that_only_reads_raises_no_alarm(kind, command, labels, more):
    if more.get("complete", True) and not any(not line.startswith(("read ", "receive ")) for line in labels):
        action = read(kind, command)
        loud = [e for e in action.effects if e.action == "grant" or e.tags]
        secret = any(line.startswith("read secrets") for line in labels)
        assert secret or (action.destructive is False and loud == [] and action.flows == ())
