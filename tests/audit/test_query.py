"""The same questions get the same answers from JSON lines, compressed lines and Parquet."""

import json

import orjson
import pytest
from click.testing import CliRunner

from audit import record as records
from audit.columns import COLUMNS
from audit.files import segments
from audit.query import Filters, find, open_records, run
from audit.read import records as read_records
from audit.retention import compress
from audit.sinks.parquet import SINK as PARQUET
from audit.writer import Limits
from classifiers.effects import Action, Domain, Effect, Surface, Verb
from proxy.cli import cli
from tests.audit.build import AROUND, ToldClock, action_record, every_kind, open_log, shell_call

pytest.importorskip("duckdb", reason="the extra `query` is not installed")


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    clock = ToldClock()
    with open_log(
        folder, clock=clock, limits=Limits(segment_bytes=30_000, idle_s=10**6, checkpoint_s=10**6, segment_s=10**9)
    ) as log:
        for record in every_kind():
            log.append(record)
            clock.pass_s(60)
        for n in range(40):
            effects = (
                Effect(Domain.CLOUD, Verb.DELETE, f"k8s:c:prod:pod/{n}"),
                Effect(Domain.FILESYSTEM, Verb.READ, "k8s:c:prod:not-this"),
            )
            around = records.Around(session={"id": f"s-{n % 4}"}, agent={"id": f"coder-{n % 2}"})
            log.append(records.action(shell_call(f"it's \x1b {n}"), Action(Surface.SHELL, effects), around=around))
            clock.pass_s(60)
    first = next(s for s in segments(folder / "audit") if s.manifest)
    compress(first.path)
    lake = PARQUET.open({"linger_s": 0}, folder / "lake")
    lake.send(list(read_records(folder)))
    return folder


@pytest.fixture(params=["lines", "parquet"])
def connection(request, state):
    with open_records(
        state / "lake" if request.param == "parquet" else state, parquet=request.param == "parquet"
    ) as opened:
        yield opened


QUESTIONS = {
    "everything": (Filters(), lambda r: True),
    "a kind": (Filters(equal={"kind": "outcome"}), lambda r: r["kind"] == "outcome"),
    "a verdict": (
        Filters(equal={"verdict": "outside_scope"}),
        lambda r: (r.get("objective") or {}).get("verdict") == "outside_scope",
    ),
    "severity": (Filters(least_severity="high"), lambda r: r["kind"] == "action" and bool(r["policy"])),
    "one effect": (
        Filters(action="delete", domain="cloud", target="k8s:*:prod:*"),
        lambda r: any(e["domain"] == "cloud" for e in (r.get("classification") or {}).get("effects", ())),
    ),
    "not of two effects together": (Filters(action="read", domain="cloud"), lambda r: False),
    "a rule": (Filters(rule="fs.*"), lambda r: r["kind"] == "action" and bool(r["policy"])),
    "an agent": (
        Filters(glob={"agent": "coder-1"}, equal={"session": "s-3"}),
        lambda r: (r.get("session") or {}).get("id") == "s-3",
    ),
    "since": (Filters(since="2026-11-30T08:30:00.000Z"), lambda r: r["ts"] >= "2026-11-30T08:30:00.000Z"),
    "until": (Filters(until="2026-11-30T08:05:00.000Z"), lambda r: r["ts"] <= "2026-11-30T08:05:00.000Z"),
    "a quote": (Filters(equal={"session": "x' OR 1=1 --"}), lambda r: False),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_what_reading_every_record_gives(connection, state, question):
    filters, holds = QUESTIONS[question]
    found = [json.loads(x)["id"] for x in find(connection, filters, 10_000)]
    assert found == [r["id"] for r in read_records(state) if holds(r)]


def test_the_limit_keeps_the_newest(connection, state):
    ids = [json.loads(x)["id"] for x in find(connection, Filters(), 3)]
    assert ids == [r["id"] for r in read_records(state)][-3:]


def test_both_views_have_the_documented_columns(connection):
    names, _ = run(connection, "SELECT * FROM records LIMIT 0")
    assert names == list(COLUMNS)


def test_a_statement_that_is_wrong_says_so_in_one_sentence(connection):
    with pytest.raises(ValueError, match="query: "):
        run(connection, "SELECT nothing_like_it FROM records")


def test_since_opens_only_the_files_that_can_hold_it(state, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(state / "audit", copy / "audit")
    for segment in list(segments(copy / "audit"))[:-1]:
        segment.path.write_bytes(b"{}\n")
    last = list(read_records(state))[-1]
    with open_records(copy, since=last["ts"]) as opened:
        assert [json.loads(x)["id"] for x in find(opened, Filters(since=last["ts"]), 10)] == [last["id"]]


def ask(*args):
    return CliRunner().invoke(cli, ["audit", "query", *map(str, args)])


def test_the_command_finds_and_prints(state):
    done = ask(
        "--state", state, "--effect", "delete", "--domain", "cloud", "--agent", "coder-*", "--json", "--limit", 5
    )
    assert [orjson.loads(x)["kind"] for x in done.stdout.splitlines()] == ["action"] * 5
    done = ask(
        "--state", state, "--sql", "SELECT kind, count(*) AS n FROM records GROUP BY ALL ORDER BY n DESC LIMIT 1"
    )
    assert (done.exit_code, done.stdout) == (0, "kind\tn\naction\t42\n")
    assert "\x1b" not in ask("--state", state).stdout


def test_the_command_refuses_what_is_no_effect(state):
    assert ask("--state", state, "--effect", "obliterate").exit_code == 2
    assert ask("--state", state, "--sql", "SELEKT").exit_code == 3


def test_a_kind_it_does_not_know_is_an_empty_answer(state):
    assert ask("--state", state, "--kind", "none-such").stdout == ""


def test_action_records_have_a_row_in_parquet_like_in_lines(state):
    both = []
    for parquet in (False, True):
        with open_records(state / "lake" if parquet else state, parquet=parquet) as opened:
            both.append(
                run(
                    opened,
                    "SELECT id, seq, tool, severity, rules, domains, actions, targets, destructive FROM records ORDER BY seq",
                )[1]
            )
    plain = [[None if c == [] else c for c in row] for row in both[0]]
    assert plain == [[None if c == [] else c for c in row] for row in both[1]]
    assert action_record()["call"]["name"] == plain[1][2]
    assert AROUND.session["id"] == "s-1"
