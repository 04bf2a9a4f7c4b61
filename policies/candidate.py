"""A policy that is not in force yet, tried on recorded traffic: what it would flag that the one in force does not.

In: its text, the policy in force, records of a log. Out: ``Candidate``: its mistakes and remarks, its inline tests that
fail, and the difference. Nothing is written, put in force or remembered; the same input gives the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from policies.diagnostic import Diagnostic
from policies.inline import failing
from policies.policy_set import Loaded, loaded
from policies.replay import Diff, Records, replay
from policies.source import check_text

MAX_TEXT = 1 << 20  # characters of a candidate
MAX_RECORDS = 100_000  # looked at by one trial


@dataclass(frozen=True, slots=True)
class Candidate:
    """``diff`` is None when the text has errors. ``cut``: there were more records than were looked at."""

    found: tuple[Diagnostic, ...]
    failing: tuple[str, ...] = ()
    diff: Diff | None = None
    cut: bool = False

    def to_json(self) -> dict[str, Any]:
        """``problems`` [{name, line, col, level, code, what}], ``failing_tests`` [text], ``cut``, and ``diff`` as
        ``policies.replay.Diff.to_json`` gives it, or null."""
        return {
            "problems": [d.to_json() for d in self.found],
            "failing_tests": list(self.failing),
            "cut": self.cut,
            "diff": None if self.diff is None else self.diff.to_json(),
        }


def try_candidate(
    text: str,
    active: Loaded | None,
    records: Records,
    now: datetime,
    *,
    name: str = "candidate",
    most: int = MAX_RECORDS,
) -> Candidate:
    """Check ``text`` as a policy file and replay it beside ``active`` (None: only what the candidate says).

    ``records``: (record, place) pairs in log order, as ``policies.stored.actions`` gives them from files; a page that
    holds records hands in ``((r, r["id"]) for r in …)``. Only actions count, others are passed over. ``now`` decides
    which exceptions ran out. ``name`` stands for the file: what the text ``extends`` is looked for beside it, so give
    the place the policy would have. Never raises for what is wrong with the text; that is ``found``.
    """
    if len(text) > MAX_TEXT:
        return Candidate((Diagnostic(name, 1, 1, "error", "file", f"over {MAX_TEXT} characters"),))
    made = loaded(name, check_text(text, name, now))
    if made.compiled is None:
        return Candidate(made.found)
    taken = _First(records, most)
    old = active if active is not None and active.compiled is not None else None
    diff = replay(taken, old, made)
    return Candidate(made.found, tuple(str(f) for f in failing(made.compiled)), diff, taken.more)


class _First:
    """The first ``most`` actions; ``more`` says afterwards whether there was another."""

    def __init__(self, records: Records, most: int) -> None:
        self._actions = (pair for pair in records if pair[0] is None or pair[0].get("kind") == "action")
        self._most, self.more = most, False

    def __iter__(self) -> Iterator[tuple[dict[str, Any] | None, str]]:
        yield from islice(self._actions, self._most)
        self.more = next(self._actions, None) is not None
