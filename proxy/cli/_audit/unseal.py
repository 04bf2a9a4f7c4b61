"""``audit unseal ID``: open the sealed arguments of one record. Who did and why is recorded first."""

from __future__ import annotations

import os
from pathlib import Path

import click

from audit import record as records
from audit.keys import SealKeyGoneError
from audit.log import AuditLog
from audit.read import by_id
from audit.state import State
from proxy.cli._audit._show import errors, fail, place, state_option


@click.command("unseal")
@click.argument("identity", metavar="ID")
@click.option("--reason", required=True, help="Goes on record.")
@state_option
def COMMAND(identity: str, reason: str, state: Path) -> None:  # noqa: N802 - see cli
    """Print the sealed arguments of a record as JSON. The opening is recorded in <state>/access."""
    with errors():
        where = State(place(state))
        record = by_id(where.root, identity)
        sealed = ((record or {}).get("call") or {}).get("sealed")
        if record is None or sealed is None:
            fail(f"{identity}: " + ("no such record" if record is None else "nothing is sealed in this record"), 3)
        with AuditLog(where.access, where.signer(), where.guard()) as access:
            access.append(records.unsealed(action=record["id"], by=f"uid:{os.getuid()}", reason=reason))
        try:
            plain = where.sealer().unseal(sealed, record["call"]["arguments_hmac"].encode())
        except SealKeyGoneError:
            fail(f"{identity}: the key of {sealed['day']} was deleted, the content is erased", 3)
        click.echo(plain.decode("utf-8", "replace"))
