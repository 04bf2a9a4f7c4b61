"""``onlooker serve``: forward, watch, record, until told to stop.

In: onlooker.yaml and flags. Out: one line when ready (JSON when nobody reads it on a terminal), exit 0 after a drain.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import orjson

from proxy.cli._broken import broken_files
from proxy.cli._options import configuration, fail, instance_options
from proxy.doctor.authority import authority
from proxy.instance import supervisor_config
from proxy.memory import clear_memory
from proxy.supervisor import run
from proxy.supervisor.state import Running


def _say(running: Running) -> None:
    said = {"listen": running.listen[0], "control": running.control, "state": running.state}
    said |= {"transparent": running.transparent[0]} if running.transparent else {}
    said |= {"forward": running.forward[0]} if running.forward else {}
    if sys.stdout.isatty():
        click.echo("ready " + " ".join(f"{k}={v}" for k, v in said.items()))
    else:
        click.echo(orjson.dumps({"event": "ready", **said}).decode())
    sys.stdout.flush()


@click.command("serve")
@instance_options
def COMMAND(file: Path | None, **flags: Any) -> None:  # noqa: N802 - the name discovery looks for
    """Serve the data port and the control plane until SIGTERM or Ctrl-C."""
    config = configuration(file, flags)
    try:
        given = supervisor_config(config)
    except OSError as error:
        fail(f"{error.filename or config.state}: {error.strerror}", 3)
    for broken in broken_files(config):  # traffic flows all the same; every record says what was not in force
        click.echo(f"onlooker: {broken}; serving without it until the file is right", err=True)
    for check in authority(config) if config.forward.listen else ():
        if check.state != "ok":  # it forwards all the same; what stays unread is a record
            click.echo(f"onlooker: local authority: {check.said}", err=True)
    code = run(given, _say)
    if code == 0:
        clear_memory(config.spool.dir)
    sys.exit(code)
