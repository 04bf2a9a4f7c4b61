"""Behind the relay, nginx and HAProxy count the same requests as we do: no odd but accepted request hides another one."""

import os
import shutil
import socket
import subprocess
import time

import pytest

from .conftest import WAIT_S, Rig
from .test_request_fidelity import SAME

SENTINEL = b"GET /sentinel HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LARGE = 200_000  # rows above are about size, and slow here

NGINX = """{user}worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/log crit; events {{ }}
http {{ access_log off; client_body_temp_path {folder}/body; large_client_header_buffers 8 128k; client_max_body_size 0;
server {{ listen 127.0.0.1:{port}; location / {{ return 200 "<$request_uri>"; }} }} }}
"""
HAPROXY = """global
  nbthread 1
defaults
  mode http
  timeout client 10s
frontend f
  bind 127.0.0.1:{port}
  http-request return status 200 content-type text/plain lf-string "<%[path]>"
"""


@pytest.fixture(scope="module", params=["nginx", "haproxy"])
def server(request, tmp_path_factory):
    program = request.param
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp(program)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = folder / "conf"
    user = "user root; " if os.geteuid() == 0 else ""
    file.write_text((NGINX if program == "nginx" else HAPROXY).format(folder=folder, port=port, user=user))
    argv = (
        ["nginx", "-e", str(folder / "err"), "-c", str(file)]
        if program == "nginx"
        else ["haproxy", "-db", "-f", str(file)]
    )
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    rig = Rig("uvloop", folder / "spool", {"/": {"url": f"http://127.0.0.1:{port}"}})
    yield rig
    rig.close()
    process.terminate()
    process.wait(WAIT_S)


@pytest.mark.parametrize("name", [n for n, raw in SAME.items() if len(raw) < LARGE and not n.startswith("HTTP/1.0")])
def test_one_request_stays_one_request(server, name):
    raw = SAME[name].replace(b"@HOST@", b"localhost")
    with server.connect() as sock:
        sock.sendall(raw)
        sock.sendall(SENTINEL)
        got = b""
        try:
            while data := sock.recv(65536):
                got += data
        except ConnectionResetError:
            pass
    statuses = got.count(b"HTTP/1.1 ")
    refused = got[9:12] in {b"400", b"405", b"414", b"431", b"501", b"505"} or not got  # theirs to refuse
    closing = b"close" in raw.lower().partition(b"\r\n\r\n")[0]
    assert refused or closing or (statuses == 2 and got.count(b"</sentinel>") == 1), got[-300:]
    assert statuses <= 2
    assert b"smuggled" not in got
