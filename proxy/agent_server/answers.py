"""What the tools answer: ids and counts, nothing else. No rule text, no message, no argument of any call leaves here.

In: an instance's configuration, a tool's name and arguments as sent. Out: a JSON-ready dictionary, or ``AnswerError``
with one sentence. Reads the newest records of the log and the analyzer's status; writes one line to its inbox.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from audit.summary import findings, verdict
from audit.tail import last_records
from policies.declaration import read
from proxy.control.counters import running
from proxy.inbox import Outbox, inbox_file
from proxy.settings import Config
from proxy.status import is_fresh, read_status, status_file

LOOKED_AT = 5000  # newest records of the log
SHOWN = 20  # ids, and rules, in one answer
MAX_ID = 200  # characters

Record = dict[str, Any]


class AnswerError(Exception):
    """The tool cannot answer; the message is for the agent and holds nothing of what was recorded."""


@dataclass(frozen=True, slots=True)
class Answers:
    """``session``: the one this server speaks of; None: the one in which the named declaration was seen."""

    config: Config
    session: str | None = None

    def answer(self, tool: str, arguments: Any) -> dict[str, Any]:
        """Any tool by its name. Raises AnswerError, also for a tool that is none."""
        known = {
            "declare_objective": self.declare,
            "objective_status": self.status,
            "session_findings": self.findings,
        }
        if tool not in known:
            raise AnswerError(f"there is no such tool; there are {', '.join(known)}")
        return known[tool](arguments)

    def declare(self, arguments: Any) -> dict[str, Any]:
        """Handed to the analyzer, which decides: this answer only says whether it could be read at all."""
        offer = read(arguments)
        if offer.objective is None:
            raise AnswerError(f"not declared: {offer.problem}")
        self._fresh()
        outbox = Outbox(inbox_file(self._spool()))
        try:
            if not outbox.put("declared", {"session": self.session, "arguments": arguments}):
                raise AnswerError("not declared: the analyzer is behind; try again")
        finally:
            outbox.close()
        return {"objective": offer.id, "state": "received"}

    def status(self, arguments: Any) -> dict[str, Any]:
        found, declared, session = self._asked(arguments)
        mine = [r for r in found if _session(r) == session] if session else []
        bound = next((r["objective"] for r in reversed(mine) if r["kind"] == "session" and r.get("objective")), None)
        return {
            "session": session,
            "objective": None if bound is None else {k: bound.get(k) for k in ("id", "hash", "trust", "reason")},
            "declared": declared,
            "verdicts": _counts(verdict(r) or "none" for r in mine if r["kind"] == "action"),
            "records_looked_at": len(found),
        }

    def findings(self, arguments: Any) -> dict[str, Any]:
        found, _, session = self._asked(arguments)
        calls = [r for r in found if r["kind"] == "action" and session and _session(r) == session]
        flagged = [(r, findings(r)) for r in calls]
        flagged = [(r, f) for r, f in flagged if f]
        return {
            "session": session,
            "calls": len(calls),
            "flagged": len(flagged),
            "by_severity": _counts(f["severity"] for _, all_ in flagged for f in all_),
            "by_rule": _counts(f["rule"] for _, all_ in flagged for f in all_),
            "records": [r["id"] for r, _ in flagged[-SHOWN:]],
            "records_looked_at": len(found),
        }

    def _asked(self, arguments: Any) -> tuple[list[Record], Record | None, str | None]:
        """(newest records, what became of the named declaration, the session meant)."""
        name = _name(arguments)
        if name is None and self.session is None:
            raise AnswerError("objective: expected the id that declare_objective gave")
        status = self._fresh()
        log_id = (status.get("log") or {}).get("id")
        found = last_records(self.config.audit_dir, log_id, LOOKED_AT) if log_id else []
        told = [r["attestation"]["detail"] for r in found if _tells(r, name)]
        sessions = {d["session"] for d in told if d["session"]}
        if self.session is None and len(sessions) > 1:
            raise AnswerError("several sessions declared the same; declare something of your own")
        kept = ("declared", "state", "reason", "wider", "unclear", "beside")
        decided = [d for d in told if d["session"]] or told
        declared = {k: decided[-1][k] for k in kept} if decided else None
        return found, declared, self.session or next(iter(sessions), None)

    def _fresh(self) -> dict[str, Any]:
        status = read_status(status_file(self._spool()))
        if status is None or not is_fresh(status):
            raise AnswerError("onlooker is not running")
        return status

    def _spool(self) -> str:
        """Where the instance of this state says its spool is (``run`` has one of its own), else where it would be."""
        return str(running(Path(self.config.state)).get("spool_dir") or self.config.spool.dir)


def _name(arguments: Any) -> str | None:
    if not isinstance(arguments, dict) or set(arguments) - {"objective"}:
        raise AnswerError("expected no argument but objective")
    name = arguments.get("objective")
    if name is not None and (not isinstance(name, str) or not 0 < len(name) <= MAX_ID):
        raise AnswerError("objective: expected the id that declare_objective gave")
    return name


def _tells(record: Record, name: str | None) -> bool:
    detail = (record.get("attestation") or {}).get("detail") if record["kind"] == "attestation" else None
    return isinstance(detail, dict) and "declared" in detail and name in {None, detail["declared"]}


def _session(record: Record) -> str | None:
    return (record.get("session") or {}).get("id")


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(islice(Counter(words).most_common(), SHOWN))
