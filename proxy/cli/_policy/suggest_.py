"""``onlooker policy suggest`` and ``objective suggest``: drafts from recorded traffic, each line with its evidence."""

from __future__ import annotations

import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from policies.policy_set import load
from policies.state import SessionState
from policies.stored import actions, subject_of_record
from policies.suggest import MIN_CALLS, Seen, TooFewError, draft, draft_exceptions, generalised, learn
from policies.verdict import Result, Subject
from proxy.cli._policy.show import BAD_FILE
from proxy.config import DEFAULT_STATE


@click.command("suggest")
@click.argument("logs", nargs=-1, metavar="LOGS…")
@click.option("--from-scan", is_flag=True, help="Learn from what onlooker scan reviewed last.")
@click.option("--state", metavar="DIR", default=DEFAULT_STATE, show_default=True, help="Where the scan's log lies.")
@click.option("--id", "ident", default="draft", show_default=True, help="Id of the drafted objective.")
@click.option(
    "--min-calls",
    type=click.IntRange(1),
    default=MIN_CALLS,
    show_default=True,
    help="Leave out what was seen fewer times than this.",
)
@click.option("--exceptions-for", "policy", metavar="POLICY", help="Draft exceptions of this policy's rules instead.")
def COMMAND(  # noqa: N802, PLR0917 - click names them
    logs: tuple[str, ...], from_scan: bool, state: str, ident: str, min_calls: int, policy: str | None
) -> None:
    """Draft an objective's scope (or a policy's exceptions) from the actions of LOGS. Read it before using it."""
    logs = (*logs, str(Path(state).expanduser() / "scan")) if from_scan else logs
    if not logs:
        raise click.UsageError("give LOGS, or --from-scan")
    try:
        subjects = _subjects(logs)
        text = draft(learn(subjects), ident, min_calls) if policy is None else _exceptions(subjects, policy, min_calls)
    except TooFewError as error:
        click.echo(f"onlooker: {error}", err=True)
        sys.exit(1)
    except (OSError, ValueError) as error:
        click.echo(f"onlooker: {error}", err=True)
        sys.exit(BAD_FILE)
    click.echo(text, nl=False)


def _subjects(logs: tuple[str, ...]) -> list[Subject]:
    return [subject_of_record(record)[0] for record, _ in actions(logs) if record is not None]


def _exceptions(subjects: list[Subject], policy: str, min_calls: int) -> str:
    """What a policy flagged, by rule, agent and place."""
    policies, state = load([policy]), SessionState()
    broken = policies.policies[0].error
    if broken is not None:
        raise ValueError(broken)
    flags: dict[tuple[str, str, str], Seen] = defaultdict(Seen)
    for subject in subjects:
        seen = state.observe(subject)
        for finding in policies.evaluate(seen, state)[0].findings:
            for index in finding.effects if finding.result is Result.MATCH else ():
                effect = subject.action.effects[index]
                if effect.target is not None:
                    agent = str(subject.fields.get("agent.id") or "?")
                    key = (finding.rule, agent, generalised(effect, subject.fields.get("session.home")))
                    flags[key].add(effect, str(subject.fields.get("session.id")))
    until = (datetime.now(UTC) + timedelta(days=90)).strftime("%Y-%m-%dT00:00:00Z")
    return draft_exceptions(flags, until, min_calls)
