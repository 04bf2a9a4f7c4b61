"""The control plane answers whom it should, tells health truthfully, and never has an opinion on a hook."""

import asyncio
import io
import json
import os
import socket

import pytest
from aiohttp.test_utils import TestClient, TestServer

from proxy.control.__main__ import serve
from proxy.control.app import make_app
from proxy.control.token import ensure_token
from proxy.inbox import Inbox, inbox_file
from proxy.metrics import Metrics
from proxy.settings import Config, SpoolSettings
from proxy.status import status_file, write_status

TOKEN = "t0ken"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def config_in(tmp_path, **more):
    return Config(state=str(tmp_path / "state"), spool=SpoolSettings(str(tmp_path / "spool")), **more)


def ask(config, method, path, **how):
    """(status, parsed body or text) of one request."""

    async def run():
        app = make_app(config, TOKEN, lambda: Metrics().snapshot())
        async with TestClient(TestServer(app)) as client:
            answer = await client.request(method, path, **how)
            text = await answer.text()
            return answer.status, json.loads(text) if answer.content_type == "application/json" else text

    return asyncio.run(run())


def test_it_is_alive_without_a_token(tmp_path):
    assert ask(config_in(tmp_path), "GET", "/healthz") == (200, {"status": "alive"})


DOORS = [
    ("no token", {}, 401),
    ("a wrong token", {"Authorization": "Bearer nope"}, 401),
    ("the token", BEARER, 200),
    ("a foreign Host with the token", {**BEARER, "Host": "evil.example"}, 403),
    ("a foreign Origin with the token", {**BEARER, "Origin": "https://evil.example"}, 403),
    ("an opaque Origin", {**BEARER, "Origin": "null"}, 403),
    ("an Origin that is no URL", {**BEARER, "Origin": "http://["}, 403),
    ("an Origin whose name begins like ours", {**BEARER, "Origin": "http://localhost.evil.example"}, 403),
    ("a Host that begins with an address", {**BEARER, "Host": "127.0.0.1.evil.example"}, 403),
    ("a Host that is one number", {**BEARER, "Host": "2130706433"}, 403),
    ("a Host that is no name", {**BEARER, "Host": "["}, 403),
    ("the token of another scheme", {"Authorization": f"Basic {TOKEN}"}, 401),
    ("the token with more behind it", {"Authorization": f"Bearer {TOKEN}x"}, 401),
    ("a token that is no ASCII", {"Authorization": "Bearer t\u00f6ken"}, 401),
    ("our own Origin", {**BEARER, "Origin": "http://localhost:8791"}, 200),
    ("an IPv6 Host", {**BEARER, "Host": "[::1]:8791"}, 200),
    ("a configured name", {**BEARER, "Host": "onlooker.internal:8791"}, 200),
]


@pytest.mark.parametrize(("who", "headers", "status"), DOORS, ids=[d[0] for d in DOORS])
def test_the_doors(tmp_path, who, headers, status):
    config = config_in(tmp_path, control_hosts=("onlooker.internal",))
    assert ask(config, "GET", "/api/v1/status", headers=headers)[0] == status


def test_health_and_hooks_refuse_a_foreign_host_too(tmp_path):
    for method, path in (("GET", "/healthz"), ("GET", "/metrics"), ("POST", "/hooks/claude-code")):
        assert ask(config_in(tmp_path), method, path, headers={"Host": "rebound.example"})[0] == 403


def test_nothing_running_is_not_ready_and_says_which_part(tmp_path):
    status, body = ask(config_in(tmp_path), "GET", "/readyz")
    assert status == 503
    assert body["parts"] == {"relay": "not running", "analyzer": "not running", "log": "unknown"}


def test_ready_means_relay_analyzer_and_log_and_names_what_is_degraded(tmp_path):
    async def run():
        server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        config = config_in(tmp_path, listen=f"127.0.0.1:{port}")
        config.pids_file.parent.mkdir(parents=True)
        config.pids_file.write_text(json.dumps({"relays": [os.getpid()]}))
        write_status(status_file(config.spool.dir), {"log": {"id": "l"}, "degraded": ["policy:not_loaded"]})
        async with TestClient(TestServer(make_app(config, TOKEN, dict))) as client:
            answer = await client.get("/readyz")
            found = answer.status, await answer.json()
        server.close()
        return found

    status, body = asyncio.run(run())
    assert (status, body["degraded"]) == (200, ["policy:not_loaded"])


def test_an_old_status_is_silence_not_health(tmp_path):
    config = config_in(tmp_path)
    path = status_file(config.spool.dir)
    write_status(path, {"log": {}})
    said = json.loads(path.read_text())
    path.write_text(json.dumps(said | {"mono_s": said["mono_s"] - 3600}))
    assert ask(config, "GET", "/readyz")[1]["parts"]["analyzer"] == "silent"


def test_a_wall_clock_that_was_set_makes_nobody_silent(tmp_path):
    config = config_in(tmp_path)
    path = status_file(config.spool.dir)
    write_status(path, {"log": {}})
    said = json.loads(path.read_text())
    for step_s in (-3600, 3600):
        path.write_text(json.dumps(said | {"at": said["at"] + step_s}))
        assert ask(config, "GET", "/readyz")[1]["parts"]["analyzer"] != "silent"


