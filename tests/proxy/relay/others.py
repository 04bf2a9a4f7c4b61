"""Other readers of HTTP/1: nginx, HAProxy and an aiohttp server as processes, h11 and httptools in this one.

``read(bytes)`` of each gives the targets of the requests it took, in order, and ``REFUSED`` at the end when it then
said no, hung up, or would not go on.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import h11
import httptools

from tests.ports import free_port

from .conftest import WAIT_S

REFUSED = b"refused"
ROUNDS = 3  # of one thread of a server: asked later and answered, so it has turned to all that came before
PROGRAMS = ("nginx", "haproxy", "aiohttp")
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
AIOHTTP = """
import asyncio, sys
from aiohttp import web

async def tell(request):
    await request.read()
    return web.Response(text=f"<{request.raw_path}>")

async def main():
    server = web.Server(tell, access_log=None, max_line_size=1 << 17, max_field_size=1 << 17)
    runner = web.ServerRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(sys.argv[1])).start()
    await asyncio.Event().wait()

asyncio.run(main())
"""
_TOLD = re.compile(rb"HTTP/1\.1 (\d{3})[^\r]*\r\n(?:[^\r]+\r\n)*\r\n(?:<([^>]*)>)?")


class Served:
    """One server process that answers ``<target>``."""

    def __init__(self, program, folder):
        self.port = free_port()
        file = folder / "conf"
        user = "user root; " if os.geteuid() == 0 else ""
        file.write_text((NGINX if program == "nginx" else HAPROXY).format(folder=folder, port=self.port, user=user))
        argv = {
            "nginx": ["nginx", "-e", str(folder / "err"), "-c", str(file)],
            "haproxy": ["haproxy", "-db", "-f", str(file)],
            "aiohttp": [sys.executable, "-c", AIOHTTP, str(self.port)],
        }[program]
        self.log = (folder / "said").open("wb")
        self.process = subprocess.Popen(argv, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def read(self, raw):
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as sock:
            with contextlib.suppress(OSError):
                sock.sendall(raw)
            got = b""
            while more := self._said(sock):
                got += more
        told = _TOLD.findall(got)
        taken = [target for status, target in told if status == b"200"]
        return (*taken, *((REFUSED,) if len(taken) < max(len(told), 1) else ()))

    def _said(self, sock):
        """What has come once others who asked later have been answered: nothing, when all was said."""
        for _ in range(ROUNDS):
            with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as other:
                other.sendall(b"GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                while other.recv(65536):
                    pass
        sock.setblocking(False)
        got = b""
        with contextlib.suppress(OSError):
            while data := sock.recv(65536):
                got += data
        return got

    def close(self):
        self.process.terminate()
        self.process.wait(WAIT_S)
        self.log.close()


def installed(program):
    return program == "aiohttp" or shutil.which(program) is not None


def by_h11(raw):
    connection, taken = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 21), []
    try:
        connection.receive_data(raw)
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                target = event.target
            elif isinstance(event, h11.EndOfMessage):
                taken.append(target)
                connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                connection.send(h11.EndOfMessage())
                connection.start_next_cycle()
            elif event in (h11.NEED_DATA, h11.PAUSED):
                return (*taken, *(() if taken else (REFUSED,)))
    except (h11.RemoteProtocolError, h11.LocalProtocolError):
        return (*taken, REFUSED)


class _Taken:
    def __init__(self):
        self.taken, self._url = [], b""

    def on_message_begin(self):
        self._url = b""

    def on_url(self, url):
        self._url += url

    def on_message_complete(self):
        self.taken.append(self._url)


def by_httptools(raw):
    seen = _Taken()
    try:
        httptools.HttpRequestParser(seen).feed_data(raw)
    except httptools.HttpParserUpgrade:
        pass
    except httptools.HttpParserError:
        return (*seen.taken, REFUSED)
    return (*seen.taken, *(() if seen.taken else (REFUSED,)))
