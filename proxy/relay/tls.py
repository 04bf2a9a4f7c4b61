"""TLS to an upstream or from a client, with true endings: a FIN without close_notify is never passed on as a clean end.

asyncio's own TLS reports both alike, so this drives ``ssl.MemoryBIO`` itself, the same on every loop. Towards the
upstream protocol it is a transport; towards the loop it is the protocol of the raw connection.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

_READ_BYTES = 256 << 10


class TruncatedError(ConnectionResetError):
    """The peer's FIN came without close_notify: whatever was being read may be cut off."""


class Tls(asyncio.Protocol):
    """``ready`` is done when the handshake is; then ``app.connection_made(self)`` was called."""

    __slots__ = ("_app", "_closed", "_in", "_kept", "_open", "_out", "_raw", "_ssl", "_told_eof", "ready", "write")

    def __init__(self, app: asyncio.Protocol, context: ssl.SSLContext, server_hostname: str | None) -> None:
        """``server_hostname`` None: the peer is a client, this side the server."""
        self._app = app
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = context.wrap_bio(
            self._in, self._out, server_side=not server_hostname, server_hostname=server_hostname
        )
        self._kept = self._open = self._told_eof = self._closed = False
        self._raw: Any = None
        self.write = self._write
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # the raw connection's protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._raw = transport
        self._handshake()

    def data_received(self, data: bytes) -> None:
        self._in.write(data)
        if not self._open:
            self._handshake()
            if not self._open:
                return
        self._read()

    def eof_received(self) -> bool:
        self._in.write_eof()
        if self._open and not self._told_eof:
            self._read()
        if not self._open:
            self._fail(ConnectionResetError("closed during the TLS handshake"))
        return self._kept

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._open:
            self._fail(exc or ConnectionResetError("closed during the TLS handshake"))
            return
        if exc is None and not self._told_eof and not self._closed:
            exc = TruncatedError("FIN without close_notify")
        self._app.connection_lost(exc)

    def pause_writing(self) -> None:
        if self._open:
            self._app.pause_writing()

    def resume_writing(self) -> None:
        if self._open:
            self._app.resume_writing()

    # the upstream protocol's transport

    def _write(self, data: bytes) -> None:
        self._ssl.write(data)
        self._raw.write(self._out.read())

    def write_eof(self) -> None:
        """TLS has no half-close that every peer understands: close_notify, then keep reading."""
        try:
            self._ssl.unwrap()
        except ssl.SSLError:
            pass  # wants the peer's close_notify; ours is in the buffer
        self._raw.write(self._out.read())

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._open:
                self.write_eof()
            self._raw.close()

    def abort(self) -> None:
        self._closed = True
        self._raw.abort()

    def pause_reading(self) -> None:
        self._raw.pause_reading()

    def resume_reading(self) -> None:
        self._raw.resume_reading()

    def set_write_buffer_limits(self, high: int) -> None:
        self._raw.set_write_buffer_limits(high)

    def get_write_buffer_size(self) -> int:
        return int(self._raw.get_write_buffer_size())

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._raw.get_extra_info(name, default)

    # inside

    def _handshake(self) -> None:
        try:
            self._ssl.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
        except ssl.SSLError as error:
            self._flush()
            self._fail(error)
            self._raw.close()
        else:
            self._flush()
            self._open = True
            self._app.connection_made(self)  # type: ignore[arg-type]  # the part of a transport the upstream uses
            if not self.ready.done():
                self.ready.set_result(None)

    def _read(self) -> None:
        read, received = self._ssl.read, self._app.data_received
        try:
            while data := read(_READ_BYTES):
                received(data)
        except ssl.SSLWantReadError:
            self._flush()  # a key update may want an answer
            return
        except ssl.SSLEOFError:
            return  # FIN without close_notify: connection_lost says so
        except ssl.SSLError as error:
            self._told_eof = True
            self._raw.abort()
            self._app.connection_lost(error)
            self._app = asyncio.Protocol()
            return
        if not self._told_eof:
            self._told_eof = True
            self._kept = bool(self._app.eof_received())
            if not self._kept:
                self.close()

    def _flush(self) -> None:
        if self._out.pending:
            self._raw.write(self._out.read())

    def _fail(self, error: Exception) -> None:
        if not self.ready.done():
            self.ready.set_exception(error)
