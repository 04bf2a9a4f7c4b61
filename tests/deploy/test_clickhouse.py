"""The ClickHouse schema and queries on chdb (ClickHouse in a process), with the log of a real demo run."""

import pytest


@pytest.mark.slow
def test_columns_hold_what_the_lines_say(ask):
    columns = "id, kind, session, tool, destructive, verdict, length(effects), length(rules), outcome, about"
    (rows,) = ask(f"SELECT {columns} FROM onlooker.records FINAL ORDER BY seq")
    assert rows == [row_of(r) for r in sorted(ask.records, key=lambda r: r["seq"])]


def row_of(r):
    read = r.get("classification") or {}
    findings = [f for p in (r.get("policy") or []) if isinstance(p, dict) for f in p.get("findings", [])]
    return [
        r["id"],
        r["kind"],
        (r.get("session") or {}).get("id") or "",
        (r.get("call") or {}).get("name") or "",
        read.get("destructive"),
        (r.get("objective") or {}).get("verdict") or "",
        len(read.get("effects", [])),
        sum(f["result"] == "match" for f in findings),
        r.get("outcome") or "",
        r.get("action") or "",
    ]


@pytest.mark.slow
def test_every_example_query_answers_and_those_the_demo_has_an_answer_for_are_not_empty(ask):
    queries = ask.examples
    answers = dict(zip(queries, ask(*queries), strict=True))
    # the demo's log is whole, so the query for holes is the only empty one
    assert [q for q, rows in answers.items() if not rows] == [q for q in queries if "AS missing" in q]
    (calls,) = [rows for q, rows in answers.items() if "LEFT JOIN" in q]
    assert sum(int(n) for _, _, n in calls) == sum(r["kind"] == "action" for r in ask.records)


@pytest.mark.slow
def test_a_missing_line_shows_as_a_hole(ask):
    (hole,) = [q for q in ask.examples if "AS missing" in q]
    removed = hole.replace("FROM onlooker.records", "FROM onlooker.records WHERE seq != 3")
    (rows,) = ask(removed)
    assert [int(missing) for _, missing in rows] == [1]
