"""``onlooker policy explain``: why a rule said what it said, of a recorded action or of a command given here."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from classifiers import classify
from classifiers.call import ToolCall
from classifiers.context import Context
from policies.assess import Assessment, assess_bound
from policies.bind import NONE, Binding
from policies.evaluate import Compiled
from policies.explain import Node, advice, explain, lines, show_effect
from policies.inline import PATIENT_MS
from policies.objectives import read
from policies.policy_set import PolicySet, load
from policies.state import SessionState
from policies.stored import actions, subject_of_record
from policies.verdict import ObjectiveVerdict, Reason, Severity, Subject, TrailEntry, Verdict
from proxy.cli._options import json_option
from proxy.cli._policy.show import BAD_FILE, show
from proxy.config import DEFAULT_STATE
from proxy.explain.find import find

STARTER = "onlooker:starter"
_ID = re.compile(r"[\w.-]+:[0-9]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is explained. ``text``: the command evidence points into, when it is known; ``objective``: as recorded."""

    subject: Subject
    text: str | None
    objective: dict[str, Any] | None = None


@click.command("explain")
@click.argument("what", nargs=-1, required=True, metavar="(RECORD-ID | -- COMMAND)")
@click.option("--policy", "policies", multiple=True, metavar="FILE", help=f"Default {STARTER}.")
@click.option("--objective", "objective", metavar="FILE", help="Judge under this objective.")
@click.option("--rule", "rules", multiple=True, metavar="ID", help="Show this rule, whatever it said.")
@click.option("--log", "logs", multiple=True, metavar="PATH", help="Where RECORD-ID is looked for.")
@click.option("--state", metavar="DIR", help="Its state directory.")
@click.option("--cwd", help="Where the command runs.")
@click.option("--home", help="Whose home ~ is.")
@click.option("--tool", default="Bash", show_default=True, help="The tool the command is given to.")
@json_option
def COMMAND(  # noqa: N802, PLR0917 - click names them
    what: tuple[str, ...],
    policies: tuple[str, ...],
    objective: str | None,
    rules: tuple[str, ...],
    logs: tuple[str, ...],
    state: str | None,
    cwd: str | None,
    home: str | None,
    tool: str,
    as_json: bool,
) -> None:
    """Show each rule concerned as a tree: every leaf true, false or unknown, and what would change the answer."""
    if logs or state or (len(what) == 1 and _ID.fullmatch(what[0])):
        asked = _recorded(what[0], list(logs), state)
    else:
        asked = _command(" ".join(what), tool, Context(cwd=cwd, home=home, max_ms=PATIENT_MS))
    policy_set = load(policies or (STARTER,))
    broken = [d for p in policy_set.policies if p.compiled is None for d in p.found if d.level == "error"]
    if broken:
        show(broken, "text")
        sys.exit(BAD_FILE)
    if asked.objective is not None and objective is None:
        judged = _as_recorded(asked.subject, asked.objective, policy_set)
    else:
        binding = _bound(objective) if objective else NONE
        judged = assess_bound(asked.subject, binding, policy_set, SessionState())
    trees = [t for p in policy_set.policies if p.compiled is not None for t in _trees(p.compiled, judged, rules)]
    if as_json:
        click.echo(json.dumps(_json(judged, trees), indent=2, ensure_ascii=False, default=str))
        return
    _show(asked, judged, trees)


def _command(command: str, tool: str, context: Context) -> Asked:
    action = classify(ToolCall(tool, {"command": command}, arguments_valid=True), context)
    fields: dict[str, Any] = {"call.name": tool, "session.home": context.home, "session.cwd": context.cwd}
    known = {k: v for k, v in fields.items() if v is not None}
    return Asked(Subject(action, known, datetime.now(UTC)), command)


