"""Signed bundles: what is signed is read, everything else is refused with its reason."""

import json
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policies.bundle import MANIFEST, SIGNATURE, BundleError, key_id, read, sign
from policies.trust import Trust, load, load_source

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TRUSTED = {key_id(KEY.public_key()): KEY.public_key()}


@pytest.fixture
def bundle(tmp_path):
    (tmp_path / "a.yaml").write_text("policy: 1\nid: a\nrules: []\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yaml").write_text("policy: 1\nid: b\nrules: []\n")
    sign(tmp_path, "acme", 7, KEY, not_after="2027-01-01T00:00:00Z")
    return tmp_path


def test_a_signed_bundle_opens(bundle):
    opened = read(bundle, TRUSTED, NOW, revisions={"acme": 7})
    assert (opened.id, opened.revision, [f.name for f in opened.files]) == ("acme", 7, ["a.yaml", "b.yaml"])
    assert opened.signed_by == key_id(KEY.public_key())


def _other_key(folder):
    sign(folder, "acme", 8, Ed25519PrivateKey.from_private_bytes(bytes(32)))


def _manifest(folder, **changes):
    value = {**json.loads((folder / MANIFEST).read_text()), **changes}
    raw = json.dumps(value).encode()
    (folder / MANIFEST).write_bytes(raw)
    import base64

    (folder / SIGNATURE).write_text(f"{key_id(KEY.public_key())} {base64.b64encode(KEY.sign(raw)).decode()}")


TAMPER = {
    "a file was changed": (
        lambda f: (f / "a.yaml").write_text("policy: 1\nid: evil\n"),
        "'a.yaml' is not what the manifest says",
    ),
    "a file was added": (
        lambda f: (f / "c.yaml").write_text("x: 1"),
        "'c.yaml' is in the folder and not in the manifest",
    ),
    "a file is gone": (lambda f: (f / "a.yaml").unlink(), "'a.yaml' of the manifest: No such file"),
    "the signature was taken away": (
        lambda f: (f / SIGNATURE).unlink(),
        "there is no manifest.sig, and trust is required",
    ),
    "the signature is empty": (lambda f: (f / SIGNATURE).write_text(""), "not trusted here"),
    "the signature is of something else": (lambda f: (f / MANIFEST).write_text("{}"), "does not fit the manifest"),
    "another key signed": (_other_key, "not trusted here"),
    "the manifest is gone": (lambda f: (f / MANIFEST).unlink(), "manifest.json: No such file"),
    "the revision is old": (lambda f: _manifest(f, revision=6), "revisions never go down"),
    "the revision is no number": (lambda f: _manifest(f, revision=True), "needs"),
    "it has run out": (lambda f: _manifest(f, not_after="2026-11-30T12:00:00Z"), "was valid until"),
    "it is not valid yet": (lambda f: _manifest(f, not_before="2026-12-01T00:00:00Z"), "is not valid before"),
    "a time is no time": (lambda f: _manifest(f, not_after="tomorrow"), "no time with an offset"),
    "a path leads out": (lambda f: _manifest(f, files={"../x.yaml": "0"}), "leads out of the bundle"),
}


@pytest.mark.parametrize("name", TAMPER)
def test_a_bundle_that_was_touched_is_refused(bundle, name):
    tamper, said = TAMPER[name]
    tamper(bundle)
    with pytest.raises(BundleError, match=said):
        read(bundle, TRUSTED, NOW, revisions={"acme": 7})


def test_an_unsigned_folder_is_read_only_where_trust_is_not_required(bundle):
    (bundle / SIGNATURE).unlink()
    assert read(bundle, {}, NOW, required=False).signed_by is None


def test_where_trust_is_required_only_signed_policies_are_loaded(bundle, tmp_path_factory):
    trust = Trust(TRUSTED, revisions={"acme": 7})
    plain = tmp_path_factory.mktemp("plain") / "p.yaml"
    plain.write_text("policy: 1\nid: p\nrules: []\n")
    made = load((bundle, plain, "onlooker:starter"), NOW, trust)
    assert [(p.id, p.state) for p in made.policies] == [
        ("a", "active"),
        ("b", "active"),
        ("p", "not_loaded"),
        ("onlooker.starter", "active"),
    ]
    assert "trust is required" in (made.policies[2].error or "")


def test_a_policy_of_a_bundle_says_which_and_by_whom_it_was_signed(bundle):
    a, b = load_source(bundle, NOW, Trust(TRUSTED))
    assert a.bundle is b.bundle
    assert (a.bundle.id, a.bundle.revision, a.bundle.signed_by) == ("acme", 7, key_id(KEY.public_key()))


def test_a_bundle_with_one_wrong_policy_is_refused_whole(bundle):
    (bundle / "c.yaml").write_text("policy: 1\nid: c\nrulez: []\n")
    sign(bundle, "acme", 8, KEY)
    (only,) = load_source(bundle, NOW, Trust(TRUSTED))
    assert only.state == "not_loaded"
    assert "did you mean 'rules'?" in (only.error or "")


def test_a_file_that_another_of_the_bundle_extends_is_no_policy_of_its_own(bundle):
    (bundle / "rules").mkdir()
    (bundle / "rules" / "x.yaml").write_text("rule: 1\nid: x.y\nmatch: {tools: [Bash]}\n")
    (bundle / "a.yaml").write_text("policy: 1\nid: a\nextends: [rules]\nrules: []\n")
    sign(bundle, "acme", 8, KEY)
    made = load_source(bundle, NOW, Trust(TRUSTED))
    assert [(p.id, p.state, len(p.compiled.rules)) for p in made if p.compiled] == [
        ("a", "active", 1),
        ("b", "active", 0),
    ]


def test_a_bundle_can_not_take_in_a_file_that_nobody_signed(bundle, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "rules.yaml"
    outside.write_text("policy: 1\nid: base\nrules: []\n")
    (bundle / "a.yaml").write_text(f"policy: 1\nid: a\nextends: ['{outside}']\nrules: []\n")
    sign(bundle, "acme", 8, KEY)
    (only,) = load_source(bundle, NOW, Trust(TRUSTED))
    assert only.state == "not_loaded"
    assert "which is not in the bundle" in (only.error or "")


def test_a_file_swapped_between_verifying_and_reading_is_refused(bundle):
    """The digest that was signed is asked of the bytes the policy was made of."""

    class Late(Trust):
        __slots__ = ()

        def bundle(self, source, now):
            found = read(bundle, TRUSTED, NOW)
            (bundle / "a.yaml").write_text("policy: 1\nid: evil\nrules: []\n")
            return found

    (only,) = load_source(bundle, NOW, Late(TRUSTED))
    assert only.state == "not_loaded"
    assert "was changed while it was read" in (only.error or "")


def test_a_cache_of_checked_policies_is_not_asked_where_trust_is_required(bundle, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    load_source(bundle, NOW, Trust(TRUSTED), cache)
    assert list(cache.iterdir()) == []
    load_source(bundle, NOW, Trust(TRUSTED, required=False), cache)
    assert len(list(cache.iterdir())) == 2


def test_a_bundle_from_windows_is_signed_and_read_as_it_is(bundle):
    (bundle / "a.yaml").write_bytes(b"policy: 1\r\nid: a\r\nrules: []\r\n")
    sign(bundle, "acme", 8, KEY)
    assert [p.state for p in load_source(bundle, NOW, Trust(TRUSTED))] == ["active", "active"]
