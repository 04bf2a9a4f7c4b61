"""Leaf certificates: short-lived, one context per host, HTTP/1.1 only, nothing of them on disk."""

import datetime as dt
import ssl

import pytest

from proxy.ca import authority
from proxy.ca.authority import Authority
from proxy.ca.leaf import KEPT, Mint

from .test_authority import HOSTS, handshake, trusting


@pytest.fixture(scope="module")
def made():
    return authority.issue(HOSTS)


def test_a_leaf_lives_a_week_at_most_and_never_past_its_authority(made):
    leaf = Mint(made).certificate("api.example")
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc == dt.timedelta(days=7)
    short = authority.issue(HOSTS, 1)
    assert Mint(short).certificate("api.example").not_valid_after_utc == short.until


def test_a_host_is_minted_once_and_others_get_their_own(made):
    mint = Mint(made)
    assert mint.context("api.example") is mint.context("api.example")
    assert mint.context("api.example") is not mint.context("a.models.example")


def test_memory_is_bounded_whatever_a_client_names(made):
    mint = Mint(made)
    first = mint.context("h0.models.example")
    for n in range(1, KEPT + 1):
        mint.context(f"h{n}.models.example")
    assert len(mint._kept) == KEPT
    assert mint.context("h0.models.example") is not first


@pytest.mark.parametrize(
    ("offered", "agreed"), [(["h2", "http/1.1"], "http/1.1"), (["http/1.1"], "http/1.1"), (None, None)]
)
def test_only_http_1_1_is_agreed(made, offered, agreed):
    assert (
        handshake(Mint(made).context("api.example"), trusting(made, offered), "api.example").selected_alpn_protocol()
        == agreed
    )


def test_a_name_too_long_for_a_common_name_is_believed(made):
    host = ".".join(["a" * 60, "b" * 60, "models.example"])
    handshake(Mint(made).context(host), trusting(made), host)


def test_an_authority_that_ended_mints_nothing():
    ended = authority.issue(HOSTS)

    class Ended(Authority):
        __slots__ = ()

        def valid(self, now=None):
            return False

    with pytest.raises(ValueError, match="not valid now"):
        Mint(Ended(ended.certificate, ended.key)).context("api.example")


def test_a_client_that_does_not_know_the_authority_says_so(made):
    strange = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(Mint(made).context("api.example"), strange, "api.example")
