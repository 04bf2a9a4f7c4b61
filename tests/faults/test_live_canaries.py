"""thirty-three secrets through a served instance, wherever one can stand; afterwards not one in any file it wrote or line it said."""

import asyncio
import json
import os
import re
import signal

import httpx
import pytest
from click.testing import CliRunner

from proxy.cli import cli
from tests.audit.otlp_receiver import Received, serve_http, stop
from tests.ports import free_port

from .test_mixed_faults import Served

pytestmark = pytest.mark.faults

SHAPES = (  # of secrets with a shape of their own; each gets a number, so that a hit tells which one leaked
    "sk-ant-api03-CANARYb7QmZx81LrTnVw{n:04d}KdYpSoEa55",
    "ghp_CANARYa8Kd92LmQx77ZtVbRw13Ys{n:04d}Pq",
    "AKIACANARYQ7ZX{n:04d}MK",
    "glpat-CANARYx7Qm81ZtV{n:04d}",
)
HEADERS = ("Authorization: Bearer {s}", "X-Api-Key: {s}", "api-key: {s}", "x-goog-api-key: {s}", "Cookie: s={s}",
           "Proxy-Authorization: Basic {s}", "X-Amz-Security-Token: {s}",
           "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.{s}")  # fmt: skip
QUERIES = ("key", "api_key", "sig", "signature", "token", "access_token", "X-Amz-Signature", "password", "secret")
COMMANDS = ("curl -H 'Authorization: Bearer {s}' https://api.example/v1", "export API_KEY={s}", "mysql -p{s} -h db.example",
            "git clone https://user:{s}@git.example/a.git", "echo {s} > .env", "cat <<E\nTOKEN={s}\nE", "deploy --token={s}",
            "if then {s} ((")  # fmt: skip
RESULTS = ("API_KEY={s}", '{{"token": "{s}"}}', "error: bad credential {s}", "https://u:{s}@h.example/")


class Secrets:
    def __init__(self):
        self.made = []

    def next(self):
        self.made.append(SHAPES[len(self.made) % len(SHAPES)].format(n=len(self.made)))
        return self.made[-1]


def call(command, number):
    function = {"name": "Bash", "arguments": json.dumps({"command": command})}
    return {"id": f"call_{number}", "type": "function", "function": function}


