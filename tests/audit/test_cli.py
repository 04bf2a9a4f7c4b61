"""``onlooker audit`` answers with text for people, JSON for programs, and the documented exit codes."""

from datetime import UTC, datetime

import orjson
import pytest
from click.testing import CliRunner

from audit.files import segments
from audit.privacy import parse_rules
from audit.state import State
from proxy.cli import cli
from proxy.cli._audit._show import since_ts
from tests.audit.build import action_record, every_kind, shell_action


def run(*args):
    return CliRunner().invoke(cli, ["audit", *map(str, args)])


@pytest.fixture
def state(tmp_path):
    with State(tmp_path).open_log() as log:
        for record in every_kind():
            log.append(record)
        log.append(action_record(action=shell_action("/srv/\x1b[31m\u202ex")))
    return tmp_path


def test_tail_shows_the_newest_and_leaves_housekeeping_out(state):
    done = run("tail", "--state", state, "-n", 3)
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 3
    assert "checkpoint" not in done.stdout
    assert "critical\toutside_scope\ts-1\tBash: delete filesystem" in done.stdout.splitlines()[-1]


def test_no_control_character_reaches_the_terminal(state):
    text = run("tail", "--state", state, "-n", 1).stdout
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b" in text


def test_json_is_the_record_as_written(state):
    lines = run("tail", "--state", state, "--json", "--all", "-n", 500).stdout.splitlines()
    path = next(s.path for s in segments(state / "audit"))
    assert [orjson.loads(x) for x in lines] == [orjson.loads(x) for x in path.read_bytes().splitlines()]


def test_sessions_are_counted(state):
    row = orjson.loads(run("sessions", "--state", state, "--json").stdout)
    assert (row["session"], row["calls"], row["flagged"], row["worst"]) == ("s-1", 3, 2, "critical")
    assert row["ended"] == "exit"
    assert run("sessions", "--state", state).stdout.startswith("s-1\tcoder-1\t")


def test_show_is_one_session_in_order(state):
    lines = run("show", "s-1", "--state", state, "--json").stdout.splitlines()
    seqs = [orjson.loads(x)["seq"] for x in lines]
    assert seqs == sorted(seqs)
    assert run("show", "nobody", "--state", state).exit_code == 3


def test_stats_count_by_kind_effect_and_rule(state):
    tables = orjson.loads(run("stats", "--state", state, "--json").stdout)
    assert tables["kind"]["action"] == 3
    assert tables["effect"] == {"delete filesystem": 2}
    assert tables["rule"] == {"fs.delete-protected-tree": 2}
    assert tables["gap"] == {"exchanges": 2}


def test_verify_answers_with_its_exit_code(state):
    done = run("verify", "--state", state)
    assert (done.exit_code, "valid to checkpoint" in done.stdout) == (0, True)
    path = next(s.path for s in segments(state / "audit"))
    data = path.read_bytes()
    path.write_bytes(b"".join(data.splitlines(keepends=True)[:-1]))
    done = run("verify", "--state", state, "--json")
    assert (done.exit_code, orjson.loads(done.stdout)["answer"]) == (3, "unproven")
    path.write_bytes(data.replace(b"restore drill", b"restore drilL"))
    done = run("verify", "--state", state)
    assert (done.exit_code, "broken at seq" in done.stdout) == (4, True)


def test_verify_proves_one_record(state):
    done = run("verify", "--state", state, "--prove", "3")
    proof = orjson.loads(done.stdout)
    assert (done.exit_code, proof["seq"]) == (0, 3)
    assert run("verify", "--state", state, "--prove", "99999").exit_code == 3
    assert run("verify", "--state", state, "--prove", "x").exit_code == 2


@pytest.mark.parametrize("command", ["tail", "sessions", "stats", "verify"])
def test_a_place_without_a_log_is_said_in_one_sentence(tmp_path, command):
    done = run(command, "--state", tmp_path)
    assert done.exit_code == 3
    assert done.stderr.count("\n") == 1
    assert "no audit log is here" in done.stderr


def test_unsealing_is_recorded_before_anything_is_shown(tmp_path):
    state = State(tmp_path)
    with state.open_log(guard=state.guard(rules=[{"mode": "sealed"}])) as log:
        identity = log.append(action_record("cat letter"))
    done = run("unseal", identity, "--state", tmp_path, "--reason", "incident 12")
    assert (done.exit_code, done.stdout) == (0, '{"command":"cat letter"}\n')
    written = next(s.path for s in segments(state.access)).read_text()
    assert "incident 12" in written
    for key in (tmp_path / "keys" / "seal").iterdir():
        key.unlink()
    done = run("unseal", identity, "--state", tmp_path, "--reason", "again")
    assert (done.exit_code, "erased" in done.stderr) == (3, True)


def test_what_was_not_sealed_is_said(state):
    assert "nothing is sealed" in run("unseal", "1", "--state", state, "--reason", "x").stderr
    assert run("unseal", "1", "--state", state).exit_code == 2


def test_times_are_ago_or_iso():
    now = datetime(2026, 11, 30, 8, tzinfo=UTC)
    assert since_ts("2h", now) == "2026-11-30T06:00:00.000Z"
    assert since_ts("1.5d", now) == "2026-11-28T20:00:00.000Z"
    assert since_ts("2026-11-30T09:00:00+01:00") == "2026-11-30T08:00:00.000Z"
    assert since_ts("2026-11-30") == "2026-11-30T00:00:00.000Z"
    assert since_ts(None) is None


def test_a_time_that_is_none_is_a_usage_error(state):
    assert run("stats", "--state", state, "--since", "yesterday").exit_code == 2


def test_rules_of_the_guard_are_checked_when_it_is_made(tmp_path):
    with pytest.raises(ValueError, match="mode"):
        State(tmp_path).guard(rules=[{"mode": "x"}])
    assert parse_rules([]) == ()


def test_a_new_redaction_key_keeps_the_old_ones(state):
    before = State(state).token_keys()
    done = run("rekey", "--state", state)
    assert (done.exit_code, done.stdout.startswith("key k2 is current")) == (0, True)
    after = State(state).token_keys()
    assert after.current == "k2"
    assert after.keys["k1"] == before.keys["k1"]
