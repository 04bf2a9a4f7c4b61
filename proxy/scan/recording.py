"""What every reader of recorded exchanges shares: the error of a bad file, and heads with their credentials blanked.

In: heads as a file has them. Out: the values the relay's spool would have given; a fingerprint joins within one import.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from proxy.relay import head
from proxy.relay.secrets import Blanker


class RecordingError(ValueError):
    """A file that is not what it was said to be; the message is ``file: what; what was expected``."""


@dataclass(slots=True)
class Heads:
    """Blanks and reads heads of one file. The key dies with the import: prints are comparable within it only."""

    blanker: Blanker = field(default_factory=lambda: Blanker(os.urandom(32)))

    def request(self, raw: bytes) -> tuple[head.Request, bytes, dict[str, str]]:
        """Facts, the head as it may be kept, prints. Raises RefusedError for what the relay would not follow."""
        facts = head.request(raw)
        shown, prints = self.blanker.blank(raw, len(raw), facts[7], facts[5])
        return facts, bytes(shown), _prints(prints)

    def response(self, raw: bytes) -> tuple[head.Response, bytes]:
        facts = head.response(raw)
        shown, _ = self.blanker.blank(raw, 0, facts[5], facts[4])
        return facts, bytes(shown)


def _prints(raw: bytes) -> dict[str, str]:
    return dict(p.split("=", 1) for p in raw.decode("latin-1").split(";") if p)
