"""What one exchange costs the analyzer: CPU per exchange of a session with a long history, and sessions one core keeps up with.

usage: python -m benchmarks.analyzer [EXCHANGES]. Real classification, policies (the starter library), guard and log; the
capture is made in memory. "Keeps up" assumes one exchange per session every 20 s, as coding agents make them.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.assembly import history
from proxy.analyzer.judging import load_judge
from proxy.analyzer.start import start
from proxy.config import build
from proxy.exchange import Ending, Side
from proxy.spool.events import BodyEnded, BodySeen, Ended, HeadSeen, Opened

EVERY_S = 20.0


def answer(number: int) -> bytes:
    text = json.dumps({"command": f"cd /home/dev/shop && git add -A && git commit -m 'step {number}'"})
    block = {"type": "tool_use", "id": f"toolu_bench_{number:07}", "name": "Bash", "input": {}}
    events = [
        {
            "type": "message_start",
            "message": {"id": f"m{number}", "type": "message", "role": "assistant", "model": "m", "content": []},
        },
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": text[i : i + 8]},
            }
            for i in range(0, len(text), 8)
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def exchange(number: int, body: bytes):
    t, w = number * 1000, "bench"
    headers = f"X-Claude-Code-Session-Id: s{number % 500}\r\nUser-Agent: claude-cli/2.1.197\r\nContent-Type: application/json\r\n"
    yield Opened(
        w, number, t, {"upstream": "api.example:443", "route": "anthropic", "connection": 1, "wall_ns": time.time_ns()}
    )
    yield HeadSeen(
        w, number, t, Side.REQUEST, f"POST /v1/messages HTTP/1.1\r\nHost: api.example\r\n{headers}\r\n".encode()
    )
    for at in range(0, len(body), 256 << 10):
        yield BodySeen(w, number, t, Side.REQUEST, body[at : at + (256 << 10)])
    yield BodyEnded(w, number, t, Side.REQUEST, Ending.COMPLETE)
    yield HeadSeen(w, number, t, Side.RESPONSE, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    out = answer(number)
    for at in range(0, len(out), 300):
        yield BodySeen(w, number, t, Side.RESPONSE, out[at : at + 300])
    yield Ended(w, number, t, Ending.COMPLETE, len(body), len(out))


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for name, size in (("small request", 2 << 10), ("1 MiB history", 1 << 20)):
        with tempfile.TemporaryDirectory() as state:
            config = build(None, {"state": state})
            running = start(config, load_judge(config))
            body = history(200 if size > 1 << 16 else 2, size)
            for number in range(1, 21):
                for event in exchange(number, body):
                    running.analyzer.take(event)
            before, began = cpu_s(), time.perf_counter()
            for number in range(21, 21 + count):
                for event in exchange(number, body):
                    running.analyzer.take(event)
            each_ms = (cpu_s() - before) / count * 1000
            print(
                f"{name}: {each_ms:.2f} ms CPU per exchange with one call ({count / (time.perf_counter() - began):.0f}/s on this core); "
                f"one core keeps up with {EVERY_S / each_ms * 1000:.0f} sessions at one exchange per {EVERY_S:g} s"
            )
            running.close()
    waiting()


def waiting(count: int = 500) -> None:
    """Resident memory with ``count`` exchanges open at once, each a request of 1 MiB that has no answer yet."""
    with tempfile.TemporaryDirectory() as state:
        config = build(None, {"state": state})
        running = start(config, load_judge(config))
        body = history()
        for event in exchange(0, body):
            running.analyzer.take(event)
        before = resident_mib()
        for number in range(1, count + 1):
            for event in list(exchange(number, body))[:ASKED]:
                running.analyzer.take(event)
        held = resident_mib() - before
        print(
            f"{count} open exchanges, 1 MiB asked, no answer yet: {held:.0f} MiB resident, {held * 1024 / count:.0f} KiB each"
        )
        running.close()


ASKED = 7  # opened, head, four pieces of body and its end


def resident_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / (1 << 20)


if __name__ == "__main__":
    main()
