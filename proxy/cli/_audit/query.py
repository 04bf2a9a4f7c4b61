"""``audit query``: records that match, or a SQL statement over the view ``records``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import orjson

from audit.escape import terminal
from audit.needles import Filters
from audit.query import QueryExtraMissingError, find, open_records, run, search
from audit.read import audit_dir
from audit.summary import SEVERITIES
from classifiers.effects import Domain, Verb
from policies.verdict import Verdict
from proxy.cli._audit._show import errors, fail, json_option, place, show, since_ts, state_option

_EQUAL = ("verdict", "kind", "session", "outcome", "surface", "reversibility")
_GLOB = ("agent", "tool", "model", "upstream")


@click.command("query")
@state_option
@json_option
@click.option(
    "--parquet", type=click.Path(path_type=Path, exists=True, file_okay=False), help="A Parquet folder instead."
)
@click.option("--since", metavar="2h|TIME", help="Only what happened since then: a duration back from now, or a time.")
@click.option("--until", metavar="2h|TIME", help="Only what happened before then: a duration back from now, or a time.")
@click.option("--effect", type=click.Choice([v.value for v in Verb]), help="What one effect would do.")
@click.option("--domain", type=click.Choice([d.value for d in Domain]), help="On what kind of thing.")
@click.option("--target", metavar="GLOB", help="On which (same effect).")
@click.option("--verdict", type=click.Choice([v.value for v in Verdict]), help="Only records with this verdict.")
@click.option("--severity", type=click.Choice(SEVERITIES), help="At least.")
@click.option("--rule", metavar="GLOB", help="Only records with a finding of such a rule.")
@click.option("--agent", metavar="GLOB", help="Only records of such an agent.")
@click.option("--tool", metavar="GLOB", help="Only calls of such a tool.")
@click.option("--model", metavar="GLOB", help="Only calls asked for by such a model.")
@click.option("--upstream", metavar="GLOB", help="Only calls that went to such an upstream.")
@click.option("--kind", help="Only records of this kind (action, session, …).")
@click.option("--session", help="Only records of this session.")
@click.option("--outcome", help="Only calls that ended like this (ok, error, unknown, …).")
@click.option("--surface", help="Only calls of this surface (shell, sql, http, files, …).")
@click.option("--reversibility", help="Only calls of this reversibility.")
@click.option("--limit", default=1000, show_default=True, help="At most this many records.")
@click.option("--sql", metavar="SELECT…", help="Your own statement over the view `records`.")
def COMMAND(state: Path, as_json: bool, parquet: Path | None, limit: int, sql: str | None, **asked: Any) -> None:  # noqa: N802
    """Find records. Example: --since 2h --effect delete --domain cloud --target 'k8s:*:prod:*'"""
    times = {"since": since_ts(asked["since"]), "until": since_ts(asked["until"])}
    with errors():
        source = parquet or audit_dir(place(state))
        filters = Filters(
            **times,
            equal={k: asked[k] for k in _EQUAL if asked[k]},
            glob={k: asked[k] for k in _GLOB if asked[k]},
            action=asked["effect"],
            domain=asked["domain"],
            target=asked["target"],
            rule=asked["rule"],
            least_severity=asked["severity"],
        )
        try:
            if sql is not None:
                _table(*run(open_records(source, parquet=parquet is not None, **times), sql), as_json=as_json)
                return
            found = (
                find(open_records(parquet, parquet=True), filters, limit) if parquet else search(source, filters, limit)
            )
        except QueryExtraMissingError as error:
            fail(str(error), 4)
        show(map(orjson.loads, found), as_json=as_json)


def _table(names: list[str], rows: list[tuple[Any, ...]], *, as_json: bool) -> None:
    if as_json:
        for row in rows:
            click.echo(orjson.dumps(dict(zip(names, row, strict=True)), default=str).decode())
        return
    for cells in (names, *rows):
        click.echo("\t".join(terminal(c, 200) for c in cells))
