"""The MCP server over the official SDK: three tools, over standard input and output, or streamable HTTP on loopback.

In: ``Answers``. Out: a running server. Whatever a client sends is bounded: lines and bodies, sessions, arguments.
Needs the extra ``mcp``.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from policies.declaration import KEYS, MAX_BYTES, MAX_STATEMENT, SERVER
from proxy.agent_server.answers import MAX_ID, AnswerError, Answers

MAX_LINE = 4 * MAX_BYTES  # characters of a line, bytes of a body
MAX_SESSIONS = 100
PATH = "/mcp"
_ASKS = {
    "type": "object",
    "properties": {"objective": {"type": "string", "maxLength": MAX_ID, "description": "Id from declare_objective."}},
    "additionalProperties": False,
}
_LIST = {"type": "array", "items": {"type": "object"}}
_DECLARES = {
    "type": "object",
    "properties": {
        "statement": {"type": "string", "maxLength": MAX_STATEMENT, "description": "What is to be done, in words."},
        "scope": {
            "type": "object",
            "description": "What may be done for it: effects [{domain, action, target}], tools, run, repos, hosts.",
        },
        "forbidden": {**_LIST, "description": "Effects to stay away from: [{id, because, effects}]."},
        "budget": {"type": "object", "description": "For example {deletes: 5}."},
    },
    "required": list(KEYS[:2]),
    "additionalProperties": False,
}
# name -> (what it says of itself, its input, whether it only reads)
TOOLS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "declare_objective": (
        "Say what you are about to do. It is recorded, and can only narrow what you were asked to do.",
        _DECLARES,
        False,
    ),
    "objective_status": ("Ids and counts: which objective is in force, how calls were judged by it.", _ASKS, True),
    "session_findings": ("Ids and counts: how many calls of this session were flagged.", _ASKS, True),
}


def make_server(answers: Answers) -> Server[Any]:
    async def listed(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(n, *about) for n, about in TOOLS.items()])

    async def called(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            said = await anyio.to_thread.run_sync(answers.answer, params.name, params.arguments or {})
        except AnswerError as error:
            return _result(str(error), wrong=True)
        except Exception as error:  # whatever it was, its text could hold what was recorded
            sys.stderr.write(f"onlooker: mcp-server: {params.name!r}: {type(error).__name__}: {error}\n")
            return _result("onlooker could not answer", wrong=True)
        return _result(json.dumps(said))

    return Server(SERVER, version=version("onlooker"), on_list_tools=listed, on_call_tool=called)


def _tool(name: str, description: str, schema: dict[str, Any], reads: bool) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=False)
    return types.Tool(name=name, description=description, input_schema=schema, annotations=hints)


def _result(text: str, *, wrong: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=wrong)


async def over_stdio(server: Server[Any]) -> None:
    async with stdio_server(stdin=_Lines()) as (reading, writing):  # type: ignore[arg-type]
        await server.run(reading, writing, server.create_initialization_options())


class _Lines:
    """Standard input line by line; one that is too long is read away and handed on as a line that is no message."""

    def __aiter__(self) -> AsyncIterator[str]:
        return self._lines()

    async def _lines(self) -> AsyncIterator[str]:
        whole = True
        while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, MAX_LINE, abandon_on_cancel=True):
            ended = line.endswith(b"\n")
            if whole:
                yield line.decode("utf-8", "replace") if ended else "too long\n"
            whole = ended


async def over_http(server: Server[Any], listening: socket.socket) -> None:
    """Until it is told to end, on a socket that listens already.

    Host and Origin must be this address: a page cannot rebind its name to it.
    """
    import uvicorn  # noqa: PLC0415 - only this transport needs it

    host, port = listening.getsockname()[:2]
    names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{n}" for n in names])
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_LINE,
        max_sessions=MAX_SESSIONS,
        transport_security=security,
        host=host,
    )
    await uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning")).serve(sockets=[listening])
