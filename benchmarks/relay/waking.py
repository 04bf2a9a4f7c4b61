"""From an exchange's end being captured to the analyzer's side holding it: p50 and p99 in milliseconds."""

import socket
import subprocess
import sys
import time

from benchmarks.relay.proxies import CONTENDERS, OTHER_CORE, spool_folder


def wake(bench):
    """From an exchange's end being captured to the analyzer's side holding it, one exchange every 5 ms."""
    process = CONTENDERS["onlooker"][0](bench.folder, bench.plain, tls=False, certificate=bench.certificate)
    root = next(spool_folder(bench.folder).glob("spool-*"))
    code = (
        "import sys, time; from pathlib import Path; from proxy.spool.tail import SpoolTail; from proxy.spool.events import Ended\n"
        "tail = SpoolTail(Path(sys.argv[1])); late = []\n"
        "while len(late) < 450: late += [time.monotonic_ns() - e.mono_ns for e in tail.wait(1.0) if isinstance(e, Ended)]\n"
        "late = sorted(late[50:]); print(late[200] / 1e6, late[396] / 1e6)"
    )
    reader = subprocess.Popen(
        ["taskset", "-c", str(OTHER_CORE), sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE, text=True
    )
    with socket.create_connection(("127.0.0.1", process.port)) as sock:
        while reader.poll() is None:
            sock.sendall(b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
            sock.recv(65536)
            time.sleep(0.005)
    p50, p99 = reader.communicate()[0].split()
    process.stop()
    print(f"\ncaptured to read by the analyzer's side: p50 {float(p50):.3f} ms, p99 {float(p99):.3f} ms")
