"""Long-lived exchanges kept whole in the snapshot: a socket open all day must not hold the spool's first segment.

In: the open exchanges. Out: those that can be kept as bytes (their assembler has no decompressor or other resource);
the others go on pinning the capture they began in. What did not change since the last snapshot is not packed again.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.analyzer.tracked import Tracked
from proxy.sessions.session import Session

LONG_S = 30.0  # shorter exchanges are simply read again
MAX_BYTES = 8 << 20  # one exchange's state; larger ones pin

Id = tuple[str, int]


@dataclass(slots=True)
class Freezer:
    clock: Callable[[], int] = time.monotonic_ns
    packed: dict[Id, tuple[int, bytes | None]] = field(default_factory=dict)  # fed -> bytes; None: cannot be packed

    def freeze(self, exchanges: Mapping[Id, Tracked]) -> dict[Id, bytes]:
        now, out = self.clock(), {}
        self.packed = {key: value for key, value in self.packed.items() if key in exchanges}
        for key, tracked in exchanges.items():
            if now - tracked.opened_mono_ns < LONG_S * 1e9 or tracked.skip:
                continue
            fed, data = self.packed.get(key, (-1, b""))
            if data is None:
                continue
            if fed != tracked.fed:
                data = _pack(tracked)
                self.packed[key] = (tracked.fed, data)
            if data is not None:
                out[key] = data
        return out


def _pack(tracked: Tracked) -> bytes | None:
    session, shared = tracked.session, tracked.exchange.shared
    tracked.session, tracked.exchange.shared = None, {}
    try:
        data = pickle.dumps(tracked, protocol=5)
    except Exception:  # whatever it holds that cannot be packed
        return None
    finally:
        tracked.session, tracked.exchange.shared = session, shared
    return data if len(data) <= MAX_BYTES else None


def thaw(data: bytes, skip: int, shared: dict[str, Any], session: Session | None) -> Tracked:
    """The exchange as it was; ``skip`` events of the capture still to be read are already in it."""
    tracked: Tracked = pickle.loads(data)  # noqa: S301 - from our own snapshot
    tracked.session, tracked.exchange.shared, tracked.skip, tracked.generation = session, shared, skip, 0
    return tracked