async def upstream(reader, writer):
    """Echoes back, as a tool call, the command the request asks for in X-Say; /bad answers with an error body."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readexactly(int(re.search(rb"Content-Length: (\d+)", head)[1]))
            said = json.loads(body)["metadata"]
            status, reply = b"200 OK", {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
            message = {"role": "assistant", "content": None, "tool_calls": [call(said["command"], said["n"])]}
            reply["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
            if b"/bad" in head.split(b"\r\n")[0]:
                status, reply = b"401 Unauthorized", {"error": {"message": said["command"], "code": "invalid_api_key"}}
            raw = json.dumps(reply).encode()
            writer.write(
                b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(raw))
                + raw
            )
    except (OSError, EOFError):
        writer.close()


async def ask(port, number, *, command="ls", query="", header="X: y", messages=(), path="/v1/chat/completions"):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "go"}, *messages],
        "metadata": {"command": command, "n": number},
    }
    raw = json.dumps(body).encode()
    head = (
        f"POST {path}?n={number}{query} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{header}\r\n"
    )
    writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
    answer = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(re.search(rb"Content-Length: (\d+)", answer)[1]))
    writer.close()


async def plant_credentials(port, secrets):
    """Where they stand beside the body: these must not even reach the spool."""
    number = 0
    for header in HEADERS:
        await ask(port, number := number + 1, header=header.format(s=secrets.next()))
    for query in QUERIES:
        await ask(port, number := number + 1, query=f"&{query}={secrets.next()}")
    return number


async def plant(port, secrets, number):
    for command in COMMANDS:
        await ask(port, number := number + 1, command=command.format(s=secrets.next()))
    for result in RESULTS:
        done = call("ls", number := number + 1)
        told = {"role": "tool", "tool_call_id": done["id"], "content": result.format(s=secrets.next())}
        await ask(port, number, messages=({"role": "assistant", "content": None, "tool_calls": [done]}, told))
    for _ in range(4):
        await ask(port, number := number + 1, command=secrets.next(), path="/v1/chat/completions/bad")
    return number


def bytes_below(*places):
    return {p: p.read_bytes() for place in places for p in place.rglob("*") if p.is_file()}


def said_by_commands(state, folder):
    """What a person gets to see of the log, and what leaves it as a file."""
    sessions = run_command("audit", "sessions", "--state", state, "--json")
    names = {json.loads(line)["session"] for line in sessions.splitlines()}
    out = [
        sessions,
        run_command("audit", "query", "--state", state, "--json"),
        run_command("audit", "tail", "--state", state),
    ]
    for n, name in enumerate(names):
        out.append(run_command("audit", "report", name, "--state", state))
        run_command("audit", "report", name, "--state", state, "--html", "-o", folder / f"report-{n}.html")
        out.append(run_command("audit", "show", name, "--state", state))
    for line in out[1].splitlines():
        record = json.loads(line)
        if record["kind"] == "action":
            out.append(run_command("explain", record["id"], "--state", state))
    run_command("audit", "export", "--state", state, "--bundle", folder / "pack", "--whole")
    assert len(names) >= 1
    return "\n".join(out)


def run_command(*words):
    done = CliRunner().invoke(cli, [str(w) for w in words])
    assert done.exit_code in {0, 1}, (words, done.output)
    return done.stdout + done.stderr


def all_recorded_and_sent(served):
    offered, recorded, gaps = served.figures()
    text = httpx.get(f"http://127.0.0.1:{served.control}/metrics", timeout=60).text
    lags = re.findall(r'(?m)^onlooker_sink_lag_records\{sink="(otlp|ocsf)"\} (\S+)', text)
    return offered == recorded + gaps and [float(lag) for _, lag in lags] == [0, 0]


def test_no_secret_of_live_traffic_is_in_any_file_line_sink_report_or_export(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")  # each process then says more, and with the values it works on
    port, secrets, received = free_port(), Secrets(), Received()
    receiver = serve_http(received)
    config = tmp_path / "onlooker.yaml"
    endpoint = f"http://127.0.0.1:{receiver.server_address[1]}"
    config.write_text(
        "onlooker: 1\nsinks:\n"
        f"  - otlp: {{endpoint: '{endpoint}', arguments: true, metrics_s: 0.5}}\n"
        f"  - ocsf: {{folder: '{tmp_path / 'ocsf'}'}}\n"
        "  - stdout: {style: json}\n"
    )
    kept = {}

    async def main():
        server = await asyncio.start_server(upstream, "127.0.0.1", port)
        served = kept["served"] = await asyncio.to_thread(Served, tmp_path, port, "--config", str(config))
        analyzer = served.pids()["analyzer"]
        os.kill(analyzer, signal.SIGSTOP)  # nothing leaves the spool while it is looked at
        number = await plant_credentials(served.port, secrets)
        kept["spool"] = await asyncio.to_thread(bytes_below, served.spool)
        os.kill(analyzer, signal.SIGCONT)
        await plant(served.port, secrets, number)
        async with asyncio.timeout(60):  # what is sent is looked at, so all of it must have been
            while not await asyncio.to_thread(all_recorded_and_sent, served):
                await asyncio.sleep(0.1)
        kept["inbox"] = await asyncio.to_thread(bytes_below, served.spool.with_name(f"{served.spool.name}.inbox"))
        kept["metrics"] = httpx.get(f"http://127.0.0.1:{served.control}/metrics", timeout=60).content
        assert await asyncio.to_thread(served.stop) == 0
        server.close()

    asyncio.run(main())
    stop(receiver)
    served = kept["served"]
    assert len(secrets.made) >= 30
    text = said_by_commands(served.state, tmp_path)
    everything = bytes_below(tmp_path) | kept["inbox"] | kept["spool"]
    everything |= {"metrics": kept["metrics"], "commands": text.encode()}
    everything |= {signal: str(getattr(received, signal)).encode() for signal in ("logs", "traces", "metrics")}
    assert sum(b"POST /v1/chat" in data for data in kept["spool"].values()) > 0
    everything["reports"] = b"".join(p.read_bytes() for p in tmp_path.glob("report-*.html"))
    for place in ("logs", "traces", "commands", "reports"):
        assert b"REDACTED_" in everything[place], place
    assert any(b'"kind":"action"' in data and b"REDACTED_" in data for data in everything.values())
    leaks = [(s, str(p)) for s in secrets.made for p, data in everything.items() if s.encode() in data]
    assert not leaks
    assert not served.spool.exists()
