"""Listening sockets the supervisor owns: bound once, passed to every relay, closed by nobody else.

SO_REUSEPORT lets a new supervisor bind beside relays whose old supervisor was killed; a plain probe first makes sure
that nobody else has the address.
"""

from __future__ import annotations

import socket

BACKLOG = 4096


def bind(address: str, *, shared: bool, tproxy: bool = False) -> socket.socket:
    """Listen on "host:port" or "[v6]:port". ``shared``: orphaned relays of ours may still listen there. OSError.

    ``tproxy``: connections meant for other addresses may be sent here, which takes CAP_NET_ADMIN.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if not shared and port != "0":
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if tproxy:
            sock.setsockopt(socket.SOL_IP, socket.IP_TRANSPARENT, 1)
        sock.bind((host, int(port)))
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    sock.setblocking(False)
    return sock


def shown(sock: socket.socket) -> str:
    """The bound address as "host:port"."""
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
