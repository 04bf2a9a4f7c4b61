"""``onlooker explain ID``: why a call was recorded the way it was, from the evidence up.

In: a record's id and the state it lies in. Out: text, or the record and what was said of it later as JSON.
"""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from proxy.cli._options import configuration, fail, json_option, state_option
from proxy.explain.find import find
from proxy.explain.tell import tell
from proxy.places import Places


@click.command("explain")
@click.argument("identity", metavar="ID")
@state_option
@json_option
def COMMAND(identity: str, state: str | None, *, as_json: bool) -> None:  # noqa: N802 - the name discovery looks for
    """Say why a call was flagged: effects with their evidence, rules and objective lines, what would change it."""
    folder = Path(configuration(None, {"state": state}).state)
    found = find(folder, identity)
    if found is None:
        fail(f"no record {identity} in {folder}/audit, its runs or its last scan", 3)
    if as_json:
        click.echo(orjson.dumps({"record": found.record, "later": found.later}).decode())
        return
    if found.record["kind"] != "action":
        click.echo(orjson.dumps(found.record, option=orjson.OPT_INDENT_2).decode())
        return
    places = Places.of_state(found.state) or Places.of_state(folder)
    for line in tell(found.record, found.later, places):
        click.echo(line)
