"""An upstream's connection: its transport, why it is not read, and what its end means for the client.

Only a true end of a response is passed on as one: a break mid-body never becomes a valid terminator.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proxy.relay.client import Client
WRITE_BUFFER_BYTES = 512 << 10  # above it the other side is not read; two reads fit, so large bodies do not stutter
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends RST
AT_HEAD, LENGTH, CHUNKED, UNTIL_CLOSE, TUNNEL = range(5)  # what the bytes that come are


class UpstreamConnection(asyncio.Protocol):
    """``_started``: bytes of a final head went to the client."""

    __slots__ = ("_client", "_mode", "_paused", "_push", "_started", "_transport", "write")

    def __init__(self, client: Client) -> None:
        self._client: Client | None = client
        self._mode = AT_HEAD
        self._started = self._paused = False
        self._push = client.push

    # what the loop (or the TLS layer) calls

    def connection_made(self, transport: Any) -> None:
        self._transport, self.write = transport, transport.write
        if self._client is None or self._client.dead:
            transport.abort()
            return
        transport.set_write_buffer_limits(WRITE_BUFFER_BYTES)
        self._client.connected(self)

    def eof_received(self) -> bool:
        c = self._client
        if c is None:
            return False
        if self._mode == TUNNEL:
            c.tunnel_eof(from_client=False)
            return True
        if self._mode == UNTIL_CLOSE:
            self._mode = AT_HEAD
            c.keep = False
            c.answered = True
            if c.asked:
                c.relay.ended(c, "complete", "")
                c.over()
            else:
                c.ended("truncated", "early_response")
                c.shut()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        c, self._client = self._client, None
        if c is None or c.dead:
            return
        c.up = None
        if self._mode == TUNNEL:
            c.ended("truncated" if exc else "complete", "tunnel_reset" if exc else "")
            c.shut()
        elif not c.busy:
            c.shut()  # idle: mirrored
        elif c.answered:
            c.ended("truncated", "early_response")  # it answered and left before the request was whole
            c.shut()
        elif self._started:
            reason = "upstream_reset" if exc else "upstream_closed"
            c.broken(reason, "truncated", reset=self._mode == UNTIL_CLOSE)
        else:
            reason = "upstream_reset_before_response" if exc else "upstream_closed_before_response"
            c.broken(reason, "upstream_failed", reset=exc is not None)

    def pause_writing(self) -> None:
        if self._client:
            self._client.upstream_full(full=True)

    def resume_writing(self) -> None:
        if self._client:
            self._client.upstream_full(full=False)

    # what the client's half calls

    def pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._transport.resume_reading()

    def start_tunnel(self) -> None:
        """Nobody reads what comes: for the client, before anything was sent."""
        self._mode, self._started = TUNNEL, True

    def half_close(self, _: None) -> None:
        self._transport.write_eof()

    def detach(self) -> None:
        """Close in peace; what still comes is nobody's."""
        self._client = None
        self._transport.close()

    def abort(self) -> None:
        """Away at once: with unsent bytes a FIN would wait behind them, so then it is a RST."""
        self._client = None
        if self._transport.get_write_buffer_size():
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._transport.abort()
