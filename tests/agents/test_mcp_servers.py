"""Published MCP servers from npm behind ``onlooker mcp``, driven by the Python SDK."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.proxy.cli.instance import ENV, forget, of_kind, records_until

pytestmark = pytest.mark.agents
CLIENT = """
import asyncio, json, os, sys
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
calls, command, arguments = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:]
async def main():
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print(len((await session.list_tools()).tools) > 0)
        for name, given in calls:
            print((await session.call_tool(name, given)).content[0].text[:40].replace("\\n", " "))
asyncio.run(main())
"""


def drive(calls, *command):
    argv = [sys.executable, "-c", CLIENT, json.dumps(calls), *command]
    done = subprocess.run(argv, capture_output=True, timeout=90, check=False, env=ENV)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-800:]
    return done.stdout


@pytest.mark.parametrize(
    ("package", "program", "calls"),
    [
        ("server-everything", "dist/index.js", [("echo", {"message": "hei"}), ("get-sum", {"a": 2, "b": 3})]),
        (
            "server-filesystem",
            "dist/index.js",
            [("write_file", {"path": "{dir}/a.txt", "content": "x"}), ("list_directory", {"path": "{dir}"})],
        ),
    ],
)
def test_a_published_server_answers_the_same_and_its_calls_are_recorded(
    node_modules, tmp_path, package, program, calls
):
    work, state = tmp_path / "work", tmp_path / "state"
    work.mkdir()
    calls = [
        (name, {k: v.format(dir=work) if isinstance(v, str) else v for k, v in given.items()}) for name, given in calls
    ]
    script = str(node_modules / "node_modules" / "@modelcontextprotocol" / package / program)
    server = ["node", script, *([str(work)] if package == "server-filesystem" else [])]
    direct = drive(calls, *server)
    try:
        assert drive(calls, sys.executable, "-m", "proxy", "mcp", "--state", str(state), "--", *server) == direct
        found = records_until(state, lambda r: len(of_kind(r, "outcome")) == len(calls))
    finally:
        forget(state)
    assert [r["call"]["name"] for r in of_kind(found, "action")] == [name for name, _ in calls]
    assert all(r["call"]["definition"] for r in of_kind(found, "action"))
    assert all(r["call"]["server"] for r in of_kind(found, "action"))
