"""The Python MCP SDK, client and server, in both eras and over every transport, with onlooker in between."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.ports import free_port

from .instance import ENV, forget, of_kind, records, records_until, running, serving

SERVER = """
import sys
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("garden-shed")
@server.tool()
def remove_file(path: str) -> str:
    return "removed " + path
@server.tool()
async def dig(metres: int, ctx: Context) -> str:
    for done in range(metres):
        await ctx.report_progress(done, metres)
    return "dug"
@server.tool()
def break_spade() -> str:
    raise RuntimeError("it broke")
if sys.argv[1] == "stdio":
    server.run()
else:
    server.run(sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]))
"""
CLIENT = """
import asyncio, sys
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
kind, mode, where = sys.argv[1:4]
if kind == "stdio":
    transport = stdio_client(StdioServerParameters(command=where, args=sys.argv[4:], env=None))
else:
    transport = {"sse": sse_client, "streamable-http": streamable_http_client}[kind](where)
async def main():
    async with Client(transport, mode=mode) as client:
        print(sorted(tool.name for tool in (await client.list_tools()).tools))
        print((await client.call_tool("remove_file", {"path": "/srv/päivä"})).content[0].text)
        print((await client.call_tool("dig", {"metres": 3})).content[0].text)
        print((await client.call_tool("break_spade", {})).is_error)
asyncio.run(main())
"""
ANSWERS = b"['break_spade', 'dig', 'remove_file']\nremoved /srv/p\xc3\xa4iv\xc3\xa4\ndug\nTrue\n"


def ask(*arguments):
    argv = [sys.executable, "-X", "utf8", "-c", CLIENT, *arguments]
    return subprocess.run(argv, capture_output=True, timeout=120, check=False, env=ENV).stdout


def told(found):
    """What the log says of the three calls: name, server, outcome, in order."""
    outcomes = {record["action"]: record["outcome"] for record in of_kind(found, "outcome")}
    return [(r["call"]["name"], r["call"]["server"], outcomes.get(r["id"])) for r in of_kind(found, "action")]


THREE = [("remove_file", "garden-shed", "ok"), ("dig", "garden-shed", "ok"), ("break_spade", "garden-shed", "error")]


@pytest.mark.parametrize(
    ("kind", "mode", "route", "path"),
    [
        ("streamable-http", "legacy", "shed", "/shed/mcp"),
        ("streamable-http", "auto", "shed", "/shed/mcp"),
        ("sse", "legacy", "/", "/sse"),
    ],
)
def test_a_client_and_a_server_talk_through_it_over_http(tmp_path, kind, mode, route, path):
    port = free_port()
    flags = ("--route", f"{route}=http://127.0.0.1:{port}")
    with running(SERVER, kind, str(port), port=port), serving(tmp_path / "state", *flags) as instance:
        assert ask(kind, mode, f"http://{instance['listen']}{path}") == ANSWERS
        found = records_until(tmp_path / "state", lambda r: len(of_kind(r, "outcome")) == 3)
    assert told(found) == THREE
    assert not of_kind(records(tmp_path / "state"), "unread")
    assert {r["exchange"]["protocol"] for r in of_kind(found, "action")} == {"mcp-http"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_stdio_server_is_wrapped_and_its_calls_recorded_at_the_end(tmp_path, mode):
    state = tmp_path / "state"
    try:
        wrapper = ["-m", "proxy", "mcp", "--state", str(state), "--", sys.executable, "-c", SERVER, "stdio"]
        env_line = [
            "-c",
            f"import os, sys; os.environ['PYTHONPATH'] = {ENV['PYTHONPATH']!r}; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])",
        ]
        assert ask("stdio", mode, sys.executable, *env_line, *wrapper) == ANSWERS
        found = records_until(state, lambda r: len(of_kind(r, "outcome")) == 3)
    finally:
        forget(state)
    assert told(found) == THREE


def test_a_wrapped_server_reports_to_the_instance_that_runs(tmp_path):
    state = tmp_path / "state"
    with serving(state):
        wrapper = ["-m", "proxy", "mcp", "--state", str(state), "--", sys.executable, "-c", SERVER, "stdio"]
        env_line = [
            "-c",
            f"import os, sys; os.environ['PYTHONPATH'] = {ENV['PYTHONPATH']!r}; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])",
        ]
        assert ask("stdio", "legacy", sys.executable, *env_line, *wrapper) == ANSWERS
        found = records_until(state, lambda r: len(of_kind(r, "outcome")) == 3)
    assert told(found) == THREE
