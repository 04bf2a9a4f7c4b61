"""RFC 5424 syslog: TCP with octet counting (RFC 6587 §3.4.1), UDP, or a unix socket.

In: records. Out: one message each: facility 13 (log audit), ids and verdict as structured data, one line of text.
UDP says nothing back: what the network drops stays in the log.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from audit.escape import syslog as escaped
from audit.escape import terminal
from audit.sinks import TAKEN, Options, Record, Sent, SinkError, read_options
from audit.summary import findings, severity, verdict, what

FACILITY = 13
LEVELS = {None: 6, "info": 6, "low": 5, "medium": 4, "high": 3, "critical": 2}  # informational … critical
SD_ID = "onlooker@32473"  # RFC 5612: the enterprise number reserved for documentation
MAX_TEXT = 900


def message(record: Record) -> bytes:
    """One RFC 5424 message, UTF-8, without framing."""
    worst = severity(record)
    host = _name((record.get("origin") or {}).get("host") or "-", 255)
    said = {
        "id": record["id"],
        "severity": worst or "none",
        "verdict": verdict(record),
        "session": (record.get("session") or {}).get("id") or "",
        "agent": (record.get("agent") or {}).get("id") or "",
        "rules": ",".join(f["rule"] for f in findings(record)),
    }
    data = "".join(f' {k}="{escaped(str(v)[:MAX_TEXT])}"' for k, v in said.items() if v)
    head = f"<{FACILITY * 8 + LEVELS.get(worst, 6)}>1 {record['ts']} {host} onlooker - {_name(record['kind'], 32)}"
    return f"{head} [{SD_ID}{data}] \ufeff{terminal(what(record), MAX_TEXT)}".encode()


class SyslogSink:
    batch_records = 256
    linger_s = 0.0

    def __init__(self, address: str, timeout_s: float) -> None:
        kind, _, where = address.partition(":")
        self._kind, self._where, self._timeout_s = kind, where, timeout_s
        self._socket: socket.socket | None = None

    def send(self, batch: Sequence[Record]) -> Sent:
        try:
            sock = self._socket = self._socket or self._connect()
            if self._kind == "tcp":
                if _peer_closed(sock):
                    raise ConnectionResetError("the receiver closed the connection")
                sock.sendall(b"".join(b"%d %b" % (len(m), m) for m in map(message, batch)))
            else:
                for one in map(message, batch):
                    sock.send(one)
        except OSError as error:
            self.close()
            raise SinkError(f"syslog {self._kind}: {error}") from error
        return TAKEN

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self) -> socket.socket:
        host, _, port = self._where.rpartition(":")
        if self._kind == "tcp":
            return socket.create_connection((host, int(port)), self._timeout_s)
        family, address = (
            (socket.AF_UNIX, self._where)
            if self._kind == "unix"
            else socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0][::4]
        )
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.settimeout(self._timeout_s)
        try:
            sock.connect(address)
        except OSError:
            sock.close()
            raise
        return sock


class Syslog:
    name = "syslog"
    options: Options = MappingProxyType({"address": "unix:/dev/log", "timeout_s": 5.0})

    def open(self, options: Options, place: Path) -> SyslogSink:  # noqa: ARG002 - every sink's signature
        chosen = read_options(self.name, self.options, options)
        address: str = chosen["address"]
        kind, _, where = address.partition(":")
        wanted = where.startswith("/") if kind == "unix" else where.rpartition(":")[2].isdigit()
        if kind not in {"unix", "tcp", "udp"} or not wanted:
            raise ValueError(
                f"sink syslog: address is {address!r}; expected unix:/PATH, tcp:HOST:PORT or udp:HOST:PORT"
            )
        return SyslogSink(address, float(chosen["timeout_s"]))


def _name(text: Any, size: int) -> str:
    """PRINTUSASCII, no spaces."""
    return "".join(c if "!" <= c <= "~" else "_" for c in str(text))[:size] or "-"


def _peer_closed(sock: socket.socket) -> bool:
    """A receiver that went away is noticed before the bytes vanish into its buffer: FIN makes the socket readable."""
    waits_s = sock.gettimeout()
    sock.setblocking(False)
    try:
        return sock.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    finally:
        sock.settimeout(waits_s)


SINK = Syslog()
