"""All listening sockets of one supervisor, by what they are for.

In: the configuration's addresses. Out: ``Listeners``, bound; StartError names the address that cannot be had.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

from proxy.supervisor.errors import StartError
from proxy.supervisor.sockets import bind, close, shown


@dataclass(frozen=True, slots=True)
class Listeners:
    """``data``, ``forward`` and ``transparent`` are the relays'; ``control`` is the control process's."""

    data: list[socket.socket]
    forward: list[socket.socket]
    transparent: list[socket.socket]
    control: socket.socket | None

    def descriptors(self) -> dict[str, list[int]]:
        """The relays' descriptors, under the names of a relay's configuration."""
        return {
            "listen_fds": [s.fileno() for s in self.data],
            "forward_fds": [s.fileno() for s in self.forward],
            "transparent_fds": [s.fileno() for s in self.transparent],
        }

    def close_data(self) -> None:
        """No relay is left: nobody accepts traffic here any more."""
        for sock in (*self.data, *self.forward, *self.transparent):
            close(sock)

    def addresses(self) -> tuple[list[str], list[str], list[str]]:
        """The relays' listeners as really bound: data, forward, transparent."""
        data, forward, transparent = ([shown(s) for s in some] for some in (self.data, self.forward, self.transparent))
        return data, forward, transparent

    @property
    def control_address(self) -> str | None:
        return shown(self.control) if self.control else None


def listeners(config: dict[str, Any], *, shared: bool) -> Listeners:
    """Bind every address of the configuration. ``shared``: orphaned relays of ours may still listen there."""
    listen, tproxy = config["listen"], bool(config.get("tproxy"))
    data = [_bound(a, shared=shared) for a in ([listen] if isinstance(listen, str) else listen)]
    forward, transparent, control = (config.get(f"{name}_listen") for name in ("forward", "transparent", "control"))
    return Listeners(
        data,
        [_bound(forward, shared=shared)] if forward else [],
        [_bound(transparent, shared=shared, tproxy=tproxy)] if transparent else [],
        _bound(control, shared=shared) if control else None,
    )


def _bound(address: str, *, shared: bool, tproxy: bool = False) -> socket.socket:
    try:
        return bind(address, shared=shared, tproxy=tproxy)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "host:port was expected"
        raise StartError(f"{address}: cannot listen here: {why}") from None
