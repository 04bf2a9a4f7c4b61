"""A message head's bytes to ``Head``: the relay has already refused what is malformed, so this never judges.

In: the head as captured, credentials blanked. Out: ``Head`` with lower-case names and latin-1 values, in wire order.
"""

from __future__ import annotations

from proxy.exchange import Head, Side


def parse_head(raw: bytes, side: Side) -> Head:
    lines = raw.decode("latin-1").split("\r\n")
    first = lines[0].split(" ", 2)
    headers = tuple((name.lower(), value.strip(" \t")) for name, _, value in (x.partition(":") for x in lines[1:] if x))
    if side is Side.REQUEST:
        return Head(method=first[0], target=first[1] if len(first) > 1 else "", headers=headers)
    return Head(status=int(first[1]) if len(first) > 1 and first[1].isdigit() else 0, headers=headers)
