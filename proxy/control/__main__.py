"""``python -m proxy.control CONFIG``: serves the control plane on the socket the supervisor bound, until SIGTERM.

In: the configuration as JSON, ``@file`` or ``-``; the listening socket as descriptor $ONLOOKER_CONTROL_FD. Out: HTTP.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

from aiohttp import web

from proxy.control.app import make_app
from proxy.control.counters import relay_counters
from proxy.control.token import ensure_token
from proxy.lifeline import lifeline
from proxy.settings import Config

ORPHAN_S = 30.0  # as long as a relay without a supervisor still accepts


async def serve(config: Config, sock: socket.socket, line: int | None = None, orphan_s: float = ORPHAN_S) -> None:
    """Until SIGTERM, or ``orphan_s`` after ``line``, the supervisor's lifeline, was cut."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def orphaned(fd: int) -> None:
        loop.remove_reader(fd)
        loop.call_later(orphan_s, stop.set)

    if line is not None:
        loop.add_reader(line, orphaned, line)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    app = make_app(config, ensure_token(config.token_file), lambda: relay_counters(Path(config.state)))
    runner = web.AppRunner(app, access_log=None, handle_signals=False)
    await runner.setup()
    await web.SockSite(runner, sock).start()
    await stop.wait()
    await runner.cleanup()


def main(argv: list[str]) -> int:
    fd = os.environ.get("ONLOOKER_CONTROL_FD", "")
    if len(argv) != 1 or not fd.isdigit():
        sys.stderr.write("usage: ONLOOKER_CONTROL_FD=n python -m proxy.control JSON | @FILE | -\n")
        return 2
    sock = socket.socket(fileno=int(fd))
    sock.setblocking(False)
    asyncio.run(serve(Config.from_argument(argv[0]), sock, lifeline()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
