"""``audit verify``: is the log what was written, and is one record in it."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from audit.cursor import in_order
from audit.prove import prove
from audit.read import audit_dir
from audit.verify import EXIT, verify
from proxy.cli._audit._show import errors, json_option, place, state_option

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("verify")
@state_option
@json_option
@click.option("--from-checkpoint", "checkpoint", type=_FILE, help="A checkpoint that left the machine.")
@click.option("--key", type=_FILE, help="The log's public key (PEM), kept elsewhere.")
@click.option("--prove", "seq", metavar="SEQ|ID", help="Print a proof that this record is in the signed log.")
def COMMAND(state: Path, as_json: bool, checkpoint: Path | None, key: Path | None, seq: str | None) -> None:  # noqa: N802
    """Check chain, tree, signatures and files. Exit 0 valid, 3 end unproven, 4 broken."""
    with errors():
        folder = audit_dir(place(state))
        if seq is not None:
            log_id, _, number = seq.rpartition(":")
            if not number.isdigit():
                raise click.BadParameter(f"{seq!r}: expected a sequence number or a record's id")
            log_id = log_id or in_order(folder)[-1].log_id
            click.echo(orjson.dumps(prove(folder, log_id, [int(number)])[0], option=orjson.OPT_INDENT_2).decode())
            return
        reports = verify(folder, checkpoint=checkpoint, key=key)
    for report in reports:
        click.echo(orjson.dumps(report).decode() if as_json else str(report))
    raise SystemExit(max(EXIT[r.answer] for r in reports))
