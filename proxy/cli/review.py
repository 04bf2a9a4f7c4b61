"""``onlooker review``: recorded actions worst first, on a terminal; in a pipe, a list.

In: the state folder. Out: the textual application (extra ``tui``), or lines. A mark goes to the log: through the
running analyzer, else by opening the log here, which has one writer.
"""

from __future__ import annotations

import getpass
import sys
import time
from contextlib import closing
from pathlib import Path

import click

from audit import record as records
from audit.escape import terminal
from audit.log import LogInUseError
from audit.state import State
from proxy.cli._options import configuration, fail, state_option
from proxy.inbox import Outbox, inbox_file
from proxy.review.asked import Asked, asked, misread
from proxy.review.index import Index
from proxy.review.lines import number_of_id
from proxy.review.search import COUNTED, find
from proxy.settings import Config
from proxy.status import is_fresh, read_status, status_file

WAIT_S = 2.0


@click.command("review")
@click.argument("filters", nargs=-1, metavar="[NAME=VALUE…]")
@state_option
@click.option("--plain", is_flag=True, help="A list instead of the application, as in a pipe.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Lines of the list.")
def COMMAND(filters: tuple[str, ...], state: str | None, *, plain: bool, limit: int) -> None:  # noqa: N802 - discovery
    """Review recorded actions, worst first: filter, open, explain, mark benign.

    In a browser: /review of the control plane.

    Filters: ask= (destroyed, left, stays, outside, unread) q= severity= rule= domain= effect= verdict= agent= session=
    tool= state= marked= since= until= order=.
    """
    wrong = [f for f in filters if "=" not in f]
    if wrong:
        fail(f"{wrong[0]}: expected NAME=VALUE, for example severity=high", 2)
    pairs = [(name, value) for name, _, value in (f.partition("=") for f in filters)]
    if bad := misread(pairs):
        fail("\n".join(bad), 2)
    config = configuration(None, {"state": state})
    if not config.audit_dir.is_dir():
        fail(f"{config.audit_dir}: no audit log is here; 'onlooker demo --state DIR' or 'onlooker serve' writes one", 3)
    question = asked([("marked", "open"), *pairs])
    with closing(Index(config.audit_dir, Path(config.state) / "review")) as index:
        if plain or not sys.stdout.isatty():
            _list(index, question, limit)
            return
        try:
            from proxy.review.terminal import ReviewApp  # noqa: PLC0415 - the extra `tui`
        except ImportError:
            fail("review on a terminal needs the extra: pip install 'onlooker[tui]' (or use --plain)", 2)
        ReviewApp(index, lambda action, said, why: mark(config, index, action, said, why), first=question).run()


def _list(index: Index, question: Asked, limit: int) -> None:
    """One line of tab-separated words an action."""
    index.catch_up()
    page = find(index, question, limit)
    for row in page.rows:
        said = (row["severity"], row["effect"], row["verdict"], row["why"], row["tool"], row["session"], row["id"])
        click.echo("\t".join(terminal(v or "-", 200) for v in said))
    count = f"more than {COUNTED:,}" if page.total > COUNTED else f"{page.total:,}"
    click.echo(f"{count} actions; onlooker explain ID says why", err=True)


def mark(config: Config, index: Index, action: str, state: str, reason: str) -> str:
    """Append a disposition; a sentence on what became of it. Waits a moment for a running analyzer to write it."""
    body = {"action": action, "state": state, "reason": reason, "by": _me()}
    if is_fresh(read_status(status_file(config.spool.dir))):
        outbox = Outbox(inbox_file(config.spool.dir))
        try:
            if not outbox.put("disposition", body):
                return "not written: the analyzer is behind, its inbox is full"
        finally:
            outbox.close()
        return "in the log" if _appears(index, action) else "sent to the analyzer"
    try:
        place = State(Path(config.state))
        guard = place.guard(rules=config.privacy.rules, identities=config.privacy.identities)
        with place.open_log(guard=guard) as log:
            log.append(records.disposition(action=action, state=state, reason=reason, by=_me()))
    except LogInUseError as error:
        return f"not written: {error}"
    except (OSError, ValueError) as error:
        return f"not written: {error}"
    return "in the log"


def _appears(index: Index, action: str) -> bool:
    number = number_of_id(index, action)
    sql = "SELECT count(*) FROM records WHERE about = ? AND kind = 'disposition'"
    before = index.rows(sql, (number,))[0][0]
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        index.catch_up()
        if index.rows(sql, (number,))[0][0] > before:
            return True
        time.sleep(0.05)
    return False


def _me() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
