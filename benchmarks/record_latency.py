"""How long from a call's last byte leaving the relay to its record being written. Prints p50 and p99 in milliseconds.

usage: python -m benchmarks.record_latency [CALLS]. A live instance, one streamed call per request, one after the
other; the record's own monotonic time is compared with the moment the client saw the byte that closes the call.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from aiohttp import ClientSession, web

from proxy.config import build
from proxy.instance import Instance, read_records

WARM_UP = 10  # calls before the first that is counted: tables load with the first of a process


def stream(call: str) -> tuple[bytes, bytes]:
    """(up to and including the event that closes the call, the rest)."""
    text = json.dumps({"command": "git status && ls -la src"})
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {}}
    message = {
        "id": f"m_{call}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    parts = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]
    return b"".join(parts[:4]), b"".join(parts[4:])


async def serve_model() -> tuple[web.AppRunner, str]:
    """A model that answers each request with the call its ``x-call`` names. The runner, and the address to send to."""

    async def model(request: web.Request) -> web.StreamResponse:
        async for _ in request.content.iter_any():
            pass
        head, rest = stream(request.headers["x-call"])
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(head)
        await asyncio.sleep(0.02)
        await answer.write(rest)
        return answer

    app = web.Application()
    app.router.add_post("/v1/messages", model)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


async def measure(calls: int) -> None:
    runner, upstream = await serve_model()
    closed: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as state:
        config = build(
            None,
            {
                "state": state,
                "listen": "127.0.0.1:0",
                "control": "127.0.0.1:0",
                "routes": {"m": {"url": upstream, "agui": False}},
            },
        )
        with await asyncio.to_thread(Instance.start, config) as instance:
            await asyncio.to_thread(instance.wait_analyzer)
            body = json.dumps(
                {"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "x"}]}
            )
            async with ClientSession() as client:
                for n in range(calls + WARM_UP):
                    call = f"toolu_latency_{n:06}"
                    headers = {"x-call": call, "Content-Type": "application/json", "X-Session-Id": "bench"}
                    async with client.post(f"{instance.base}/m/v1/messages", data=body, headers=headers) as answer:
                        got = b""
                        async for piece in answer.content.iter_any():
                            got += piece
                            if n >= WARM_UP and call not in closed and b"content_block_stop" in got:
                                closed[call] = time.monotonic_ns()
            await runner.cleanup()
        lags = sorted(
            (r["mono_ns"] - closed[r["call"]["id"]]) / 1e6
            for r in read_records(Path(state))
            if (r.get("call") or {}).get("id") in closed and r["kind"] == "action"
        )
    p50, p99 = lags[len(lags) // 2], lags[int(len(lags) * 0.99)]
    print(f"record latency over {len(lags)} calls: p50 {p50:.2f} ms, p99 {p99:.2f} ms (promise: p50 <= 10 ms)")


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
