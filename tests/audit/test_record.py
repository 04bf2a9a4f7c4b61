"""Builders give the documented shape, from values alone."""

import orjson
import pytest

from audit import record as records
from tests.audit.build import AROUND, action_record, every_kind, shell_action, shell_call


def test_every_record_names_its_schema_and_kind_and_is_json():
    for record in every_kind():
        assert record["schema"] == "onlooker.record/1"
        assert orjson.loads(orjson.dumps(record))["kind"] == record["kind"]


def test_an_action_carries_call_classification_objective_and_policy():
    record = action_record()
    assert record["call"]["name"] == "Bash"
    assert record["call"]["evidence"] == "requested"
    assert record["classification"]["effects"][0]["target"] == "/srv/shop/cache"
    assert record["objective"]["verdict"] == "outside_scope"
    assert record["policy"][0]["findings"][0]["rule"] == "fs.delete-protected-tree"


def test_arguments_that_did_not_parse_are_kept_as_text():
    call = shell_call()
    broken = type(call)(name="Bash", arguments_text='{"command": "rm', arguments_valid=False, complete=False)
    record = records.action(broken, shell_action())
    assert record["call"]["arguments"] is None
    assert record["call"]["arguments_text"] == '{"command": "rm'


def test_what_is_not_known_is_null_and_not_left_out():
    record = records.action(shell_call(), shell_action())
    assert {"session", "agent", "exchange", "origin", "src", "objective", "supersedes"} <= record.keys()
    assert record["session"] is None


def test_a_builder_shares_nothing_with_what_it_was_given():
    session = {"id": "s"}
    record = records.session_end(around=records.Around(session=session), summary={}, reason="idle")
    session["id"] = "changed"
    assert record["session"]["id"] == "s"


@pytest.mark.parametrize("kind", ["session", "gap", "unread", "opaque_flow", "refusal", "analysis_failed"])
def test_what_was_missed_has_a_kind_of_its_own(kind):
    assert kind in {r["kind"] for r in every_kind()}


def test_the_place_in_the_capture_is_on_the_record():
    assert action_record()["src"] == dict(AROUND.src)
