"""Policies in force: a bundle that is not to be trusted leaves the last good one, and every record says so."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from classifiers.effects import Action, Effect, Surface
from policies.bind import Facts
from policies.bundle import MANIFEST, SIGNATURE, sign
from policies.verdict import Subject
from proxy.analyzer.judging import FileJudge
from proxy.config import build

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(32))
RULE = "policy: 1\nid: acme\nrules:\n  - {id: acme.delete, severity: high, match: {effects: [{action: delete}]}}\n"


class Place:
    """A configuration, its bundle and a clock to turn."""

    def __init__(self, folder, trust="trust: required\n", policies="[bundle]"):
        self.folder, self.now, self.ticks = folder, NOW, 0
        self.bundle = folder / "bundle"
        self.bundle.mkdir()
        (folder / "key.pem").write_bytes(KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        self.config = folder / "onlooker.yaml"
        self.config.write_text(f"onlooker: 1\nstate: state\n{trust}trust_keys: [key.pem]\npolicies: {policies}\n")
        self.write(RULE)
        sign(self.bundle, "acme.rules", 3, KEY)

    def write(self, text, name="acme.yaml"):
        """A later time of change each time, so that nobody waits for a file system's clock."""
        self.ticks += 1
        (self.bundle / name).write_text(text)
        os.utime(self.bundle / name, ns=(self.ticks * 10**9, self.ticks * 10**9))

    def judge(self):
        return FileJudge(build(self.config), now=lambda: self.now)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def asked(judge):
    """(state, stale, error, rules that matched) of a deletion, for each policy."""
    subject = Subject(Action(Surface.SHELL, (Effect.parse("delete filesystem:/srv/a"),)), {"session.id": "s"}, NOW)
    return [(r.state, r.stale, r.error, [f.rule for f in r.findings]) for r in judge.judge(subject, Facts()).policy]


def kinds(records):
    return [r["kind"] for r in records]


FOUND = [("active", False, None, ["acme.delete"])]


def test_a_bundle_that_is_signed_well_is_in_force_and_the_record_says_by_whom(place):
    judge = place.judge()
    assert asked(judge) == FOUND
    (loaded,) = judge.poll()
    bundle = loaded["policies"][0]["bundle"]
    assert (bundle["id"], bundle["revision"], len(bundle["signed_by"])) == ("acme.rules", 3, 16)
    assert judge.poll() == []


def _unsigned(place):
    (place.bundle / SIGNATURE).unlink()


def _by_a_stranger(place):
    sign(place.bundle, "acme.rules", 4, STRANGER)


def _tampered(place):
    place.write(RULE.replace("high", "info"))


def _bare(place):
    (place.bundle / SIGNATURE).unlink()
    (place.bundle / MANIFEST).unlink()


def _added(place):
    place.write("policy: 1\nid: more\nrules: []\n", "more.yaml")


def _older(place):
    sign(place.bundle, "acme.rules", 2, KEY)


def _broken(place):
    place.write(RULE.replace("action", "actoin"))
    sign(place.bundle, "acme.rules", 4, KEY)


WRONG = {
    "its signature is gone": (_unsigned, "there is no manifest.sig, and trust is required"),
    "somebody else signed it": (_by_a_stranger, "which is not trusted here"),
    "a file was changed": (_tampered, "'acme.yaml' is not what the manifest says"),
    "signature and manifest are gone": (_bare, "this is no signed bundle, and trust is required"),
    "a file was added": (_added, "'more.yaml' is in the folder and not in the manifest"),
    "an older revision is put back": (_older, "revisions never go down"),
    "it is signed and wrong": (_broken, "did you mean 'action'?"),
}


@pytest.mark.parametrize("how", WRONG)
def test_when_a_bundle_is_not_to_be_trusted_any_more_the_last_good_stays_and_it_is_said(place, how):
    spoil, said = WRONG[how]
    judge = place.judge()
    judge.poll()
    spoil(place)
    (refused,) = judge.poll()
    assert refused["kind"] == "policy_reload_failed"
    assert said in refused["reload"]["errors"][0]
    assert refused["reload"]["active_hash"].startswith("sha256:")
    ((state, stale, error, rules),) = asked(judge)
    assert (state, stale, rules) == ("active", True, ["acme.delete"])
    assert said in error
    assert judge.status()["degraded"] == ["policy acme: disk differs"]
    assert judge.poll() == []  # once


@pytest.mark.parametrize("how", WRONG)
def test_a_bundle_that_is_not_to_be_trusted_is_not_in_force_at_a_start(place, how):
    spoil, said = WRONG[how]
    place.judge()
    spoil(place)
    judge = place.judge()
    assert kinds(judge.poll()) == ["policy_loaded", "policy_reload_failed"]
    ((state, _, error, rules),) = asked(judge)
    assert (state, rules) == ("not_loaded", [])
    assert said in error


def test_going_back_to_what_was_signed_clears_the_error(place):
    judge = place.judge()
    judge.poll()
    _tampered(place)
    assert kinds(judge.poll()) == ["policy_reload_failed"]
    place.write(RULE)
    assert kinds(judge.poll()) == ["policy_loaded"]
    assert asked(judge) == FOUND


