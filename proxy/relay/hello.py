"""The beginning of a client's TLS connection: which name and protocols it asks for. Sans-IO, bounded.

In: the first bytes of a connection. Out: ``Hello``, None while more is needed, or ``NotHelloError``. Nothing is
verified here; it decides only whether the connection can be looked into. Source: RFC 8446 4.1.2 and 5.1, RFC 6066 3,
RFC 7301 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_HELLO_BYTES = 64 << 10
_HANDSHAKE, _CLIENT_HELLO = 0x16, b"\1"
_SERVER_NAME, _ALPN = 0, 16


class NotHelloError(ValueError):
    """These bytes do not begin a TLS connection."""


@dataclass(frozen=True, slots=True)
class Hello:
    """``name``: lower case, "" when none is asked for; ``alpn``: in the client's order; ``ciphers``: as sent, they
    differ between TLS libraries and so tell one kind of client from another."""

    name: str
    alpn: tuple[bytes, ...]
    ciphers: bytes


def client_hello(data: bytes | bytearray) -> Hello | None:
    """The hello at the beginning of ``data``, once it is whole."""
    if not data:
        return None
    if data[0] != _HANDSHAKE or (len(data) > 1 and data[1] != 3):
        raise NotHelloError
    message = bytearray()
    at = 0
    while at + 5 <= len(data):
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        if data[at] != _HANDSHAKE or not 0 < size <= 1 << 14:
            raise NotHelloError
        message += data[at + 5 : at + 5 + size]
        if message and message[:1] != _CLIENT_HELLO:
            raise NotHelloError
        whole = 4 + int.from_bytes(message[1:4], "big") if len(message) >= 4 else MAX_HELLO_BYTES
        if len(message) >= whole:
            return _read(bytes(message[4:whole]))
        at += 5 + size
    if len(data) > MAX_HELLO_BYTES:
        raise NotHelloError
    return None


class _Cursor:
    """Length-prefixed fields, one after the other."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def more(self) -> bool:
        return self._at < len(self._data)

    def take(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if len(piece) != size:
            raise NotHelloError
        self._at += size
        return piece

    def field(self, length_bytes: int) -> bytes:
        return self.take(int.from_bytes(self.take(length_bytes), "big"))


def _read(body: bytes) -> Hello:
    at = _Cursor(body)
    at.take(34)  # version, random
    at.field(1)  # session id
    ciphers = at.field(2)
    at.field(1)  # compression
    name = ""
    alpn: tuple[bytes, ...] = ()
    extensions = _Cursor(at.field(2) if at.more() else b"")
    while extensions.more():
        kind = int.from_bytes(extensions.take(2), "big")
        value = extensions.field(2)
        if kind == _SERVER_NAME:
            name = _name(value)
        elif kind == _ALPN:
            alpn = _protocols(value)
    return Hello(name, alpn, ciphers)


def _name(value: bytes) -> str:
    names = _Cursor(_Cursor(value).field(2))
    while names.more():
        kind, name = names.take(1), names.field(2)
        if kind == b"\0":
            return name.decode("latin-1").lower().removesuffix(".")
    return ""


def _protocols(value: bytes) -> tuple[bytes, ...]:
    names = _Cursor(_Cursor(value).field(2))
    found = []
    while names.more():
        found.append(names.field(1))
    return tuple(found)