def _recorded(wanted: str, logs: list[str], state: str | None) -> Asked:
    """From log files, or by id from a state directory, its runs and its last scan."""
    folder = Path(state or DEFAULT_STATE).expanduser()
    try:
        found = find(folder, wanted) if not logs else None
        records = [found.record] if found is not None else [r for r, _ in actions(logs) if r is not None]
    except (OSError, ValueError) as error:
        click.echo(f"onlooker: {error}", err=True)
        sys.exit(BAD_FILE)
    for record in records:
        if found is not None or wanted in {record.get("id"), str(record.get("seq"))}:
            arguments = (record.get("call") or {}).get("arguments")
            text = arguments.get("command") if isinstance(arguments, dict) else None
            subject = subject_of_record(record)[0]
            return Asked(subject, text if isinstance(text, str) else None, record.get("objective"))
    click.echo(f"onlooker: no action {wanted} in {', '.join(logs) or folder}", err=True)
    sys.exit(BAD_FILE)


def _bound(file: str) -> Binding:
    found, notes = read(Path(file))
    errors = [d for d in notes if d.level == "error"]
    if found is None or errors:
        show(errors, "text")
        sys.exit(BAD_FILE)
    open_ended = replace(found, valid_from=None, valid_until=None)
    return Binding(open_ended, "operator", "--objective", None, found.id)


def _as_recorded(subject: Subject, objective: dict[str, Any], policies: PolicySet) -> Assessment:
    """The verdict that was recorded, and the policies over it; what came before the action is not replayed."""
    trail = tuple(
        TrailEntry(t["effect"], Verdict(t["verdict"]), Reason(t["reason"]) if t["reason"] else None, t["at"], t["note"])
        for t in objective["trail"]
    )
    kept = {k: objective[k] for k in ("id", "hash", "trust", "bound_by")}
    verdict = ObjectiveVerdict(Verdict(objective["verdict"]), Severity(objective["severity"]), **kept, trail=trail)
    return Assessment(subject, NONE, verdict, policies.evaluate(subject, SessionState()))


def _trees(compiled: Compiled, judged: Assessment, rules: tuple[str, ...]) -> list[Node]:
    view = compiled.view(judged.subject)
    outcomes = compiled.outcomes(view, SessionState())
    said = {f.rule for r in judged.results for f in r.findings}
    wanted = set(rules) or said
    shown = [c for c in compiled.rules if c.rule.id in wanted]
    for item in shown:
        if not item.ready and item.rule.match is not None:
            item.prepare()
    return [explain(c, view, outcomes.get(c.rule.id)) for c in shown]


def _json(judged: Assessment, trees: list[Node]) -> dict[str, Any]:
    rules = [{"tree": t.to_json(), "would_change": advice(t)} for t in trees]
    effects = [show_effect(e) for e in judged.subject.action.effects]
    verdict = judged.verdict.to_json()
    return {"effects": effects, "complete": judged.subject.action.complete, "objective": verdict, "rules": rules}


def _show(asked: Asked, judged: Assessment, trees: list[Node]) -> None:
    action = asked.subject.action
    for i, effect in enumerate(action.effects):
        click.echo(f"effect {i}: {show_effect(effect)}")
        evidence = effect.evidence
        if asked.text is not None and evidence is not None and evidence.path.endswith("command"):
            click.echo(f"    {asked.text}\n    {' ' * evidence.start}{'^' * max(1, evidence.end - evidence.start)}")
    for opaque in action.opaque:
        click.echo(f"not read: {opaque.reason} {opaque.text}".rstrip())
    click.echo(f"objective: {judged.verdict.verdict} ({judged.verdict.severity})")
    for entry in judged.verdict.trail:
        where = "the action" if entry.effect is None else f"effect {entry.effect}"
        at = f"({entry.at})" if entry.at else ""
        click.echo(" ".join(filter(None, (f"  {where}:", entry.verdict, entry.reason, entry.note, at))))
    if not trees:
        click.echo("no rule has anything to say; --rule ID shows one anyway")
    for tree in trees:
        click.echo("\n".join(["", *lines(tree), *(f"  {a}" for a in advice(tree)[:6])]))
