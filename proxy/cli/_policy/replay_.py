"""``onlooker policy replay``: a policy (or the change from an old to a new one) over recorded traffic."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click

from policies.policy_set import Loaded, load
from policies.replay import Diff, Row, add, by_session_only, fails, of_share, reclassified, replay, share
from policies.stored import actions, log_files
from proxy.cli._policy.show import BAD_FILE, show

LARGE_BYTES = 32 << 20
_FAIL_ON = ("any", "new", "new-critical", "new-high", "new-medium", "new-low", "lost")


@click.command("replay")
@click.argument("logs", nargs=-1, required=True, metavar="LOGS…")
@click.option("--old", metavar="FILE", help="The policy in force; without it, only what NEW says.")
@click.option("--new", "new", metavar="FILE", required=True, help="The policy to try.")
@click.option("--reclassify", is_flag=True, help="Work out effects again, where arguments were kept.")
@click.option("--fail-on", multiple=True, type=click.Choice(_FAIL_ON), help="Exit 1 when there is such a difference.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes (default: all cores for large logs).")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    show_default=True,
    help="How the answer is printed.",
)
def COMMAND(  # noqa: N802, PLR0917 - click names them
    logs: tuple[str, ...],
    old: str | None,
    new: str,
    reclassify: bool,
    fail_on: tuple[str, ...],
    jobs: int | None,
    form: str,
) -> None:
    """Judge the actions of LOGS (files, folders, a dash) by OLD and NEW and show what changes."""
    before = _load(old) if old is not None else None
    after = _load(new)
    try:
        count = _jobs(jobs, logs) if by_session_only(before, after) else 1
        if count > 1:
            diff = _spread(logs, old, new, reclassify, count)
        else:
            again = reclassified if reclassify else None
            diff = replay(actions(logs), before, after, reclassify=again, progress=_progress())
    except (OSError, ValueError) as error:
        click.echo(f"onlooker: {error}", err=True)
        sys.exit(BAD_FILE)
    click.echo(_FORMS[form](diff))
    for line in diff.bad_lines:
        click.echo(f"unread: {line}", err=True)
    sys.exit(1 if any(fails(diff, condition) for condition in fail_on) else 0)


def _jobs(jobs: int | None, logs: tuple[str, ...]) -> int:
    if "-" in logs:
        return 1
    large = sum(Path(f).stat().st_size for f in log_files(logs)) > LARGE_BYTES
    return jobs or ((os.cpu_count() or 1) if large else 1)


def _spread(logs: tuple[str, ...], old: str | None, new: str, reclassify: bool, count: int) -> Diff:
    """Sessions over processes by a hash of their id; the answer is the one of a single process."""
    work = [(logs, old, new, reclassify, i, count) for i in range(count)]
    whole = replay((), _load(old) if old is not None else None, _load(new))
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        for part in pool.map(_part, work):
            add(whole, part)
    return whole


def _part(work: tuple[tuple[str, ...], str | None, str, bool, int, int]) -> dict[str, Any]:
    logs, old, new, reclassify, index, count = work
    before = load([old]).policies[0] if old is not None else None
    again = reclassified if reclassify else None
    return share(replay(of_share(actions(logs), index, count), before, load([new]).policies[0], reclassify=again))


def _progress() -> Callable[[int], None] | None:
    """A counter on a terminal's second line; nothing in a pipe."""
    if not sys.stderr.isatty():
        return None
    return lambda done: click.echo(f"\r{done} actions", nl=False, err=True)


def _load(file: str) -> Loaded:
    loaded = load([file]).policies[0]
    if loaded.compiled is None:
        show([d for d in loaded.found if d.level == "error"], "text")
        sys.exit(BAD_FILE)
    return loaded


def _text(diff: Diff) -> str:
    out = [_line(r) for r in diff.sorted_rows()]
    if diff.old is None:
        out = [f"{n:>7} x {rule}" for rule, n in diff.new.matched.most_common()]
    elif not out:
        out = ["no difference"]
    return "\n".join([*out, *_summary(diff)])


def _summary(diff: Diff) -> list[str]:
    never = diff.new.never()
    shown = ", ".join(never[:8]) + (f" and {len(never) - 8} more" if len(never) > 8 else "")
    out = [f"{diff.actions} actions; {sum(diff.new.matched.values())} flags; {len(never)} rules never matched: {shown}"]
    if diff.new.hidden:
        out.append(f"{diff.new.hidden} answers are undetermined in actions with a redacted target")
    return out


def _line(row: Row) -> str:
    mark = {"newly_flagged": "+", "no_longer_flagged": "-", "changed": "~"}[row.kind]
    return f"{mark} {row.severity:<8} {row.rule}  {row.before} -> {row.after}  {row.count} x {row.agent}  {row.ids[0]}"


def _markdown(diff: Diff) -> str:
    out = ["| | severity | rule | agent | actions | change | first |", "|---|---|---|---|---|---|---|"]
    for row in diff.sorted_rows():
        mark = {"newly_flagged": "new", "no_longer_flagged": "gone", "changed": "changed"}[row.kind]
        cells = (
            mark,
            row.severity,
            f"`{row.rule}`",
            row.agent,
            str(row.count),
            f"{row.before} → {row.after}",
            row.ids[0],
        )
        out.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
    return "\n".join([*out, "", *_summary(diff)])


_FORMS: dict[str, Callable[[Diff], str]] = {
    "text": _text,
    "json": lambda diff: json.dumps(diff.to_json(), indent=2, ensure_ascii=False),
    "markdown": _markdown,
}
