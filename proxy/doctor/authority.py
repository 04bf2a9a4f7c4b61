"""Whether the local authority can do what the forward proxy is asked for.

In: a configuration. Out: one ``Check`` when a forward proxy is configured or an authority is there, else none.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator

from proxy.ca.authority import CERTIFICATE, Authority, CaError
from proxy.doctor.check import Check
from proxy.settings import Config

SOON = dt.timedelta(days=14)


def authority(config: Config, now: dt.datetime | None = None) -> Iterator[Check]:
    if not os.path.exists(config.ca_dir / CERTIFICATE):  # noqa: PTH110 - Path's raises where the folder is closed
        if config.forward.listen:
            yield Check(
                "authority", "note", "none: the forward proxy tunnels all TLS unread; onlooker ca create makes one"
            )
        return
    try:
        found = Authority.load(config.ca_dir)
    except CaError as error:
        yield Check("authority", "bad", str(error))
        return
    missing = [entry for entry in config.forward.intercept if not found.listed.covers(entry)]
    left = found.until - (now or dt.datetime.now(dt.UTC))
    if missing:
        yield Check("authority", "note", f"cannot sign for {', '.join(missing)}; onlooker ca rotate makes one that can")
    elif left < SOON:
        yield Check("authority", "note", f"ends on {found.until:%Y-%m-%d}; onlooker ca rotate makes a new one")
    else:
        yield Check("authority", "ok", f"for {len(config.forward.intercept)} hosts, until {found.until:%Y-%m-%d}")
