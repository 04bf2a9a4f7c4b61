"""Labelled calls that are no shell commands: at least 95 % right, and reads that raise an alarm at most 1 %.

The labels follow the conventions of ``docs/effects.md``; a call is right when the same effects (domain, action, target
where one is labelled) are there and no others, and ``destructive`` and ``complete`` agree.
"""

from pathlib import Path

import pytest

from classifiers.call import ToolCall
from classifiers.context import Context
from classifiers.dispatch import classify
from classifiers.effects import Action, Effect, Opaque, OpaqueReason, Surface, Tag
from classifiers.strict_yaml import load

HERE = Context(cwd="/home/dev/shop", home="/home/dev", max_ms=5_000)  # a collection of garbage may take 50 ms
RISKS = set(Tag) - {Tag.OVERWRITE}
FILES = sorted(Path(__file__).parent.glob("*.yaml"))


def cases():
    for file in FILES:
        for i, case in enumerate(load(file.read_text("utf-8"), file.name).value["cases"]):
            tool, arguments, effects, *more = case
            yield f"{file.stem}-{i} {tool}", tool, arguments, effects, (more or [{}])[0]


CASES = list(cases())


def read(tool, arguments, more):
    call = ToolCall(
        tool, arguments, arguments_valid=True, server=more.get("server"), purpose=more.get("purpose", "action")
    )
    return classify(call, HERE)


def mistakes(tool, arguments, labels, more):
    action = read(tool, arguments, more)
    expected = [Effect.parse(line) for line in labels]
    complete = more.get("complete", True)
    opaque = () if complete else (Opaque(OpaqueReason.PAYLOAD_UNREADABLE),)
    wanted = Action(Surface.UNKNOWN, tuple(expected), opaque=opaque)
    out = [f"missing {e}" for e in expected if not any(meets(got, e) for got in action.effects)]
    out += [f"extra {got}" for got in action.effects if not any(meets(got, e) for e in expected)]
    if action.destructive is not wanted.destructive:
        out.append(f"destructive {action.destructive}, labelled {wanted.destructive}")
    if action.complete is not complete:
        out.append(f"complete {action.complete}: {[o.text for o in action.opaque]}")
    return out


def meets(got, label):
    same = (got.domain, got.action) == (label.domain, label.action)
    return same and (label.target is None or got.target == label.target)


def raises_alarm(action):
    risky = any(e.action == "grant" or e.domain == "secrets" or RISKS & set(e.tags) for e in action.effects)
    return action.destructive is not False or bool(action.flows) or risky


def test_there_are_enough_cases_and_none_twice():
    assert len(CASES) >= 500
    assert len({(str(c[1:3]), str(c[4])) for c in CASES}) == len(CASES)


@pytest.mark.parametrize(("tool", "arguments", "labels", "more"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_call_has_its_labelled_effects(tool, arguments, labels, more):
    assert mistakes(tool, arguments, labels, more) == []


def test_reads_raise_no_alarm():
    reads = [
        c for c in CASES if c[4].get("complete", True) and all(line.startswith(("read ", "receive ")) for line in c[3])
    ]
    reads = [c for c in reads if not any(" secrets" in line for line in c[3])]
    alarms = [c[0] for c in reads if raises_alarm(read(c[1], c[2], c[4]))]
    assert len(reads) >= 150
    assert len(alarms) <= len(reads) // 100, alarms
