"""The bundle holds what the machine trusts and ours; the variables name files that are there."""

import ssl
from pathlib import Path

import pytest

from proxy.ca import authority, trust
from proxy.ca.authority import CaError

HOSTS = ["api.example"]


@pytest.fixture
def folder(tmp_path):
    authority.create(tmp_path / "ca", HOSTS)
    return tmp_path / "ca"


def fingerprints(path):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    return [c.fingerprint(hashes.SHA256()).hex() for c in x509.load_pem_x509_certificates(path.read_bytes())]


def test_the_bundle_is_what_was_trusted_and_ours(folder, tmp_path):
    corporate = authority.issue(["inside.example"])
    own = tmp_path / "corporate.pem"
    own.write_bytes(authority.pem(corporate.certificate))
    made = trust.bundle(folder, {"SSL_CERT_FILE": str(own)})
    ours = authority.Authority.load(folder)
    assert fingerprints(made) == [corporate.fingerprint, ours.fingerprint]
    ssl.create_default_context(cafile=str(made))


def test_a_bundle_made_from_itself_does_not_grow(folder):
    first = trust.bundle(folder, {}).read_bytes()
    assert trust.bundle(folder, {"SSL_CERT_FILE": str(folder / "bundle.pem")}).read_bytes() == first


def test_what_a_program_added_before_is_added_still(folder, tmp_path):
    corporate = authority.issue(["inside.example"])
    own = tmp_path / "corporate.pem"
    own.write_bytes(authority.pem(corporate.certificate))
    trust.bundle(folder, {"NODE_EXTRA_CA_CERTS": str(own)})
    assert fingerprints(folder / "added.pem") == [corporate.fingerprint, authority.Authority.load(folder).fingerprint]


def test_a_retired_certificate_stays_trusted_until_it_ends(folder, tmp_path):
    own = tmp_path / "none.pem"
    own.write_bytes(b"")
    old = authority.Authority.load(folder)
    new = authority.rotate(folder, HOSTS)
    assert fingerprints(trust.bundle(folder, {"SSL_CERT_FILE": str(own)})) == [new.fingerprint, old.fingerprint]


def test_every_variable_names_a_file_that_is_there(folder):
    trust.bundle(folder, {})
    named = trust.variables(folder)
    assert {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} <= named.keys()
    assert {value.removeprefix(str(folder)) for value in named.values()} == {"/bundle.pem", "/added.pem"}
    assert all(b"BEGIN CERTIFICATE" in Path(v).read_bytes() for v in named.values())


def test_commands_for_a_store_name_the_certificate(folder):
    found = trust.system_commands(folder)
    assert all(
        any(str(folder / "ca.pem") in part for command in commands for part in command) for commands in found.values()
    )


def test_without_an_authority_there_is_one_sentence(tmp_path):
    with pytest.raises(CaError, match="no local authority yet; make one with onlooker ca create"):
        trust.bundle(tmp_path / "ca", {})
