"""What doctor says of the local authority, for each state it can be in."""

import datetime as dt

import pytest

from proxy.ca.authority import create
from proxy.doctor.authority import authority
from proxy.settings import Config, Forward, SpoolSettings


@pytest.fixture
def config(tmp_path):
    def make(listen="127.0.0.1:0", intercept=("api.example",)):
        return Config(str(tmp_path), SpoolSettings(str(tmp_path)), forward=Forward(listen, intercept))

    return make


def said(config, now=None):
    return [(c.state, c.said) for c in authority(config, now)]


def test_nothing_is_said_where_nobody_asked_for_it(config):
    assert said(config(listen=None)) == []


def test_a_forward_proxy_without_an_authority_reads_no_tls(config):
    assert said(config()) == [("note", "none: the forward proxy tunnels all TLS unread; onlooker ca create makes one")]


def test_an_authority_that_fits_is_ok(config):
    made = create(config().ca_dir, ["api.example"])
    assert said(config()) == [("ok", f"for 1 hosts, until {made.until:%Y-%m-%d}")]


def test_hosts_it_cannot_sign_for_are_named(config):
    create(config().ca_dir, ["api.example"])
    wanted = config(intercept=("api.example", "a.api.example", "new.example", "*.more.example"))
    ((state, text),) = said(wanted)
    assert (state, text.split(";")[0]) == ("note", "cannot sign for new.example, *.more.example")


def test_its_end_is_said_two_weeks_before(config):
    made = create(config().ca_dir, ["api.example"])
    ((state, text),) = said(config(), made.until - dt.timedelta(days=13))
    assert state == "note"
    assert text.startswith("ends on ")


def test_a_damaged_one_is_bad(config):
    create(config().ca_dir, ["api.example"])
    (config().ca_dir / "ca.key").chmod(0o640)
    ((state, text),) = said(config())
    assert state == "bad"
    assert "others may read the key" in text
