"""One session in order: turns, sub-agents, objective, verdicts, what was missed."""

from __future__ import annotations

from typing import Any

from audit.summary import what
from proxy.review.asked import link
from proxy.review.index import Index
from proxy.review.lines import Record, records_of
from proxy.review.page import NotThereError, Page, Wanted
from proxy.review.pages.sessions import severity_of
from proxy.review.site import Site

PAGE_ROWS = 200


def load(_site: Site, index: Index, wanted: Wanted) -> dict[str, Any]:
    identity = wanted.parts["id"]
    session = index.one("SELECT * FROM sessions WHERE id = ?", (identity,))
    if session is None:
        raise NotThereError("No session of this name is in the log; it may have been removed by retention.")
    after = int(wanted.one("after")) if wanted.one("after").isdigit() and len(wanted.one("after")) < 16 else 0
    sql = "SELECT n, kind, ts FROM records WHERE session = ? AND n > ? AND kind != 'outcome' ORDER BY n LIMIT ?"
    found = index.rows(sql, (session["s"], after, PAGE_ROWS + 1))
    shown = found[:PAGE_ROWS]
    actions = _actions(index, [r["n"] for r in shown if r["kind"] == "action"])
    others = records_of(index, [r["n"] for r in shown if r["kind"] != "action"])
    return {
        "title": f"Session {identity}",
        "session": dict(session) | {"worst": severity_of(session["score"])},
        "turns": _turns([_entry(r["n"], r["kind"], r["ts"], actions.get(r["n"]), others.get(r["n"])) for r in shown]),
        "objective": _objective(index, session["s"]),
        "summary": _summary(index, session["s"]),
        "flagged": link(session=identity, severity="info"),
        "all": link(session=identity, counted="yes", order="newest"),
        "part": link(session=identity, state="in part"),
        "next": f"?after={shown[-1]['n']}" if len(found) > PAGE_ROWS else "",
        "continued": after > 0,
    }


def _actions(index: Index, numbers: list[int]) -> dict[int, Any]:
    marks = ", ".join("?" * len(numbers))
    return {r["n"]: r for r in index.rows(f"SELECT * FROM actions WHERE n IN ({marks})", numbers)}  # noqa: S608 - marks only


def _entry(number: int, kind: str, ts: str, action: Any, record: Record | None) -> dict[str, Any]:
    session = (record or {}).get("session") or {}
    turn = action["turn"] if action is not None else session.get("turn")
    said = what(record) if record is not None else ""
    if kind == "action" and action is None:
        said = "replaced by a later reading of the same call"
    return {"n": number, "kind": kind, "ts": ts, "turn": turn, "action": action, "what": said,
            "id": record["id"] if record is not None else ""}  # fmt: skip


def _turns(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Consecutive entries of one turn, each turn with its worst."""
    out: list[dict[str, Any]] = []
    for entry in entries:
        if not out or (entry["turn"] is not None and entry["turn"] != out[-1]["turn"]):
            out.append({"turn": entry["turn"], "entries": []})
        out[-1]["entries"].append(entry)
    return out


def _objective(index: Index, s: int) -> list[dict[str, Any]]:
    """Each binding of the session, in order: nothing is retroactive."""
    sql = "SELECT n FROM records WHERE session = ? AND kind = 'session' ORDER BY n LIMIT 50"
    said = records_of(index, [r["n"] for r in index.rows(sql, (s,))])
    return [r["objective"] | {"from": r["ts"]} for r in said.values() if r.get("objective")]


def _summary(index: Index, s: int) -> dict[str, Any] | None:
    sql = "SELECT n FROM records WHERE session = ? AND kind = 'session' ORDER BY n DESC LIMIT 1"
    for record in records_of(index, [r["n"] for r in index.rows(sql, (s,))]).values():
        if record["event"] == "end":
            counts = {k: v for k, v in record["summary"].items() if isinstance(v, int) and not isinstance(v, bool)}
            return {"reason": record.get("reason"), "counts": counts}
    return None


PAGE = Page("/sessions/{id:[^/]+}", "session.html", load)
