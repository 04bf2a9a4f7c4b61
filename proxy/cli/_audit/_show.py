"""What the audit commands share: the state option, times like ``2h``, and records on a terminal or in a pipe.

In: records. Out: JSON lines with ``--json``, tab-separated text in a pipe, coloured columns on a terminal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.escape import terminal
from audit.state import DEFAULT
from audit.summary import severity, verdict, what

Record = dict[str, Any]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_COLOURS = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}
COLUMNS = ("time", "severity", "verdict", "session", "what", "id")
NARROW = 110  # columns; below it a table shows less, and nothing of that cut off
NARROW_COLUMNS = ("time", "severity", "verdict", "what", "id")
WHOLE = ("session", "time", "severity", "verdict", "id", "calls", "flagged", "worst", "to", "from")


def state_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--state", type=click.Path(path_type=Path), default=DEFAULT, envvar="ONLOOKER_STATE", help="State directory."
    )(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="JSON lines.")(command)


def place(state: Path) -> Path:
    return state.expanduser()


@contextmanager
def errors() -> Iterator[None]:
    """What is missing or wrong, in one sentence and with its exit code."""
    try:
        yield
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; Python would complain at exit
        raise SystemExit(0) from None
    except (FileNotFoundError, ValueError) as error:
        fail(str(error), 3)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), 4)


def fail(message: str, code: int) -> NoReturn:
    click.echo(f"onlooker: {terminal(message)}", err=True)
    raise SystemExit(code)


def since_ts(text: str | None, now: datetime | None = None) -> str | None:
    """``2h``, ``3d`` (ago) or an ISO time, as a record's ts. Raises click.BadParameter."""
    if text is None:
        return None
    if match := re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text):
        at = (now or datetime.now(UTC)) - timedelta(**{_UNITS[match[2]]: float(match[1])})
    else:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise click.BadParameter(f"{text!r}: expected 2h, 30m, 7d or an ISO time") from None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def cells(record: Record) -> tuple[str, ...]:
    session = (record.get("session") or {}).get("id") or ""
    said = (record["ts"], severity(record) or "", verdict(record), session, what(record), record["id"])
    return tuple(terminal(c, 200) for c in said)


def show(records: Iterable[Record], *, as_json: bool) -> int:
    """Print them all; how many."""
    count = 0
    if as_json or not sys.stdout.isatty():
        for count, record in enumerate(records, 1):  # noqa: B007 - the count is the result
            click.echo(orjson.dumps(record).decode() if as_json else "\t".join(cells(record)))
        return count
    console = Console()
    kept = NARROW_COLUMNS if console.width < NARROW else COLUMNS
    table = columns(kept)
    for count, record in enumerate(records, 1):  # noqa: B007
        by_name = dict(zip(COLUMNS, cells(record), strict=True))
        if kept is not COLUMNS:
            by_name["time"] = short_time(by_name["time"])
        table.add_row(*(Text(by_name[c], style=_style(by_name[c])) for c in kept))
    console.print(table)
    return count


def columns(names: Iterable[str]) -> Table:
    """A table that cuts nothing: what the next command wants stays in one piece, the rest folds."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in WHOLE)
    return table


def short_time(ts: str) -> str:
    """``2026-11-30T04:17:39.967Z`` as ``11-30 04:17:39``."""
    return ts[5:19].replace("T", " ")


def follow_line(record: Record, *, as_json: bool) -> None:
    if as_json:
        click.echo(orjson.dumps(record).decode())
    elif sys.stdout.isatty():
        Console().print(Text("  ").join(Text(c, style=_style(c)) for c in cells(record) if c), soft_wrap=True)
    else:
        click.echo("\t".join(cells(record)))


def _style(cell: str) -> str:
    return _COLOURS.get(cell, "")
