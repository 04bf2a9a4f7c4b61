"""``onlooker demo``: see it work, without a key, a network or three seconds.

In: ``--state`` to keep the log somewhere. Out: findings worst first, what could not be read, whether any byte changed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import click
import orjson

from proxy.cli._options import fail, state_option
from proxy.cli._table import print_rows
from proxy.demo.run import Shown, show
from proxy.findings import coverage_of, rows
from proxy.instance import InstanceError


@click.command("demo")
@state_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the table.")
def COMMAND(state: str | None, *, as_json: bool) -> None:  # noqa: N802 - the name discovery looks for
    """Two scripted agents through the real proxy; what they asked for, worst first."""
    started = time.monotonic()
    kept = state or tempfile.mkdtemp(prefix="onlooker-demo-")
    try:
        shown = show(kept)
    except InstanceError as error:
        fail(str(error), error.code)
    except OSError as error:
        fail(f"{error.filename or kept}: {error.strerror}", 4)
    except KeyboardInterrupt:
        if state is None:
            shutil.rmtree(kept, ignore_errors=True)
        raise
    if as_json:
        click.echo(orjson.dumps(_summary(shown)).decode())
    else:
        _print(shown, time.monotonic() - started)
    sys.exit(0 if shown.identical else 1)


def _summary(shown: Shown) -> dict[str, object]:
    coverage = coverage_of(shown.records)
    return {
        "calls": coverage.calls,
        "flagged": coverage.flagged,
        "not_read": coverage.not_read,
        "unread_bodies": coverage.unread,
        "identical": shown.identical,
        "added_ms": round(shown.added_ms, 3),
        "state": shown.state,
        "rows": [{k: getattr(r, k) for k in r.__dataclass_fields__} for r in rows(shown.records)],
    }


def _print(shown: Shown, took_s: float) -> None:
    coverage = coverage_of(shown.records)
    print_rows(rows(shown.records))
    click.echo()
    click.echo(
        f"{coverage.calls} calls, {coverage.flagged} flagged, {coverage.not_read} could not be read completely. "
        f"Bytes identical at both ends of {shown.exchanges} exchanges: {'yes' if shown.identical else 'NO'}. "
        f"Latency added: {shown.added_ms:.2f} ms (median). Took {took_s:.1f} s."
    )
    click.echo(f"coverage: {coverage.line()}")
    click.echo(f"log: {shown.state}/audit   try: {_program()} explain --state {shown.state} ID")


def _program() -> str:
    """What somebody types to run us: ``make demo`` puts nothing on the path."""
    return "onlooker" if shutil.which("onlooker") or Path(sys.argv[0]).name != "onlooker" else sys.argv[0]