def test_a_newer_revision_takes_over_and_is_remembered_over_a_restart(place):
    judge = place.judge()
    judge.poll()
    place.write(RULE.replace("acme.delete", "acme.gone"))
    sign(place.bundle, "acme.rules", 5, KEY)
    (loaded,) = judge.poll()
    assert loaded["policies"][0]["bundle"]["revision"] == 5
    assert asked(judge)[0][3] == ["acme.gone"]
    sign(place.bundle, "acme.rules", 4, KEY)
    assert "revision 4 is older than 5" in asked(place.judge())[0][2]


def test_a_revision_that_was_never_in_force_does_not_keep_the_one_before_it_out(place):
    judge = place.judge()
    judge.poll()
    _broken(place)
    judge.poll()
    place.write(RULE)
    sign(place.bundle, "acme.rules", 3, KEY)
    assert kinds(judge.poll()) == ["policy_loaded"]
    assert asked(judge) == FOUND


def test_a_high_number_nobody_signed_keeps_no_signed_bundle_out(tmp_path):
    place = Place(tmp_path, "")
    sign(place.bundle, "acme.rules", 1000, KEY)
    _unsigned(place)
    assert asked(place.judge()) == FOUND
    sign(place.bundle, "acme.rules", 4, KEY)
    assert asked(place.judge()) == FOUND


def test_a_bundle_that_runs_out_stays_and_says_so(place):
    sign(place.bundle, "acme.rules", 3, KEY, not_after="2026-11-30T13:00:00Z")
    judge = place.judge()
    judge.poll()
    place.now += timedelta(hours=1)
    (refused,) = judge.poll()
    assert "was valid until" in refused["reload"]["errors"][0]
    ((state, stale, _, rules),) = asked(judge)
    assert (state, stale, rules) == ("active", True, ["acme.delete"])
    assert judge.poll() == []


def test_a_bundle_whose_time_has_not_come_is_taken_up_when_it_comes(place):
    import base64

    raw = json.dumps({**json.loads((place.bundle / MANIFEST).read_text()), "not_before": "2026-11-30T13:00:00Z"})
    (place.bundle / MANIFEST).write_text(raw)
    name = (place.bundle / SIGNATURE).read_text().partition(" ")[0]
    (place.bundle / SIGNATURE).write_text(f"{name} {base64.b64encode(KEY.sign(raw.encode())).decode()}")
    judge = place.judge()
    judge.poll()
    assert asked(judge)[0][0] == "not_loaded"
    place.now += timedelta(hours=1)
    assert kinds(judge.poll()) == ["policy_loaded"]
    assert asked(judge) == FOUND


def test_a_record_of_revisions_that_cannot_be_read_lets_no_bundle_in(place):
    place.judge()
    (place.folder / "state" / "revisions.json").write_text("{")
    assert "which revisions were in force is not known" in asked(place.judge())[0][2]


def test_where_trust_is_required_a_plain_file_is_refused_and_what_is_shipped_is_not(tmp_path):
    place = Place(tmp_path, policies="[bundle/acme.yaml, 'onlooker:starter']")
    plain, shipped = asked(place.judge())
    assert plain[0] == "not_loaded"
    assert "trust is required" in plain[2]
    assert shipped[0] == "active"


@pytest.mark.parametrize("trust", ["", "trust: optional\n"])
def test_where_trust_is_optional_plain_files_are_read_and_a_bundle_must_be_signed_well_if_it_is_signed(tmp_path, trust):
    place = Place(tmp_path, trust)
    assert asked(place.judge()) == FOUND
    _unsigned(place)
    assert asked(place.judge()) == FOUND
    _by_a_stranger(place)
    assert "which is not trusted here" in asked(place.judge())[0][2]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("[none.pem]", "No such file"),
        ("[onlooker.yaml]", "no public key in PEM"),
        ("[]", "trust: required without trust_keys"),
    ],
)
def test_keys_that_are_none_are_said(place, keys, said):
    place.config.write_text(place.config.read_text().replace("[key.pem]", keys))
    judge = place.judge()
    assert any(said in line for line in judge.status()["degraded"])
    assert any(said in str(r.get("reload")) for r in judge.poll())
    assert asked(judge)[0][0] == "not_loaded"


def test_a_plain_policy_that_does_not_load_any_more_is_said_once_and_again_when_it_changes(tmp_path):
    place = Place(tmp_path, "", "[bundle/acme.yaml]")
    judge = place.judge()
    judge.poll()
    place.write("policy: 1\nid: [\n")
    assert kinds(judge.poll()) == ["policy_reload_failed"]
    assert judge.poll() == []
    place.write("policy: 1\nid: [ \n")
    assert kinds(judge.poll()) == ["policy_reload_failed"]
    place.write(RULE)
    assert kinds(judge.poll()) == ["policy_loaded"]
    assert asked(judge) == FOUND
