"""``onlooker init``: a commented onlooker.yaml to begin with; every line in it is the default.

In: a path (default onlooker.yaml here). Out: the file, never over one that is there (exit 3).
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from proxy.cli._options import BAD_FILE, fail

TEXT = """\
# onlooker.yaml: what is set most often, with its default. Flags of `onlooker serve` override it.
# Checked when it is read: a wrong key or value is said as file:line:col.
onlooker: 1                        # version of this file

listen: 127.0.0.1:8790             # data port: agents are pointed here
listen_unix: []                    # unix sockets as well, one per agent or objective (0600, this user only)
control: 127.0.0.1:8791            # control plane: health, metrics, hooks, API
state: ~/.local/state/onlooker     # audit log, keys, token
workers: 1                         # relay processes

# Well-known APIs are built in (anthropic, openai, google, …): http://127.0.0.1:8790/anthropic/…
routes: {}                         # more: {local: http://127.0.0.1:9000}
# A forward proxy for programs that cannot be pointed at a route, and which TLS hosts it looks into (docs/ways-in.md):
# forward: {listen: 127.0.0.1:8792, intercept: [api.example]}
policies: [onlooker:starter]       # files, folders, or the rules that come with onlooker
trust: optional                    # required: only policies from bundles signed by one of trust_keys
trust_keys: []                     # public keys (PEM), see onlooker policy sign
mcp_server: false                  # true: agents may ask and declare through `onlooker mcp-server`
objectives: []                     # what agents are meant to do: files or folders

privacy:
  identities: pseudonym            # or clear
  rules: []                        # what to keep of which calls; the first match wins
session: {idle: 30m}               # a session ends after this long without a call
retention: {max_age: 180d, max_bytes: 10GiB}
spool: {dir: /dev/shm, cap: 256MiB, overflow: false}
agents: {}                         # known agents: owner, team, policies, objectives
tools: {}                          # more tool mappings (docs/tool-maps.md)
sinks: []                          # more places for records: [{stdout: {}}, {otlp: {endpoint: "http://127.0.0.1:4318"}}]
"""


@click.command("init")
@click.argument("path", type=click.Path(path_type=Path), default=Path("onlooker.yaml"))
def COMMAND(path: Path) -> None:  # noqa: N802 - the name discovery looks for
    """Write a commented onlooker.yaml."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        fail(f"{path}: is there already; it is left as it is", BAD_FILE)
    except OSError as error:
        fail(f"{path}: {error.strerror}", BAD_FILE)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            out.write(TEXT)
    except OSError as error:
        path.unlink()  # half a file would be in the way of the next try
        fail(f"{path}: {error.strerror}", BAD_FILE)
    click.echo(f"{path}: written; onlooker serve --config {path}")
