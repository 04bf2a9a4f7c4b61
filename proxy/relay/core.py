"""What all connections of one relay process share: spool, tick, counters, upstream dialling, draining.

In: connections on listeners. Out: forwarded bytes, spool entries, a counters slot. No request is parsed here.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from typing import TYPE_CHECKING

from proxy.relay.chain import Chain
from proxy.relay.client import Client
from proxy.relay.connection import Connection
from proxy.relay.counters import Slot
from proxy.relay.dial import CONNECT_S, connect, tls_context
from proxy.relay.listener import Listener
from proxy.relay.refusals import RefusedError
from proxy.relay.routes import Route
from proxy.relay.tick import Tick
from proxy.relay.upstream import Upstream
from proxy.relay.watch import Watch
from proxy.spool.writer import Writer

if TYPE_CHECKING:
    from proxy.relay.transparent import Outgoing
    from proxy.relay.tunnels import TunnelClient

DRAIN_S = 30.0
HEAD_S = 30.0  # from a head's first byte to its last; an idle connection has no clock
IDLE_GRACE_S = 1.0
CLOCK_STEP_NS = 500_000_000  # a wall clock that jumps more is said in the spool; slewing is not
_LAG_S = 0.1


class Relay:
    """One per process. ``exchange`` is the number of the last exchange; they are unique within the spool writer."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        spool: Writer,
        slot: Slot,
        key: bytes,
        own: frozenset[tuple[str, int]] = frozenset(),
        *,
        head_s: float = HEAD_S,
        connect_s: float = CONNECT_S,
        chain: Chain | None = None,
    ) -> None:
        self.loop, self.spool, self.slot, self.key = loop, spool, slot, key
        self.own, self.head_s, self._connect_s, self._chain = own, head_s, connect_s, chain
        self.outgoing: Outgoing | None = None  # set when redirected connections are taken
        self.tick = Tick(loop, spool)
        self.watch = Watch(loop)
        self.clients: set[Connection] = set()
        self.exchange = 0
        self.draining = False
        self._contexts: dict[tuple[str | None, ...], ssl.SSLContext] = {}
        self._dials: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.AbstractServer] = []
        self._timer = loop.call_later(_LAG_S, self._look)
        self._due_ns = time.monotonic_ns() + int(_LAG_S * 1e9)
        self._empty: asyncio.Event | None = None
        self._tended = 0
        self._wall_offset_ns = time.time_ns() - time.monotonic_ns()

    async def listen(self, listener: Listener) -> None:
        """Accept on the listener's socket."""

        def accept() -> Client:
            return listener.client(self, listener)

        if listener.address:
            self._servers.append(await self.loop.create_server(accept, sock=listener.sock, backlog=4096))
        else:
            self._servers.append(await self.loop.create_unix_server(accept, sock=listener.sock, backlog=4096))

    def stop_accepting(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()

    async def drain(self, within_s: float = DRAIN_S) -> None:
        """Accept no more, close idle connections, let exchanges finish, cut what is left, close the spool."""
        self.stop_accepting()
        self.draining = True
        self._empty = asyncio.Event()
        # a request may be on its way on an idle connection: it is answered, then that connection is closed
        self.loop.call_later(min(IDLE_GRACE_S, within_s / 2), self.close_idle)
        if self.clients:
            try:
                async with asyncio.timeout(within_s):
                    await self._empty.wait()
            except TimeoutError:
                for client in list(self.clients):
                    client.broken("drain_deadline", "truncated", reset=True)
                self.tick.flush()
        self._timer.cancel()
        self.watch.close()
        self.tick.flush()
        self.spool.close()
        self.slot.release()

    def close_idle(self) -> None:
        for client in list(self.clients):
            if not client.busy:
                client.shut()

    # what connections call

    def arrived(self, client: Connection) -> str:
        """A new connection; returns its name."""
        self.clients.add(client)
        slot = self.slot
        slot.connections += 1
        slot.connections_open += 1
        return f"{self.spool.name}-{slot.connections}"

    def left(self, client: Connection) -> None:
        self.clients.discard(client)
        self.slot.connections_open -= 1
        if self._empty and not self.clients:
            self._empty.set()

    def dial(self, client: Client, route: Route) -> None:
        """Connect the client's upstream; ``client.connected`` or ``client.refuse`` follows. Once at a time."""
        if client.dialing is not None:
            return
        task = self.loop.create_task(self._dial(client, route))
        client.dialing = task
        self._dials.add(task)
        task.add_done_callback(self._dials.discard)

    def ended(self, client: Connection, ending: str, reason: str) -> None:
        if ending == "client_gone":
            self.slot.client_gone += 1
        elif ending == "truncated":
            self.slot.truncated += 1
        if client.opaque:
            self._opaque(client)
        self.spool.end(client.exchange, ending, reason)
        self.tick.arm()

    def refused(self, client: Connection, code: str, status: int) -> None:
        self.slot.refused += 1
        meta: dict[str, object] = {
            "listener": client.listener.name,
            "peer": client.peer,
            "connection": client.connection,
            "route": client.route.name if client.route else None,
        }
        self.spool.say(client.exchange, {"event": "refused", "status": status, "reason": code, "meta": meta})
        self.tick.arm()

    def unshaken(self, client: TunnelClient, host: str, reason: str) -> None:
        """A client's TLS to ``host`` did not come about: nothing of it went on, and that is said."""
        self.exchange += 1
        said: dict[str, object] = {"event": "opaque", "host": host, "reason": reason, "bytes_in": 0, "bytes_out": 0}
        said["duration_ms"] = (time.monotonic_ns() - client.since_ns) / 1e6
        self.spool.say(self.exchange, said)
        self.tick.arm()

    def _opaque(self, client: Connection) -> None:
        assert client.route
        size_in, size_out = self.spool.lost_bytes(client.exchange)
        said: dict[str, object] = {"event": "opaque", "host": client.route.upstream, "reason": client.opaque}
        said |= {"bytes_in": size_in, "bytes_out": size_out}
        said["duration_ms"] = (time.monotonic_ns() - client.opaque_since_ns) / 1e6
        self.spool.say(client.exchange, said)

    async def _dial(self, client: Client, route: Route) -> None:
        self.slot.upstream_connects += 1
        try:
            context = self._context(route) if route.tls else None
            chain = self._chain if (route.tls or client.blind) and route.address is None else None
            chain = chain if chain is not None and chain.takes(route.host, route.port) else None
            await connect(
                route, Upstream(client), context, self.own, self._connect_s, chain=chain, outgoing=self.outgoing
            )
        except RefusedError as error:
            self.slot.upstream_failures += 1
            client.dialing = None
            client.refuse(error.code)
        except Exception:
            # a client must not wait for ever, whatever went wrong
            self.slot.upstream_failures += 1
            client.dialing = None
            client.refuse("upstream-connect")
            raise

    def _context(self, route: Route) -> ssl.SSLContext:
        key = route.ca, route.cert, route.key
        context = self._contexts.get(key)
        if context is None:
            try:
                context = tls_context(*key)
            except (OSError, ssl.SSLError):
                raise RefusedError("upstream-tls") from None
            self._contexts[key] = context
        return context

    def _look(self) -> None:
        """Ten times a second: how late is the loop; once a second: tend the spool."""
        now = time.monotonic_ns()
        slot = self.slot
        slot.loop_lag_max_us = max(0, now - self._due_ns) // 1000
        slot.heartbeat_ns = now
        offset_ns = time.time_ns() - now
        if abs(offset_ns - self._wall_offset_ns) > CLOCK_STEP_NS:
            self.spool.say(
                0, {"event": "clock", "wall_ns": offset_ns + now, "step_ns": offset_ns - self._wall_offset_ns}
            )
            self.tick.arm()
            self._wall_offset_ns = offset_ns
        slot.spool_full = int(bool(self.spool.full))
        self._tended += 1
        if self._tended >= 10 or self.spool.full:
            self._tended = 0
            self.spool.tend()
        slot.store()
        self._due_ns = now + int(_LAG_S * 1e9)
        self._timer = self.loop.call_later(_LAG_S, self._look)
