"""Signed bundles: what is signed is read, everything else is refused with its reason."""

import json
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policies.bundle import MANIFEST, SIGNATURE, BundleError, Trust, key_id, read, sign
from policies.policy_set import load

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
    opened = read(bundle, TRUSTED, NOW, last_revision=7)
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
        read(bundle, TRUSTED, NOW, last_revision=7)


def test_an_unsigned_folder_is_read_only_where_trust_is_not_required(bundle):
    (bundle / SIGNATURE).unlink()
    assert read(bundle, {}, NOW, required=False).signed_by is None


def test_where_trust_is_required_only_signed_policies_are_loaded(bundle, tmp_path_factory):
    trust = Trust(TRUSTED, revisions={str(bundle): 7})
    plain = tmp_path_factory.mktemp("plain") / "p.yaml"
    plain.write_text("policy: 1\nid: p\nrules: []\n")
    made = load([bundle, plain, "onlooker:starter"], now=NOW, trust=trust)
    assert [(p.id, p.state) for p in made.policies] == [
        ("a", "active"),
        ("b", "active"),
        ("p", "not_loaded"),
        ("onlooker.starter", "active"),
    ]
    assert "trust is required" in (made.policies[2].error or "")
