"""The authority's files and what its certificate allows, judged by OpenSSL rather than by our reading of it."""

import datetime as dt
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from proxy.ca import authority
from proxy.ca.authority import Authority, CaError
from proxy.ca.leaf import Mint

HOSTS = ["api.example", "*.models.example"]


def handshake(server, client, name):
    """One TLS handshake in memory; raises what the client raises. Returns the client's view."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    s = server.wrap_bio(to_server, to_client, server_side=True)
    c = client.wrap_bio(to_client, to_server, server_hostname=name)
    for _ in range(10):
        done = 0
        for side in (c, s):
            try:
                side.do_handshake()
                done += 1
            except ssl.SSLWantReadError:
                pass
        if done == 2:
            return c
    raise AssertionError("no end")


def trusting(made, alpn=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on
    context.load_verify_locations(cadata=authority.pem(made.certificate).decode())
    if alpn:
        context.set_alpn_protocols(alpn)
    return context


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state" / "ca"


def test_files_are_private_and_read_back(folder):
    made = authority.create(folder, HOSTS)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "ca.key").stat().st_mode & 0o777 == 0o600
    read = Authority.load(folder)
    assert read.fingerprint == made.fingerprint
    assert read.key.public_key() == read.certificate.public_key()
    assert "api.example" in read.listed
    assert "a.models.example" in read.listed
    assert "other.example" not in read.listed


def test_the_certificate_says_what_the_design_asks(folder):
    made = authority.create(folder, HOSTS)
    got = made.certificate.extensions
    basic, names = got.get_extension_for_class(x509.BasicConstraints), got.get_extension_for_class(x509.NameConstraints)
    assert (basic.critical, basic.value.ca, basic.value.path_length) == (True, True, 0)
    assert names.critical
    assert {n.value for n in names.value.permitted_subtrees} == {"api.example", "models.example"}
    assert isinstance(made.certificate.public_key().curve, ec.SECP256R1)
    assert made.until - made.certificate.not_valid_before_utc == dt.timedelta(days=90)


@pytest.mark.parametrize("host", ["api.example", "deep.models.example", "192.0.2.7", "2001:db8::7"])
def test_a_listed_host_is_believed(folder, host):
    made = authority.create(folder, [*HOSTS, "192.0.2.7", "2001:db8::7"])
    assert handshake(Mint(made).context(host), trusting(made), host).version() == "TLSv1.3"


@pytest.mark.parametrize("host", ["other.example", "example", "192.0.2.7", "2001:db8::7"])
def test_what_is_not_listed_is_not_believed_even_when_signed(folder, host):
    made = authority.create(folder, HOSTS)
    with pytest.raises(ssl.SSLCertVerificationError, match="subtree"):
        handshake(Mint(made).context(host), trusting(made), host)


def test_an_authority_for_addresses_only_signs_no_name(folder):
    made = authority.create(folder, ["192.0.2.7"])
    assert "192.0.2.7" in made.listed
    assert "api.example" not in made.listed
    handshake(Mint(made).context("192.0.2.7"), trusting(made), "192.0.2.7")
    for host in ("api.example", "192.0.2.8"):
        with pytest.raises(ssl.SSLCertVerificationError, match="subtree"):
            handshake(Mint(made).context(host), trusting(made), host)


def test_creating_twice_is_refused_and_nothing_is_replaced(folder):
    made = authority.create(folder, HOSTS)
    with pytest.raises(CaError, match="is there already; onlooker ca rotate replaces it"):
        authority.create(folder, HOSTS)
    assert Authority.load(folder).fingerprint == made.fingerprint


def test_rotation_keeps_the_old_certificate_and_no_old_key(folder):
    old = authority.create(folder, HOSTS)
    new = authority.rotate(folder, ["api.example"])
    assert Authority.load(folder).fingerprint == new.fingerprint != old.fingerprint
    assert [a.fingerprint for a in authority.retired(folder)] == [old.fingerprint]
    assert [p.name for p in folder.rglob("*") if "key" in p.name] == ["ca.key"]
    assert (folder / "ca.key").stat().st_mode & 0o777 == 0o600
    newest = authority.rotate(folder, HOSTS)
    assert {a.fingerprint for a in authority.retired(folder)} == {old.fingerprint, new.fingerprint}
    assert newest.certificate.subject != new.certificate.subject


def test_rotation_mends_a_pair_that_does_not_fit(folder, tmp_path):
    authority.create(folder, HOSTS)
    authority.create(tmp_path / "other", HOSTS)
    (folder / "ca.key").write_bytes((tmp_path / "other" / "ca.key").read_bytes())
    with pytest.raises(CaError, match=r"not the key of ca\.pem; onlooker ca rotate makes a new pair"):
        Authority.load(folder)
    authority.rotate(folder, HOSTS)
    Authority.load(folder)


def test_deleting_leaves_nothing(folder):
    authority.create(folder, HOSTS)
    authority.rotate(folder, HOSTS)
    assert {p.name for p in authority.delete(folder)} >= {"ca.key", "ca.pem"}
    assert not folder.exists()
    with pytest.raises(CaError, match="there is no local authority to delete"):
        authority.delete(folder)


def _open_key(folder):
    (folder / "ca.key").chmod(0o640)


def _no_key(folder):
    (folder / "ca.key").unlink()


def _torn_key(folder):
    (folder / "ca.key").write_bytes((folder / "ca.key").read_bytes()[:60])


def _torn_certificate(folder):
    (folder / "ca.pem").write_bytes((folder / "ca.pem").read_bytes()[:300])


def _no_certificate(folder):
    (folder / "ca.pem").unlink()


DAMAGE = {
    "open to others": (_open_key, r"others may read the key \(mode 640\)"),
    "no key": (_no_key, "the key is not there"),
    "torn key": (_torn_key, "not a private key"),
    "torn certificate": (_torn_certificate, "not a certificate of onlooker"),
    "no certificate": (_no_certificate, "no local authority yet"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_each_damage_is_one_sentence(folder, name):
    damage, said = DAMAGE[name]
    authority.create(folder, HOSTS)
    damage(folder)
    with pytest.raises(CaError, match=said) as caught:
        Authority.load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("hosts", "days", "said"),
    [([], 90, "no host"), (HOSTS, 91, "expected 1 to 90"), (HOSTS, 0, "expected 1 to 90"), (["*.com"], 90, "too much")],
)
def test_an_authority_for_nothing_or_for_too_long_is_not_made(folder, hosts, days, said):
    with pytest.raises(CaError, match=said) as caught:
        authority.create(folder, hosts, days)
    assert caught.value.code == 2
    assert not folder.exists()


def test_an_ended_authority_is_said_to_be_ended(folder):
    made = authority.create(folder, HOSTS, 1)
    assert made.valid()
    assert not made.valid(dt.datetime.now(dt.UTC) + dt.timedelta(days=1))
