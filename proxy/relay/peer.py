"""Who connected, as far as the socket tells without a look-up.

In: the accepted socket. Out: JSON-safe: ``addr``, and on a unix socket ``pid`` and ``uid`` where the kernel tells.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

from proxy.address import shown


def peer_of(sock: Any, name: Any) -> dict[str, Any]:
    """``name``: the transport's ``peername``; a pair for TCP. SO_PEERCRED: unix(7)."""
    if isinstance(name, tuple):
        return {"addr": shown(*name[:2])}
    if hasattr(socket, "SO_PEERCRED"):
        pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return {"addr": "unix", "pid": pid, "uid": uid}
    return {"addr": "unix"}
