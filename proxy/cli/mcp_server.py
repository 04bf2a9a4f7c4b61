"""``onlooker mcp-server``: what an agent may ask about itself, as an MCP server (docs/objectives.md).

In: the configuration of a running instance. Out: a server on standard input and output, or on a loopback address.
Off unless the configuration says ``mcp_server: true`` (exit 2).
"""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path

import click

from proxy.cli._options import configuration, fail, state_option
from proxy.settings import host_port


@click.command("mcp-server")
@click.option("--config", "file", type=click.Path(path_type=Path), help="onlooker.yaml of the instance.")
@state_option
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP there (loopback), at /mcp.")
@click.option("--session", metavar="ID", help="The session this server is about, when whoever starts it knows it.")
def COMMAND(file: Path | None, state: str | None, address: str | None, session: str | None) -> None:  # noqa: N802 - found by this name
    """Let an agent declare an objective and ask how it is judged: ids and counts, no rules."""
    given = file or (Path(os.environ["ONLOOKER_CONFIG"]) if os.environ.get("ONLOOKER_CONFIG") else None)
    config = configuration(given, {"state": state or os.environ.get("ONLOOKER_STATE")})
    if not config.mcp_server:
        fail("agents may not ask here; 'mcp_server: true' in onlooker.yaml lets them (--config FILE)", 2)
    bound = None if address is None else _loopback(address)
    try:
        import anyio  # noqa: PLC0415 - the extra's packages are loaded only by who asks for them

        from proxy.agent_server.answers import Answers  # noqa: PLC0415
        from proxy.agent_server.server import make_server, over_http, over_stdio  # noqa: PLC0415
    except ModuleNotFoundError as error:
        fail(f"{error.name} is missing: install onlooker[mcp]", 2)
    server = make_server(Answers(config, session))
    try:
        if bound is None:
            anyio.run(over_stdio, server)
        else:
            anyio.run(over_http, server, _listen(*bound))
    except KeyboardInterrupt:
        pass


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        fail(f"{host}:{port}: cannot listen here: {os.strerror(error.errno or 0)}", 3)


def _loopback(address: str) -> tuple[str, int]:
    """Anybody who reaches it can declare and ask, so it is never bound where others can."""
    try:
        host, port = host_port(address)
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        fail(f"--http {address}: expected HOST:PORT", 2)
    if not local:
        fail(f"--http {address}: not a loopback address", 2)
    return host, port
