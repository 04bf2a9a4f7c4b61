"""One relay process: configuration in as JSON, listening sockets in as descriptors, until SIGTERM.

Keys of the configuration (all but ``routes`` and ``spool_dir`` optional):
  routes          {name: {url, ca?, cert?, key?, agui?}}; the name "/" is the root route
  spool_dir       the spool's root; this relay makes its own directory below it
  spool_cap       bytes of captured, not yet analysed traffic of all relays together (256 MiB)
  key_file        the installation's fingerprint key, made when missing (<spool_dir>/fingerprint.key)
  counters        the shared page (<spool_dir>/counters); ``slot`` is this relay's place in it (0)
  listen_fds      descriptors of listening sockets; or ``listen``: ["127.0.0.1:8790", …] to bind here
  forward_fds     descriptors of a forward proxy's sockets; or ``forward_listen`` as ``listen``
  forward         {intercept: [host, …], ca_dir, upstream_ca, hello_s}: what these look into, with what
  transparent_fds  descriptors of sockets that take redirected connections; or ``transparent_listen`` as ``listen``
  upstream_proxy  http://host:port of a parent proxy, or "direct"; without it our own HTTPS_PROXY counts
  no_proxy        [name, .domain, address, network, …] that are reached without it, beside those of NO_PROXY
  own             ["127.0.0.1:8791", …]: more addresses never to connect to (the control plane)
  control_fd      a socket pair's end from the supervisor: it is told "ready" and "draining"; when the supervisor
                  dies, connections stay, and ``orphan_s`` (30) later nobody new is accepted
  head_s          how long a request head may take from its first byte (30)
  connect_s       how long connecting to an upstream may take (10)
  drain_s         how long SIGTERM waits for exchanges to end (30)
  loop            "uvloop", "asyncio" or "auto" (uvloop when it is installed)
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from proxy.folders import private_directory
from proxy.relay.chain import DIRECT, Chain, chain_of, from_environment
from proxy.relay.core import DRAIN_S, HEAD_S, Relay
from proxy.relay.counters import Slot
from proxy.relay.dial import CONNECT_S
from proxy.relay.forward import ForwardListener
from proxy.relay.listener import Listener
from proxy.relay.secrets import install_key
from proxy.relay.transparent import Outgoing, TransparentListener
from proxy.spool.writer import Writer

ORPHAN_S = 30.0


def serve(config: dict[str, Any]) -> int:
    """Run until drained; the exit code."""
    _limits()
    runner = _runner(str(config.get("loop", "auto")))
    runner(_serve(config))
    return 0


def address(text: str) -> tuple[str, int]:
    """ "host:port" or "[v6]:port" taken apart."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


async def start(
    config: dict[str, Any],
    sockets: list[socket.socket],
    forward: Sequence[socket.socket] = (),
    transparent: Sequence[socket.socket] = (),
) -> Relay:
    """A relay accepting on ``sockets``; as a forward proxy on ``forward``; what was redirected on ``transparent``."""
    loop = asyncio.get_running_loop()
    root = private_directory(Path(config["spool_dir"]))
    slot = Slot(Path(config.get("counters") or root / "counters"), int(config.get("slot", 0)))
    before = slot.exchanges, slot.bytes_in, slot.bytes_out

    def offered(exchanges: int, bytes_in: int, bytes_out: int) -> None:
        slot.offered(before[0] + exchanges, before[1] + bytes_in, before[2] + bytes_out)

    name = f"relay{config.get('slot', 0)}-{os.getpid()}-{time.time_ns():x}"
    spool = Writer(root, name, int(config.get("spool_cap") or 256 << 20), offered=offered)
    key = install_key(Path(config.get("key_file") or root / "fingerprint.key"))
    listeners = [Listener(sock, config["routes"]) for sock in sockets]
    listeners += [ForwardListener(sock, config["routes"], config.get("forward", {})) for sock in forward]
    listeners += [TransparentListener(sock, config["routes"], config.get("forward", {})) for sock in transparent]
    own = {x.address for x in listeners if x.address} | {address(text) for text in config.get("own", ())}
    head_s, connect_s = float(config.get("head_s", HEAD_S)), float(config.get("connect_s", CONNECT_S))
    relay = Relay(loop, spool, slot, key, frozenset(own), head_s=head_s, connect_s=connect_s, chain=_chain(config))
    relay.outgoing = Outgoing() if transparent else None
    for listener in listeners:
        await relay.listen(listener)
    return relay


def _chain(config: dict[str, Any]) -> Chain | None:
    said, without = from_environment(os.environ)
    proxy = config.get("upstream_proxy") or said
    if proxy is None or proxy == DIRECT:
        return None
    try:
        return chain_of(proxy, (*without, *config.get("no_proxy", ())))
    except ValueError as error:
        sys.stderr.write(f"relay: upstreams are reached directly: {error}\n")
        return None


async def _serve(config: dict[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: None)  # nothing of the relay's configuration changes while it runs
    relay = await start(
        config, _sockets(config, "listen"), _sockets(config, "forward_listen"), _sockets(config, "transparent_listen")
    )
    link = int(config.get("control_fd", -1))
    if link >= 0:
        _follow_supervisor(loop, link, relay, stop, float(config.get("orphan_s", ORPHAN_S)))
    _tell(link, b"ready\n")
    await stop.wait()
    _tell(link, b"draining\n")
    await relay.drain(float(config.get("drain_s", DRAIN_S)))


def _sockets(config: dict[str, Any], key: str) -> list[socket.socket]:
    made = [socket.socket(fileno=int(fd)) for fd in config.get(key.replace("_listen", "") + "_fds", ())]
    for text in config.get(key, ()) if not made else ():
        host, port = address(text)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        made.append(socket.create_server((host, port), family=family, backlog=4096))
    for sock in made:
        sock.setblocking(False)
    return made


def _follow_supervisor(
    loop: asyncio.AbstractEventLoop, fd: int, relay: Relay, stop: asyncio.Event, orphan_s: float
) -> None:
    """The supervisor holds the other end: EOF means it died. Connections stay; after 30 s nobody new is accepted."""
    os.set_blocking(fd, False)

    def orphaned() -> None:
        relay.stop_accepting()
        relay.draining = True  # and each connection goes after the answer it waits for
        relay.close_idle()
        loop.call_later(1.0, leave)

    def leave() -> None:
        if relay.clients:
            loop.call_later(1.0, leave)
        else:
            stop.set()

    def heard() -> None:
        try:
            if os.read(fd, 4096):
                return
        except BlockingIOError:
            return
        except ConnectionResetError:
            pass  # it was killed
        loop.remove_reader(fd)
        loop.call_later(orphan_s, orphaned)

    loop.add_reader(fd, heard)


def _tell(link: int, word: bytes) -> None:
    if link >= 0:
        try:
            os.write(link, word)
        except OSError:
            pass  # nobody supervises any more


def _limits() -> None:
    """As many descriptors as allowed, and no core dump: it would hold credentials."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _runner(name: str) -> Callable[[Coroutine[Any, Any, None]], None]:
    if name != "asyncio":
        try:
            import uvloop  # noqa: PLC0415 - optional
        except ImportError:
            if name == "uvloop":
                raise
        else:
            run: Callable[[Coroutine[Any, Any, None]], None] = uvloop.run
            return run
    return asyncio.run
