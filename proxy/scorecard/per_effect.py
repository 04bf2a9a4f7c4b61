"""Effect by effect, where labels name them: recall, precision, and whether *complete* was right.

In: labels ``{"effects": [{domain, action, target?, …}], "complete"?}`` and the action ours makes of the command. Out:
counts. An effect is met by one with its domain and action whose target holds the last segment of its target (the
corpora's own definition).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from classifiers.effects import Action

Json = dict[str, Any]


def meets(effect: Json, wanted: Json) -> bool:
    if (effect["domain"], effect["action"]) != (wanted["domain"], wanted["action"]):
        return False
    leaf = str(wanted.get("target", "")).rstrip("/").rpartition("/")[2]
    return leaf in f"{effect['target']} {effect['target_raw']}"


@dataclass
class PerEffect:
    """Labelled effects and ours. ``targeted``: the label has a target; ``complete``: the action says it is."""

    labelled: int = 0
    met: int = 0
    targeted: int = 0
    targeted_met: int = 0
    told: int = 0
    wanted: int = 0
    complete: int = 0
    complete_met: int = 0

    def see(self, item: Json, action: Action) -> None:
        labels = item["labels"].get("effects")
        if not isinstance(labels, list) or not all(isinstance(label, dict) and "domain" in label for label in labels):
            return
        ours = [e.to_json() for e in action.effects]
        for label in labels:
            met = any(meets(e, label) for e in ours)
            self.labelled += 1
            self.met += met
            if "target" in label:
                self.targeted += 1
                self.targeted_met += met
            if action.complete:
                self.complete += 1
                self.complete_met += met
        self.told += len(ours)
        self.wanted += sum(any(meets(e, label) for label in labels) for e in ours)

    def lines(self) -> Iterator[tuple[str, int, int, str]]:
        """(name, good, counted, target) of each row; none when no label names effects."""
        if not self.labelled:
            return
        yield "labelled effects present (recall)", self.met, self.labelled, "-"
        yield "the same, with a target", self.targeted_met, self.targeted, "-"
        yield "effects told that a label names (precision)", self.wanted, self.told, "-"
        yield "labelled effects present where complete is claimed", self.complete_met, self.complete, ">= 99 %"
