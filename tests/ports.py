"""A port for a program that must be told one before it listens, or for an address where nobody shall listen.

A port that was bound to 0 and closed again is one the system may give to the next who asks for any. These are outside
the range it gives from, and claimed by a name in the kernel until this process ends: no two test processes get one twice.
"""

import secrets
import socket
from pathlib import Path

FIRST = 10_000
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A port on 127.0.0.1 nobody listens on and nobody else is given. Raises AssertionError when there is none."""
    last = int(RANGE.read_text("ascii").split()[0]) if RANGE.exists() else 32768
    if last <= FIRST + 1000:  # a machine that gives from nearly everything
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])
    for _ in range(1000):
        port = FIRST + secrets.randbelow(last - FIRST)
        if _claimed(port) and _unused(port):
            return port
    raise AssertionError(f"no port from {FIRST} to {last} is free")


def _claimed(port: int) -> bool:
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0onlooker-test-port-{port}")
    except OSError:
        claim.close()
        return False
    claim.detach()  # stays bound as long as this process lives
    return True


def _unused(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
