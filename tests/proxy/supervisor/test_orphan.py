"""A relay whose supervisor died: its connections stay, it stops accepting after a while, and leaves with the last one."""

import json
import socket
import subprocess
import sys
import time

from tests.ports import free_port

from .test_supervisor import WAIT_S, upstream


def test_an_orphan_serves_what_it_has_and_leaves_with_the_last_connection(tmp_path):
    up = upstream()
    port = free_port()
    ours, theirs = socket.socketpair()
    ours.settimeout(WAIT_S)
    config = {
        "routes": {"/": {"url": f"http://127.0.0.1:{up.getsockname()[1]}"}},
        "spool_dir": str(tmp_path / "spool"),
        "listen": [f"127.0.0.1:{port}"],
        "control_fd": theirs.fileno(),
        "orphan_s": 0.2,
    }
    relay = subprocess.Popen([sys.executable, "-m", "proxy.relay", json.dumps(config)], pass_fds=[theirs.fileno()])
    theirs.close()
    assert ours.recv(100) == b"ready\n"
    busy = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
    busy.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n")
    assert busy.recv(65536).endswith(b"ok")  # answered early; the body is still to come
    ours.close()
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            break
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert relay.poll() is None
    busy.sendall(b"body")
    assert busy.recv(65536) == b""  # its exchange ended well, and with it the connection
    busy.close()
    assert relay.wait(WAIT_S) == 0
    up.close()
