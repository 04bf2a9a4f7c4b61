"""A client that leaves, in each phase of an exchange: milliseconds until its upstream's connection is closed."""

import socket
import struct
import threading
import time

from benchmarks.relay.proxies import CONTENDERS

LEAVING = {  # phase: what the client sends, what the upstream answers before the client leaves
    "uploading": (b"POST /gone HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", b""),
    "before the first byte": (b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n", b""),
    "mid-stream": (b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"),
    "idle": (b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
}


def gone(bench):
    """A client that leaves, in each phase, to its upstream's connection being closed."""
    print()
    for phase, (asked, answer) in LEAVING.items():
        for how in ("FIN", "RST"):
            late = sorted(_leave(bench, asked, answer, reset=how == "RST"))
            print(
                f"client gone by {how}, {phase}, to upstream closed: p50 {late[50] * 1e3:.3f} ms, worst of {len(late)} {late[-1] * 1e3:.3f} ms"
            )


def _leave(bench, asked, answer, *, reset):
    late = []

    def serve(listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with sock:
                sock.recv(65536)
                sock.sendall(answer)
                began.release()
                try:
                    while sock.recv(65536):
                        pass
                except OSError:
                    pass
                late.append(time.perf_counter() - left[0])
                seen.release()

    left, began, seen = [0.0], threading.Semaphore(0), threading.Semaphore(0)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    process = CONTENDERS["onlooker"][0](
        bench.folder, listener.getsockname()[1], tls=False, certificate=bench.certificate
    )
    for _ in range(100):
        sock = socket.create_connection(("127.0.0.1", process.port))
        sock.sendall(asked)
        assert began.acquire(timeout=5)
        if answer:
            sock.recv(65536)
        time.sleep(0.001)  # the upstream waits in recv
        if reset:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        left[0] = time.perf_counter()
        sock.close()
        assert seen.acquire(timeout=5)
    process.stop()
    listener.close()
    return late
