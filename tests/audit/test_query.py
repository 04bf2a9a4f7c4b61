"""The same questions get the same answers from JSON lines, compressed lines and Parquet."""

import json

import orjson
import pytest
from click.testing import CliRunner

from audit import record as records
from audit.columns import COLUMNS
from audit.files import segments
from audit.needles import Filters, matching, needles
from audit.query import candidates, find, open_records, run, search
from audit.read import records as read_records
from audit.read import spans
from audit.retention import compress
from audit.sinks.parquet import SINK as PARQUET
from audit.verify import verify
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


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_search_from_the_newest_file_back_gives_the_same(state, question):
    filters, holds = QUESTIONS[question]
    wanted = [r["id"] for r in read_records(state) if holds(r)]
    assert [json.loads(x)["id"] for x in search(state, filters, 10_000)] == wanted
    assert [json.loads(x)["id"] for x in search(state, filters, 2)] == wanted[-2:]
    assert search(state, filters, 0) == []


def test_a_search_opens_no_older_file_than_its_limit_needs(state, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(state / "audit", copy / "audit")
    here = list(segments(copy / "audit"))
    for segment in here[:-3]:
        segment.path.unlink()
        segment.path.mkdir()
    assert len(search(copy, Filters(), 1)) == 1
    with pytest.raises(IsADirectoryError):
        search(copy, Filters(), 10_000)


def test_what_follows_from_no_text_is_still_answered(state):
    odd = [Filters(glob={"agent": "coder-[1]"}), Filters(glob={"tool": "*"}), Filters(equal={"destructive": "false"})]
    for filters in odd:
        with open_records(state) as opened:
            assert search(state, filters, 100) == find(opened, filters, 100) != []
        assert needles(filters) == ()


def test_lines_that_can_pass_are_found_whole_whatever_stands_around_them():
    data = b'{"kind":"a","x":1}\n{"kind":"b","x":1}\n{"x":2,"kind":"b"}\n{"kind":"b" torn'
    for groups, wanted in (
        (((b'"kind":"b"',),), [1, 2]),
        (((b'"kind":"b"',), (b'"x":1',)), [1]),
        (((b'"x":2', b'"kind":"a"'),), [0, 2]),
        ((), [0, 1, 2]),
        (((b"absent",),), []),
    ):
        lines = data.split(b"\n")
        assert list(matching(data, groups)) == [lines[n] for n in wanted]
    assert list(matching(data, (), data.index(b"\n") + 1)) == data.split(b"\n")[1:3]


def test_a_file_that_was_compressed_after_it_was_listed_is_read_all_the_same(state, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(state / "audit", copy / "audit")
    listed = next(s for s in spans(copy) if s.path.suffix == ".jsonl")
    before = candidates(listed, ())
    compress(listed.path)
    assert candidates(listed, ()) == before != []


def test_a_damaged_line_is_left_out_and_stops_nothing(state, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(state / "audit", copy / "audit")
    last = [s for s in segments(copy / "audit") if s.path.suffix == ".jsonl"][-1]
    last.path.write_bytes(last.path.read_bytes() + b'{"schema":"onlooker.record/1","kind":"outcome","se\xff\n')
    everything = Filters(equal={"kind": "outcome"})
    assert search(copy, everything, 100) == search(state, everything, 100) != []


def test_a_statement_sees_only_the_time_asked_for(state):
    moment = list(read_records(state))[-2]["ts"]
    wanted = [r["id"] for r in read_records(state) if r["ts"] >= moment]
    done = ask("--state", state, "--since", moment, "--sql", "SELECT id FROM records ORDER BY seq")
    assert done.stdout.split()[1:] == wanted
    before = ask("--state", state, "--until", moment, "--sql", "SELECT count(*) AS n FROM records").stdout.split()
    assert int(before[1]) == len([r for r in read_records(state) if r["ts"] <= moment])


def test_records_on_both_sides_of_a_clock_step_are_found(tmp_path):
    """Set back an hour, the clock gives the checkpoint that ends the file an earlier time than the file's records."""
    clock = ToldClock()
    with open_log(tmp_path, clock=clock, limits=Limits(idle_s=10**6, checkpoint_s=10**6, segment_s=10**9)) as log:
        for _ in range(300):
            log.append(action_record())
            clock.pass_s(1)
        clock.wall -= 3600 * 10**9
        for _ in range(5):
            log.append(action_record())
            clock.pass_s(1)
    for since, wanted in (("2026-11-30T08:04:50.000Z", 10), ("2026-11-30T07:00:00.000Z", 305)):
        found = search(tmp_path, Filters(since=since, equal={"kind": "action"}), 1000)
        assert (len(found), len(list(read_records(tmp_path, since=since, kinds={"action"})))) == (wanted, wanted)


def test_a_clock_set_back_while_nobody_wrote_begins_a_file_and_hides_nothing(tmp_path):
    clock, never = ToldClock(), Limits(idle_s=10**6, checkpoint_s=10**6, segment_s=10**9)
    for _ in range(3):
        with open_log(tmp_path, clock=clock, limits=never) as log:
            for _ in range(100):
                log.append(action_record())
                clock.pass_s(1)
        clock.wall -= 3600 * 10**9
    steps = list(read_records(tmp_path, kinds={"clock_step"}))
    assert [round(r["clock"]["delta_ms"] / 1e3) for r in steps] == [-3600, -3600]
    assert len(search(tmp_path, Filters(since="2026-11-30T08:00:00.000Z", equal={"kind": "action"}), 1000)) == 100
    assert len(search(tmp_path, Filters(since="2026-11-30T07:02:00.000Z", equal={"kind": "action"}), 1000)) == 180
    assert [r.answer for r in verify(tmp_path / "audit")] == ["valid"]


def test_a_clock_that_drifts_back_by_less_than_a_step_hides_nothing(tmp_path):
    clock = ToldClock()
    with open_log(tmp_path, clock=clock, limits=Limits(idle_s=10**6, checkpoint_s=10**6, segment_s=10**9)) as log:
        for n in range(400):
            log.append(action_record())
            clock.pass_s(0.01)
            clock.wall -= 900_000_000 if n == 200 else 0
    times = [r["ts"] for r in read_records(tmp_path, kinds={"action"})]
    assert times != sorted(times)
    for moment in times[100:300:10]:
        wanted = len([t for t in times if t >= moment])
        assert len(search(tmp_path, Filters(since=moment, equal={"kind": "action"}), 1000)) == wanted
        assert len(list(read_records(tmp_path, since=moment, kinds={"action"}))) == wanted
        early = len([t for t in times if t <= moment])
        assert len(list(read_records(tmp_path, until=moment, kinds={"action"}))) == early


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
