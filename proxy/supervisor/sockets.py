"""Listening sockets the supervisor owns: bound once, passed to every relay, closed by nobody else.

SO_REUSEPORT lets a new supervisor bind beside relays whose old supervisor was killed; a plain probe first makes sure
that nobody else has the address.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat

from proxy import address as addresses

BACKLOG = 4096
UNIX = "unix:"


def bind(address: str, *, shared: bool, tproxy: bool = False) -> socket.socket:
    """Listen on "host:port", "[v6]:port" or "unix:path". ``shared``: orphaned relays of ours may still listen there.

    ``tproxy``: connections meant for other addresses may be sent here, which takes CAP_NET_ADMIN. Raises OSError.
    """
    if address.startswith(UNIX):
        return _bind_unix(address.removeprefix(UNIX), shared=shared)
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


def _bind_unix(path: str, *, shared: bool) -> socket.socket:
    """A socket only this user may connect to. One that nobody listens on any more is replaced; other files are not."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise OSError(errno.EEXIST, "something that is no socket is there")
        if not shared and _answers(path):
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        os.unlink(path)  # noqa: PTH108 - a name, no Path
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(path)
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    finally:
        os.umask(before)
    sock.setblocking(False)
    return sock


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(path) == 0


def close(sock: socket.socket) -> None:
    """For good: a unix socket's name goes too."""
    name = sock.getsockname()
    sock.close()
    if isinstance(name, str):
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - a name, no Path


def shown(sock: socket.socket) -> str:
    """The bound address as "host:port" or "unix:path"."""
    if sock.family == socket.AF_UNIX:
        return f"{UNIX}{sock.getsockname()}"
    host, port = sock.getsockname()[:2]
    return addresses.shown(host, port)
