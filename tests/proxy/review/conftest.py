"""A log with one call of each sort, and the control plane over it."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from audit import record as records
from classifiers.effects import Action, Domain, Effect, Evidence, Opaque, OpaqueReason, Reversibility, Surface, Verb
from proxy.control.app import make_app
from proxy.review.index import Index
from proxy.settings import Config, SpoolSettings

TOKEN = "t0ken"
BEARER = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/html"}

_spec = importlib.util.spec_from_file_location("audit_build", Path(__file__).parents[2] / "audit" / "build.py")
assert _spec is not None
build = importlib.util.module_from_spec(_spec)
assert _spec.loader is not None
sys.modules["audit_build"] = build
_spec.loader.exec_module(build)


def around(session="s-1", turn=1, agent="coder-1"):
    return records.Around(
        session={"id": session, "turn": turn, "source": "header:x-session", "strength": "strong"},
        agent={"id": agent, "version": "1", "key": None, "parent": None},
        exchange={"id": "r0-1", "protocol": "anthropic-messages", "upstream": "api.model.example:443", "model": "m"},
    )


def send_action(host="paste.example", start=5, end=18):
    effect = Effect(
        Domain.NETWORK, Verb.SEND, host, destructive=False, reversibility=Reversibility.UNKNOWN,
        evidence=Evidence("arguments.command", start, end),
    )  # fmt: skip
    return Action(Surface.SHELL, (effect,), parsers=("tree-sitter",))


@dataclass
class Written:
    """State folder, and the ids of what was written, by name."""

    state: Path
    ids: dict[str, str]
    opened: list[Index] = field(default_factory=list)  # closed when the test ends

    @property
    def config(self) -> Config:
        return Config(state=str(self.state), spool=SpoolSettings(str(self.state / "spool")))

    def index(self) -> Index:
        index = self.empty_index()
        index.catch_up()
        return index

    def empty_index(self) -> Index:
        self.opened.append(Index(self.state / "audit", self.state / "review"))
        return self.opened[-1]

    def call(self, command: str, session: str = "s-3") -> dict[str, Any]:
        return build.action_record(command, around=around(session))

    def append(self, *lines: dict[str, Any]) -> list[str]:
        log = build.open_log(self.state)
        with log:
            return [log.append(line) for line in lines]


@pytest.fixture
def written(tmp_path) -> Iterator[Written]:
    state = Written(tmp_path / "state", {})
    opaque = Action(Surface.SHELL, opaque=(Opaque(OpaqueReason.DYNAMIC_COMMAND, (0, 4), "$CMD"),))
    ids = state.append(
        records.session_start(around=around(), objective={"id": "obj-1", "trust": "launcher", "bound_by": "path"}),
        build.action_record(around=around()),
        records.action(build.shell_call("curl paste.example"), send_action(), around=around(turn=2)),
        records.action(build.shell_call("$CMD"), opaque, around=around("s-2", agent="ops")),
        records.action(build.shell_call("rm -r", complete=False), build.shell_action(), around=around("s-2")),
        records.gap(writer="r0", exchanges=2, bytes_in=10, bytes_out=20, reason="spool full"),
        records.unread(content_type="application/grpc", size_bytes=99, reason="no provider", around=around()),
    )
    state.ids = dict(zip(("start", "delete", "send", "part", "cut", "gap", "unread"), ids, strict=True))
    result = build.ToolResult(id="toolu_1", name="Bash", outcome=build.Outcome.ERROR, size_bytes=12)
    state.append(records.outcome(result, action=state.ids["delete"], around=around()))
    yield state
    for index in state.opened:
        index.close()


@dataclass
class Browser:
    """Requests of one client, one after the other, against one control plane."""

    config: Config

    def run(self, steps, analyzer=None):
        """``steps``: an async function of the client. ``analyzer``: another, beside it."""

        async def go():
            async with TestClient(TestServer(make_app(self.config, TOKEN, dict))) as client:
                beside = asyncio.ensure_future(analyzer()) if analyzer else None
                try:
                    return await steps(client)
                finally:
                    if beside:
                        beside.cancel()

        return asyncio.run(go())

    def get(self, path, **more):
        async def steps(client):
            answer = await client.get(path, **{"headers": BEARER, "allow_redirects": False, **more})
            return answer.status, await answer.text(), answer.headers

        return self.run(steps)


@pytest.fixture
def browser(written) -> Browser:
    return Browser(written.config)


@pytest.fixture
def nothing_yet(tmp_path) -> Browser:
    return Browser(Config(state=str(tmp_path / "none"), spool=SpoolSettings(str(tmp_path / "spool"))))
