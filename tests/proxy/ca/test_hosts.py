"""Hosts in one spelling, and which of them an allow-list holds."""

import pytest

from proxy.ca.hosts import Listed, host_name, listed_name

SPELLINGS = {
    "API.Example": "api.example",
    "api.example.": "api.example",
    "localhost": "localhost",
    "a_b.example": "a_b.example",
    "xn--bcher-kva.example": "xn--bcher-kva.example",
    "192.0.2.7": "192.0.2.7",
    "[2001:DB8::7]": "2001:db8::7",
    "[2001:db8:0:0::7]": "2001:db8::7",
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_host_has_one_spelling(text):
    assert host_name(text) == SPELLINGS[text]


NO_HOSTS = (
    "", ".", "a..b", "-a.example", "a-.example", "a b", "user@api.example", "api.example/", "2130706433", "0x7f000001",
    "0x7f.1", "127.1", "0177.0.0.1", "192.0.2.07", "a.123", "a.0x1f", "2001:db8::7", "[192.0.2.7]", "[fe80::1%eth0]",
    "[::1", "b\u00fccher.example", "a" * 64 + ".example", ".".join(["a" * 60] * 5), "a\r\nb", "a\0b", "%61.example", "*.example.com",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_HOSTS)
def test_what_a_resolver_could_read_another_way_is_no_host(text):
    with pytest.raises(ValueError, match="is no host"):
        host_name(text)


@pytest.mark.parametrize(
    "text",
    ["*.com", "*.", "*", "*.192.0.2.7", "a.*.example", "https://api.example", "api.example:443", "*.*.example.com"],
)
def test_an_entry_that_lists_too_much_or_nothing_is_said(text):
    with pytest.raises(ValueError, match=r"intercept|too much"):
        listed_name(text)


def test_an_exact_entry_lists_one_host_and_a_wildcard_all_below():
    listed = Listed(["API.example", "*.models.example", "2001:db8::7", "192.0.2.7"])
    inside = ("api.example", "a.models.example", "a.b.models.example", "2001:db8::7", "192.0.2.7")
    outside = ("example", "x.api.example", "models.example", "evilmodels.example", "192.0.2.8", "api.example.net")
    assert all(h in listed for h in inside)
    assert not any(h in listed for h in outside)


def test_one_list_covers_what_another_asks_for():
    listed = Listed(["api.example", "*.models.example"])
    asked = ("api.example", "*.models.example", "a.models.example", "*.a.models.example")
    assert all(listed.covers(a) for a in asked)
    assert not any(listed.covers(a) for a in ("models.example", "*.api.example", "other.example"))
