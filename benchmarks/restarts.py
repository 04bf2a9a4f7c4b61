"""How long a part that was killed is away, and how late the relay's loop is while its analyzer stands still.

usage: python -m benchmarks.restarts [ROUNDS]. A whole instance under 1,000 small requests a second; kill -9 of the relay
(until a request is answered again) and of the analyzer (until the new one reports), then SIGSTOP of the analyzer for
30 s with the relay's own measure of its lag, looked at ten times a second. BENCH_STOP_S (30): for how long.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.relay.proxies import free_port
from proxy.instance import Instance
from proxy.relay import counters
from proxy.settings import Config, SpoolSettings
from proxy.status import is_fresh, read_pids, read_status, status_file

ASK = b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(ANSWER)
    except (OSError, EOFError):
        writer.close()


class Load:
    """Ten clients, 1,000 requests a second in all; ``ok`` and ``failed`` count."""

    def __init__(self, port: int) -> None:
        self.port, self.ok, self.failed, self.stopping = port, 0, 0, False

    async def client(self) -> None:
        writer = None
        while not self.stopping:
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(ASK)
                await reader.readexactly(len(ANSWER))
                self.ok += 1
            except (OSError, EOFError):
                self.failed += 1
                writer = None
            await asyncio.sleep(0.01)


async def _until(condition) -> float:
    began = time.monotonic()
    while not condition():
        await asyncio.sleep(0.002)
    return time.monotonic() - began


async def _relay_away(instance: Instance, load: Load) -> float:
    for pid in read_pids(instance.config.pids_file)["relays"]:
        os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", load.port)  # waits in the supervisor's backlog
    writer.write(ASK)
    await reader.readexactly(len(ANSWER))
    writer.close()
    return time.monotonic() - began


async def _analyzer_away(instance: Instance) -> float:
    status = status_file(instance.config.spool.dir)
    os.kill(read_pids(instance.config.pids_file)["analyzer"], signal.SIGKILL)
    status.unlink(missing_ok=True)
    return await _until(lambda: is_fresh(read_status(status)))


async def _stopped(instance: Instance, load: Load, seconds: float) -> tuple[float, int, int]:
    """(worst lag in ms, requests, failures) while the analyzer stands still."""
    pid = read_pids(instance.config.pids_file)["analyzer"]
    page = Path(instance.config.spool.dir) / "counters"
    ok, failed, worst = load.ok, load.failed, 0
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await asyncio.sleep(0.1)
        worst = max(worst, *(slot["loop_lag_max_us"] for slot in counters.read(page)))
    os.kill(pid, signal.SIGCONT)
    return worst / 1e3, load.ok - ok, load.failed - failed


async def _measure(folder: Path, rounds: int) -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    up = server.sockets[0].getsockname()[1]
    (folder / "state").mkdir(mode=0o700)
    config = Config(
        state=str(folder / "state"),
        spool=SpoolSettings(dir=f"/dev/shm/{folder.name}/spool"),
        listen=f"127.0.0.1:{free_port()}",
        control=f"127.0.0.1:{free_port()}",
        routes={"/": {"url": f"http://127.0.0.1:{up}"}},
    )
    instance = await asyncio.to_thread(Instance.start, config)
    try:
        await asyncio.to_thread(instance.wait_analyzer)
        load = Load(int(instance.listen.rpartition(":")[2]))
        clients = [asyncio.create_task(load.client()) for _ in range(10)]
        relay, analyzer = [], []
        for _ in range(rounds):
            await asyncio.sleep(6)  # longer than a part has to live to be started again at once
            relay.append(await _relay_away(instance, load))
            analyzer.append(await _analyzer_away(instance))
        print(f"relay killed, until answered: median {sorted(relay)[rounds // 2]:.2f} s, worst {max(relay):.2f} s")
        print(
            f"analyzer killed, until it reports: median {sorted(analyzer)[rounds // 2]:.2f} s, worst {max(analyzer):.2f} s"
        )
        seconds = float(os.environ.get("BENCH_STOP_S", "30"))
        lag, ok, failed = await _stopped(instance, load, seconds)
        print(f"analyzer stopped for {seconds:g} s: {ok} requests, {failed} failed, worst lag of the loop {lag:.1f} ms")
        load.stopping = True
        await asyncio.gather(*clients)
    finally:
        print("stop:", await asyncio.to_thread(instance.stop))
        server.close()
        shutil.rmtree(f"/dev/shm/{folder.name}", ignore_errors=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="onlooker-bench-") as folder:
        asyncio.run(_measure(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else 5))


if __name__ == "__main__":
    main()
