"""Scripted sessions, judged as the analyzer would: classified, bound to an objective, the starter library over all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from classifiers import classify
from classifiers.call import ToolCall
from classifiers.context import Context
from classifiers.strict_yaml import load as load_yaml
from policies.assess import Assessment, assess_bound
from policies.bind import Binding
from policies.new_objective import Wish, ident_from, write
from policies.objectives import read_text
from policies.policy_set import load
from policies.source import STARTER
from policies.state import SessionState
from policies.verdict import Result, Subject

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
STARTER_SET = load([STARTER], now=START)
# A tool's one argument, and a second one that it needs to be whole.
ARGUMENTS = {
    "Read": ("file_path", {}),
    "Edit": ("file_path", {"old_string": "a", "new_string": "b"}),
    "Write": ("file_path", {"content": "x"}),
    "Grep": ("pattern", {}),
    "Glob": ("pattern", {}),
    "WebFetch": ("url", {"prompt": "what is new"}),
}


@dataclass(frozen=True)
class Step:
    text: str
    judged: Assessment

    @property
    def matched(self) -> set[str]:
        return {f.rule for f in self.judged.results[0].findings if f.result is Result.MATCH}

    @property
    def loud(self) -> list[str]:
        """Stable rules of severity medium or worse that surely matched."""
        bad = {"medium", "high", "critical"}
        return [f.rule for f in self.judged.results[0].findings if f.alerts and f.severity in bad]


def call_of(item: object) -> tuple[str, ToolCall]:
    if isinstance(item, str):
        return item, ToolCall("Bash", {"command": item}, arguments_valid=True)
    assert isinstance(item, dict)
    ((tool, value),) = item.items()
    if isinstance(value, dict):
        return f"{tool} {value}", ToolCall(tool, value, arguments_valid=True)
    name, more = ARGUMENTS[tool]
    return f"{tool} {value}", ToolCall(tool, {name: value, **more}, arguments_valid=True)


def play(file: Path) -> Iterator[Step]:
    script = load_yaml(file.read_text("utf-8"), file.name).value
    state = SessionState()
    wish = Wish(
        ident_from(script["session"]),
        paths=(script["cwd"],),
        repos=(script["repo"],),
        hosts=tuple(script.get("hosts", ())),
        forbidden=tuple(script.get("forbidden", ())),
        origin=True,
    )
    objective, found = read_text(write(wish), "objective.yaml")
    assert objective is not None
    assert not found, found
    bound = Binding(objective, "launcher", "path_segment", None, objective.id)
    context = Context(cwd=script["cwd"], home=script["home"], workspace=script["cwd"], max_ms=5_000)
    fields = {
        "session.id": script["session"],
        "session.strength": "strong",
        "session.home": script["home"],
        "agent.id": script["agent"],
    }
    at = START
    for seq, item in enumerate(script["actions"]):
        text, call = call_of(item)
        action = classify(call, context)
        if action.cwd_after:
            context = replace(context, cwd=action.cwd_after)
        at += timedelta(seconds=9)
        subject = Subject(action, {**fields, "call.name": call.name}, at, seq)
        yield Step(text, assess_bound(subject, bound, STARTER_SET, state))
