"""All processes of one supervisor: its relays, those that still drain, and the analyzer and control.

In: how many relays, and the commands of the others. Out: the parts, their pids, a free slot of the counters page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proxy.supervisor.part import Part


class Parts:
    def __init__(self, workers: int, commands: Mapping[str, Sequence[str]]) -> None:
        self.relays = [Part("relay", ()) for _ in range(workers)]
        self.retiring: list[Part] = []  # relays that drain; each has a successor in ``relays``
        self.others = [Part(role, commands[role]) for role in ("analyzer", "control") if commands.get(role)]

    def __iter__(self) -> Iterator[Part]:
        return iter([*self.relays, *self.retiring, *self.others])

    def wanted(self) -> list[Part]:
        """Those that are to run: started again when they end."""
        return [*self.relays, *self.others]

    def of(self, role: str) -> list[Part]:
        """The analyzer, or control: one, or none without a command."""
        return [p for p in self.others if p.role == role]

    def retire(self, relay: Part) -> None:
        """It drains: a new part has its place."""
        relay.retiring = True
        self.retiring.append(relay)
        self.relays[self.relays.index(relay)] = Part("relay", ())

    def free_slot(self) -> int:
        """A relay that still drains keeps its slot of the counters page: its successor takes one nobody has."""
        taken = {int(r.environment["ONLOOKER_SLOT"]) for r in (*self.relays, *self.retiring) if r.process}
        return next(n for n in range(len(taken) + 1) if n not in taken)

    def pids(self) -> dict[str, Any]:
        """As written to pids.json."""
        return {
            "supervisor": os.getpid(),
            "relays": [p.pid for p in (*self.relays, *self.retiring) if p.pid],
            "analyzer": next((p.pid for p in self.of("analyzer")), None),
            "control": next((p.pid for p in self.of("control")), None),
        }
