"""The contenders and the upstream: each a process tree pinned to a core, with its CPU time and memory readable."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PROXY_CORE, OTHER_CORE = 0, 1
HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")

RESPONSE_HEADERS = {
    "cf-ray": "8f1c2d3e4f5a6b7c-XYZ", "x-request-id": "req_011CQ5example000000000001", "via": "1.1 edge",
    "anthropic-ratelimit-requests-limit": "4000", "anthropic-ratelimit-requests-remaining": "3999",
    "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:01Z", "anthropic-ratelimit-tokens-limit": "400000",
    "anthropic-ratelimit-tokens-remaining": "399000", "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:02Z",
    "anthropic-ratelimit-input-tokens-limit": "320000", "anthropic-ratelimit-input-tokens-remaining": "319000",
    "anthropic-organization-id": "00000000-0000-0000-0000-000000000000", "strict-transport-security": "max-age=31536000",
    "cf-cache-status": "DYNAMIC", "x-robots-tag": "none", "x-envoy-upstream-service-time": "812",
    "cache-control": "no-cache", "vary": "Accept-Encoding", "set-cookie": "__cf_bm=abcdefghijklmnopqrstuvwxyz0123456789; path=/; HttpOnly",
    "alt-svc": 'h3=":443"',
}  # fmt: skip
REQUEST_HEADERS = {
    "Accept": "application/json", "X-Stainless-Retry-Count": "0", "X-Stainless-Timeout": "600", "X-Stainless-Lang": "js",
    "X-Stainless-Package-Version": "0.60.0", "X-Stainless-OS": "Linux", "X-Stainless-Arch": "x64",
    "X-Stainless-Runtime": "node", "X-Stainless-Runtime-Version": "v22.1.0", "anthropic-version": "2023-06-01",
    "x-api-key": "sk-example-" + "A" * 90, "x-app": "cli", "User-Agent": "agent-cli/1.0.83 (external, cli)",
    "Content-Type": "application/json", "anthropic-beta": "fine-grained-tool-streaming-2025-05-14",
    "Accept-Encoding": "gzip, deflate",
}  # fmt: skip


def on_core(core):
    """The command prefix of whatever is measured. BENCH_REALTIME (root): other work on the machine cannot come between."""
    return [*(("chrt", "-f", "1") if os.environ.get("BENCH_REALTIME") else ()), "taskset", "-c", str(core)]


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Process:
    """A started tree; ``cpu`` in seconds, ``memory`` in bytes (Pss of the tree)."""

    def __init__(self, argv, core, port, wait=True, env=None):
        self.port = port
        # CHILD of this pinned shell keeps the affinity
        self.process = subprocess.Popen(
            [*on_core(core), *argv],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})},
        )  # fmt: skip
        deadline = time.monotonic() + 10
        while wait:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.02)

    def tree(self):
        pids = [self.process.pid]
        for pid in pids:
            try:
                for task in Path(f"/proc/{pid}/task").iterdir():
                    pids += [int(p) for p in (task / "children").read_text().split()]
            except OSError:
                pass
        return pids

    def cpu(self):
        total = 0
        for pid in self.tree():
            try:
                parts = Path(f"/proc/{pid}/schedstat").read_text().split()
                total += int(parts[0])
            except OSError:
                pass
        return total / 1e9

    def memory(self):
        total = 0
        for pid in self.tree():
            try:
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
                total += int(text.partition("\nPss:")[2].split()[0]) * 1024
            except OSError:
                pass
        return total

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def nginx(folder, port, body, core):
    path = folder / f"nginx-{port}.conf"
    user = "user root; " if os.geteuid() == 0 else ""  # its worker must read our folder
    path.write_text(
        f"{user}worker_processes 1; daemon off; pid {folder}/nginx-{port}.pid; error_log {folder}/nginx-{port}.log crit;\n"
        f"worker_rlimit_nofile 20000; events {{ worker_connections 9000; }}\n"
        f"http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 600; client_max_body_size 0;\n"
        f"client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; large_client_header_buffers 8 64k;\n{body}\n}}\n"
    )
    return Process(["nginx", "-e", f"{folder}/nginx-{port}.err", "-c", str(path)], core, port)


def upstream(folder, certificate):
    """(plain port, TLS port, process): small, realistic and 1 MiB answers by path."""
    plain, tls = free_port(), free_port()
    (folder / "big").write_bytes(os.urandom(1 << 20))
    headers = "".join(f"add_header {k} '{v}' always; " for k, v in RESPONSE_HEADERS.items())
    places = (
        "location /small { return 200 '{\"ok\":true}'; }\n"
        f"location /real {{ {headers} return 200 '{{\"ok\":true}}'; }}\n"
        f"location /big {{ alias {folder}/big; }}\n"
    )
    process = nginx(
        folder, plain,
        f"server {{ listen 127.0.0.1:{plain} backlog=4096; {places} }}\n"
        f"server {{ listen 127.0.0.1:{tls} ssl backlog=4096; ssl_certificate {certificate}; ssl_certificate_key {certificate}; {places} }}",
        OTHER_CORE,
    )  # fmt: skip
    return plain, tls, process


def start_nginx(folder, up, tls, certificate):
    port = free_port()
    secure = (
        f"proxy_ssl_verify on; proxy_ssl_trusted_certificate {certificate}; proxy_ssl_name localhost; proxy_ssl_server_name on;"
        if tls else ""
    )  # fmt: skip
    return nginx(
        folder, port,
        f"upstream u {{ server 127.0.0.1:{up}; keepalive 256; keepalive_requests 1000000000; }}\n"
        f"server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ proxy_pass {'https' if tls else 'http'}://u; "
        f"proxy_http_version 1.1; proxy_set_header Connection ''; proxy_buffering off; proxy_request_buffering off; "
        f"proxy_read_timeout 3600; {secure} }} }}",
        PROXY_CORE,
    )  # fmt: skip


def start_haproxy(folder, up, tls, certificate):
    port = free_port()
    path = folder / f"haproxy-{port}.cfg"
    secure = f"ssl verify required ca-file {certificate} sni str(localhost) verifyhost localhost" if tls else ""
    path.write_text(
        "global\n  maxconn 9000\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 10s\n  timeout client 1h\n  timeout server 1h\n"
        f"frontend f\n  bind 127.0.0.1:{port} backlog 4096\n  default_backend b\n"
        f"backend b\n  http-reuse safe\n  server s 127.0.0.1:{up} {secure}\n"
    )
    return Process(["haproxy", "-f", str(path), "-db"], PROXY_CORE, port)


def start_aiohttp(_folder, up, tls, _certificate):
    if tls:
        return None
    port = free_port()
    return Process([sys.executable, str(HERE / "aiohttp_proxy.py"), str(port), str(up)], PROXY_CORE, port)


def start_onlooker(folder, up, tls, certificate, loop="auto"):
    port = free_port()
    route = {"url": f"https://localhost:{up}", "ca": str(certificate)} if tls else {"url": f"http://127.0.0.1:{up}"}
    config = {
        "routes": {"/": route},
        "spool_dir": str(spool_folder(folder) / f"spool-{port}"),
        "listen": [f"127.0.0.1:{port}"],
        "loop": loop,
        "spool_cap": 8 << 30,  # nobody reads it here: what is measured is capture, not dropping
    }
    return Process([sys.executable, "-m", "proxy.relay", json.dumps(config)], PROXY_CORE, port)


def spool_folder(folder):
    memory = Path("/dev/shm")
    if not memory.is_dir():
        return folder
    own = memory / folder.name
    own.mkdir(mode=0o700, exist_ok=True)
    return own


CONTENDERS = {
    "nginx": (start_nginx, "nginx"),
    "haproxy": (start_haproxy, "haproxy"),
    "aiohttp": (start_aiohttp, None),
    "onlooker": (start_onlooker, None),
}


def present(name):
    needs = CONTENDERS[name][1]
    return needs is None or shutil.which(needs) is not None
