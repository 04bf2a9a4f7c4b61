"""The index says what the log says: each record once, each property findable, each count its records."""

from contextlib import closing

import pytest

from audit import record as records
from proxy.review.asked import asked
from proxy.review.index import Index
from proxy.review.search import each, find


def ids(index, **query):
    return [r["id"] for r in find(index, asked(query.items())).rows]


QUESTIONS = [
    ({}, ["delete", "part", "send", "cut"]),
    ({"ask": "destroyed"}, ["delete"]),
    ({"ask": "left"}, ["send"]),
    ({"ask": "unread"}, ["part", "cut"]),
    ({"ask": "outside"}, ["delete"]),
    ({"domain": "filesystem", "effect": "delete"}, ["delete"]),
    ({"domain": "network", "effect": "delete"}, []),
    ({"severity": "high"}, ["delete"]),
    ({"only": "none"}, ["part", "send"]),
    ({"rule": "fs.delete-*"}, ["delete"]),
    ({"agent": "o*"}, ["part"]),
    ({"session": "s-2"}, ["part", "cut"]),
    ({"outcome": "error"}, ["delete"]),
    ({"outcome": "none"}, ["part", "send"]),
    ({"q": "SHOP/Cache"}, ["delete", "cut"]),
    ({"q": "paste*example"}, ["send"]),
    ({"q": "100%_"}, []),
    ({"state": "cut off"}, ["cut"]),
    ({"objective": "obj-1", "verdict": "outside_scope"}, ["delete"]),
    ({"since": "2999"}, []),
    ({"until": "1999"}, []),
    ({"since": "2000", "ask": "left"}, ["send"]),
]


@pytest.mark.parametrize(("query", "expected"), QUESTIONS, ids=[str(q) for q, _ in QUESTIONS])
def test_a_question_finds_its_actions_and_counts_them(written, query, expected):
    index = written.index()
    found = find(index, asked(query.items()))
    assert {r["id"] for r in found.rows} == {written.ids[name] for name in expected}
    assert found.total == len(expected)
    newest = find(index, asked([*query.items(), ("order", "newest")]))
    assert {r["id"] for r in newest.rows} == {written.ids[name] for name in expected}


def test_worst_comes_first_and_newest_first_when_asked(written):
    index = written.index()
    assert ids(index)[0] == written.ids["delete"]
    assert ids(index, order="newest") == [written.ids[n] for n in ("cut", "part", "send", "delete")]


def test_pages_follow_each_other_without_a_hole(written):
    index = written.index()
    for order in ("worst", "newest"):
        seen, question = [], asked([("order", order)])
        while True:
            page = find(index, question, 1)
            seen += [r["id"] for r in page.rows]
            if page.after is None:
                break
            question = asked([("order", order), ("after", str(page.after))])
        assert seen == ids(index, order=order)
        assert [r["id"] for r in each(index, asked([("order", order)]), 100)] == seen


def test_an_index_opened_again_goes_on_where_it_was(written):
    first = written.index()
    before = find(first, asked([])).total
    first.close()
    written.append(written.call("echo"))
    again = written.empty_index()
    assert again.catch_up() > 0
    assert find(again, asked([])).total == before + 1


def test_two_processes_may_follow_one_log_and_no_record_is_taken_twice(written):
    one, two = written.empty_index(), written.empty_index()
    while one.follow() + two.follow():
        pass
    assert one.one("SELECT count(*) FROM actions")[0] == 4
    assert two.newest == one.newest


def test_a_broken_index_is_built_again(written):
    index = written.index()
    path = index.path
    index.close()
    path.write_bytes(b"not a database" * 1000)
    assert find(written.index(), asked([])).total == 4


def test_a_mark_of_benign_takes_the_call_out_of_the_counts_and_open_again_puts_it_back(written):
    index = written.index()

    def tally():
        row = index.one("SELECT sum(n) FROM tally WHERE key = 'ask:destroyed'")
        return row[0]

    assert (tally(), ids(index, ask="destroyed", marked="open")) == (1, [written.ids["delete"]])
    written.append(records.disposition(action=written.ids["delete"], state="benign", reason="drill", by=None))
    index.catch_up()
    assert (tally(), ids(index, ask="destroyed", marked="open")) == (0, [])
    assert ids(index, marked="benign") == [written.ids["delete"]]
    written.append(records.disposition(action=written.ids["delete"], state="open", reason="was not", by=None))
    index.catch_up()
    assert (tally(), ids(index, ask="destroyed", marked="open")) == (1, [written.ids["delete"]])


def test_a_later_reading_replaces_the_first_and_keeps_what_was_reported(written):
    index = written.index()
    revised = written.call("rm -rf /srv/shop/cache") | {"supersedes": written.ids["delete"]}
    (new,) = written.append(revised)
    index.catch_up()
    assert ids(index, ask="destroyed") == [new]
    assert ids(index, outcome="error") == [new]


def test_a_file_that_retention_removed_takes_its_rows_and_counts_along(written):
    index = written.index()
    gone = records.retention(number=1, first_seq=0, last_seq=9, sha256="ab" * 32, reason="max_age")
    index._ingest.retire({**gone, "log_id": written.ids["delete"].rpartition(":")[0]}, 0, None)
    index._ingest._flush()
    assert ids(index) == []
    assert index.one("SELECT coalesce(sum(n), 0) FROM tally WHERE key LIKE 'ask:%'")[0] == 0


def test_a_line_that_is_no_record_is_counted_and_stops_nothing(written):
    (path,) = (written.state / "audit").glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"kind":"action"}\nnot json\n')
    index = written.index()
    assert index.one("SELECT sum(n) FROM tally WHERE key = 'kind:unreadable'")[0] == 2
    assert find(index, asked([])).total == 4


def test_no_log_yet_is_an_empty_index(tmp_path):
    with closing(Index(tmp_path / "audit", tmp_path / "review")) as index:
        assert index.catch_up() == 0
        assert find(index, asked([])).total == 0