def test_metrics_exist_before_anything_happened(tmp_path):
    status, text = ask(config_in(tmp_path), "GET", "/metrics")
    assert status == 200
    assert "onlooker_exchanges_total 0" in text
    assert 'onlooker_build_info{version="' in text


HOOKS = [b'{"hook_event_name":"PreToolUse","tool_name":"Bash"}', b"not json", b"[1]", b"", b"x" * (5 << 20)]


@pytest.mark.parametrize("body", HOOKS, ids=["a hook", "no json", "a list", "nothing", "too large"])
def test_a_hook_is_always_answered_neutrally(tmp_path, body):
    assert ask(config_in(tmp_path), "POST", "/hooks/claude-code", data=io.BytesIO(body)) == (200, {})


def test_a_hook_reaches_the_analyzers_inbox(tmp_path):
    config = config_in(tmp_path)
    ask(config, "POST", "/hooks/claude-code", data=HOOKS[0])
    (message,) = Inbox(inbox_file(config.spool.dir)).messages()
    assert (message.kind, message.body["client"], message.body["body"]["tool_name"]) == ("hook", "claude-code", "Bash")


@pytest.mark.parametrize(("said", "pid"), [("4711", 4711), ("", None), ("x", None), ("9" * 40, None)])
def test_a_hook_may_name_the_agents_process(tmp_path, said, pid):
    config = config_in(tmp_path)
    ask(config, "POST", "/hooks/codex", data=HOOKS[0], headers={"X-Onlooker-Pid": said})
    (message,) = Inbox(inbox_file(config.spool.dir)).messages()
    assert message.body["pid"] == pid


def test_a_binding_is_taken_in_as_an_operators_word(tmp_path):
    config = config_in(tmp_path)
    body = {"session": "s-1"}
    status, _ = ask(config, "PUT", "/api/v1/objectives/obj-1/bindings", json=body, headers=BEARER)
    assert status == 202
    (message,) = Inbox(inbox_file(config.spool.dir)).messages()
    assert (message.kind, message.body) == ("binding", {"id": "obj-1", "bind": body})
    assert ask(config, "PUT", "/api/v1/objectives/obj-1/bindings", json={"user": "x"}, headers=BEARER)[0] == 400


def test_an_objective_that_is_not_there_cannot_be_bound(tmp_path):
    """A name with a typing error in it would leave every call undetermined, and the answer would have been yes."""
    config = config_in(tmp_path)
    judge = {"objectives": [{"id": "known"}], "broken_objectives": {"broken": "b.yaml:1:1: …"}}
    write_status(status_file(config.spool.dir), {"judge": judge})
    assert ask(config, "PUT", "/api/v1/objectives/given", data="objective: 1\nid: given\n", headers=BEARER)[0] == 202

    def bound(objective):
        url = f"/api/v1/objectives/{objective}/bindings"
        return ask(config, "PUT", url, json={"session": "s-1"}, headers=BEARER)

    assert [bound(o)[0] for o in ("known", "broken", "given")] == [202, 202, 202]
    for missing in ("knwon", "..%2Fobjectives%2Fgiven"):
        status, body = bound(missing)
        assert (status, body["error"].startswith("no objective ")) == (404, True), body
    sent = [m.body["id"] for m in Inbox(inbox_file(config.spool.dir)).messages() if m.kind == "binding"]
    assert sent == ["known", "broken", "given"]


def test_an_objective_with_a_mistake_is_refused_with_its_place(tmp_path):
    config = config_in(tmp_path)
    status, body = ask(config, "PUT", "/api/v1/objectives/o1", data="objective: 1\nid: o1\nid: o2\n", headers=BEARER)
    assert status == 400
    assert "objective:3:1: duplicate key 'id'" in body["error"]
    good = "objective: 1\nid: o1\n"
    assert ask(config, "PUT", "/api/v1/objectives/o1", data=good, headers=BEARER)[0] == 202
    assert (tmp_path / "state/objectives/o1.yaml").read_text() == good


def test_the_token_is_made_once_and_only_its_owner_reads_it(tmp_path):
    path = tmp_path / "state" / "control.token"
    first = ensure_token(path)
    assert ensure_token(path) == first
    assert len(first) > 40
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_empty_token_file_lets_nobody_in_and_is_made_anew(tmp_path):
    path = tmp_path / "control.token"
    path.touch(mode=0o600)
    assert len(ensure_token(path)) > 40
    assert ensure_token(path) == ensure_token(path)


def test_unknown_paths_need_the_token_before_they_are_not_found(tmp_path):
    assert ask(config_in(tmp_path), "GET", "/nothing")[0] == 401
    assert ask(config_in(tmp_path), "GET", "/nothing", headers=BEARER)[0] == 404


def test_without_a_supervisor_it_leaves_after_a_while(tmp_path):
    ours, theirs = os.pipe()
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)

    async def run():
        serving = asyncio.create_task(serve(config_in(tmp_path), sock, ours, 0.05))
        await asyncio.sleep(0.2)
        assert not serving.done()
        os.close(theirs)
        await asyncio.wait_for(serving, 60)

    asyncio.run(run())
    os.close(ours)
