"""Replay: the same policy differs in nothing, a changed one in exactly what changed, redaction is counted."""

import gzip
import json

import pytest
import zstandard
from click.testing import CliRunner

from classifiers.effects import Effect
from policies.policy_set import load
from policies.replay import fails, replay
from policies.stored import actions, subject_of_record
from proxy.cli.policy import COMMAND

OLD = """policy: 1
id: acme.old
rules:
  - id: acme.delete
    severity: high
    match: {effects: [{domain: filesystem, action: delete, target: /srv/**}]}
  - id: acme.read
    match: {effects: [{domain: filesystem, action: read, target: /etc/**}]}
  - id: acme.many
    match: {effects: [{domain: filesystem, action: delete}]}
    rate: {by: session.id, count: effects, more_than: 2, within: 5m}
"""
NEW = OLD.replace("/srv/**", "/srv/prod/**").replace("/etc/**", "[/etc/**, /root/**]").replace("acme.old", "acme.new")


def record(seq, *effects, **more):
    listed = [Effect.parse(e).to_json() for e in effects]
    return {
        "kind": "action",
        "id": f"log:{seq}",
        "seq": seq,
        "ts": f"2026-11-30T08:00:{seq:02}.000Z",
        "session": {"id": "s", "strength": "strong"},
        "agent": {"id": "coder"},
        "call": {"name": "Bash"},
        "classification": {"surface": "shell", "effects": listed, "flows": [], "opaque": []},
        **more,
    }


RECORDS = [
    record(1, "delete filesystem:/srv/dev/a"),
    record(2, "delete filesystem:/srv/prod/a"),
    record(3, "read filesystem:/root/.profile"),
    record(4, "delete filesystem:REDACTED_path_k1_ab12cd34"),
    record(5, "read filesystem:/home/dev/a"),
]


@pytest.fixture
def files(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in RECORDS))
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)
    return tmp_path


def run(files, old, new):
    policies = load([files / old, files / new]).policies
    return replay(actions([str(files / "log.jsonl")]), policies[0], policies[1])


def test_a_policy_against_itself_differs_in_nothing(files):
    diff = run(files, "old.yaml", "old.yaml")
    assert diff.actions == 5
    assert diff.rows == {}
    assert diff.new.matched == {"acme.delete": 2, "acme.many": 1}


def test_a_change_shows_as_what_is_newly_and_no_longer_flagged(files):
    rows = [
        (r.kind, r.rule, r.before, r.after, r.count, r.ids) for r in run(files, "old.yaml", "new.yaml").sorted_rows()
    ]
    assert rows == [
        ("newly_flagged", "acme.read", "no_match", "match", 1, ["log:3"]),
        ("no_longer_flagged", "acme.delete", "match", "no_match", 1, ["log:1"]),
    ]


def test_what_redaction_hid_is_undetermined_and_counted(files):
    diff = run(files, "old.yaml", "old.yaml")
    assert diff.new.undetermined["acme.delete"] == 1
    assert diff.new.hidden == 1
    assert subject_of_record(RECORDS[3])[0].action.effects[0].target is None


def test_conditions_for_pipelines(files):
    diff = run(files, "old.yaml", "new.yaml")
    assert fails(diff, "any")
    assert fails(diff, "lost")
    assert fails(diff, "new-medium")
    assert not fails(diff, "new-critical")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gz", "zst"])
def test_compressed_logs_read_the_same(files, pack):
    suffix = "gz" if pack is gzip.compress else "zst"
    packed = files / f"log.jsonl.{suffix}"
    packed.write_bytes(pack((files / "log.jsonl").read_bytes()))
    assert len(list(actions([str(packed)]))) == 5


def test_the_command_says_the_difference_and_the_exit_code(files):
    args = ["replay", str(files / "log.jsonl"), "--old", str(files / "old.yaml"), "--new", str(files / "new.yaml")]
    out = CliRunner().invoke(COMMAND, args)
    assert out.exit_code == 0
    assert "+ medium   acme.read  no_match -> match  1 x coder  log:3" in out.output
    assert CliRunner().invoke(COMMAND, [*args, "--fail-on", "new"]).exit_code == 1
    assert CliRunner().invoke(COMMAND, [*args, "--fail-on", "new-critical"]).exit_code == 0
    assert "| new | medium | `acme.read` |" in CliRunner().invoke(COMMAND, [*args, "--format", "markdown"]).output
    assert json.loads(CliRunner().invoke(COMMAND, [*args, "--format", "json"]).output)["actions"] == 5


def test_a_broken_policy_or_a_missing_log_is_a_bad_file(files):
    (files / "bad.yaml").write_text(OLD.replace("action: delete", "action: remove"))
    args = ["replay", str(files / "log.jsonl"), "--new", str(files / "bad.yaml")]
    out = CliRunner().invoke(COMMAND, args)
    assert out.exit_code == 3
    assert "did you mean 'delete'?" in out.output
    assert (
        CliRunner().invoke(COMMAND, ["replay", str(files / "no.jsonl"), "--new", str(files / "new.yaml")]).exit_code
        == 3
    )


def test_a_line_that_is_no_record_is_told_and_skipped(files):
    with (files / "log.jsonl").open("a") as log:
        log.write('{"kind":"action","broken\n')
    out = run(files, "old.yaml", "new.yaml")
    assert out.actions == 5
    assert len(out.bad_lines) == 1


def test_parquet_reads_the_same(files):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [json.dumps(r, separators=(",", ":")) for r in RECORDS]
    pq.write_table(pa.table({"record": rows}), files / "log.parquet")
    assert [r["id"] for r, _ in actions([str(files / "log.parquet")])] == [r["id"] for r in RECORDS]
    (files / "bad.parquet").write_bytes(b"no")
    with pytest.raises(ValueError, match="parquet"):
        list(actions([str(files / "bad.parquet")]))


def test_several_processes_say_what_one_says(files):
    with (files / "log.jsonl").open("a") as log:
        for i in range(200):
            one = record(6 + i % 50, f"delete filesystem:/srv/{'prod' if i % 3 else 'dev'}/{i}", id=f"log:{100 + i}")
            log.write(json.dumps({**one, "session": {"id": f"s{i % 7}"}}, separators=(",", ":")) + "\n")
    args = [
        "replay",
        str(files / "log.jsonl"),
        "--old",
        str(files / "old.yaml"),
        "--new",
        str(files / "new.yaml"),
        "--format",
        "json",
    ]
    one, two = (json.loads(CliRunner().invoke(COMMAND, [*args, "--jobs", n]).output) for n in ("1", "2"))
    assert one == two
    assert one["actions"] == 205
