"""Every way of cutting a body that tests use (contract 47): small ones at every byte, larger ones where it hurts."""

from __future__ import annotations

import random
from collections.abc import Iterator


def cuts(body: bytes) -> Iterator[list[bytes]]:
    """Lists of pieces whose concatenation is ``body``: whole, byte by byte, and two pieces per cutting point."""
    yield [body]
    yield [body[i : i + 1] for i in range(len(body))]
    for at in points(body):
        yield [body[:at], body[at:]]


def points(body: bytes) -> list[int]:
    if len(body) <= 4096:
        return list(range(1, len(body)))
    hurting = [i for i, b in enumerate(body) if b in b'\r\n"' or b >= 0x80]
    chooser = random.Random(len(body))
    some = [chooser.randrange(1, len(body)) for _ in range(200)]
    return sorted({*chooser.sample(hurting, min(len(hurting), 200)), *some} - {0})
