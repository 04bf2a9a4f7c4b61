"""What a forward proxy may be asked for: one spelling of each host and port, everything else refused."""

import pytest

from proxy.relay import targets
from proxy.relay.refusals import RefusedError

AUTHORITIES = {
    b"api.example:443": ("api.example", 443),
    b"API.Example.:8443": ("api.example", 8443),
    b"192.0.2.7:1": ("192.0.2.7", 1),
    b"[2001:DB8::7]:65535": ("2001:db8::7", 65535),
}


@pytest.mark.parametrize("text", AUTHORITIES)
def test_an_authority_is_read(text):
    assert targets.connect(text) == AUTHORITIES[text]


BAD_AUTHORITIES = (
    b"api.example", b"api.example:", b"api.example:0", b"api.example:65536", b"api.example:+443", b"api.example: 443",
    b"user@api.example:443", b"user:pw@api.example:443", b":443", b"2001:db8::7:443", b"[2001:db8::7]", b"[::1:443",
    b"2130706433:443", b"0x7f000001:443", b"127.1:443", b"0177.0.0.1:443", b"[fe80::1%eth0]:443", b"a..b:443",
    b"http://api.example:443", b"api.example:443/", b"/", b"*", b"a" * 260 + b".example:443", b"b\xc3\xbccher.example:443",
    b"api.example:443:443", b"api%2eexample:443", b"api.example:\xc2\xb2", b"a#b:443", b"a?b:443",
)  # fmt: skip


@pytest.mark.parametrize("text", BAD_AUTHORITIES)
def test_anything_else_is_no_authority(text):
    with pytest.raises(RefusedError, match="proxy-target"):
        targets.connect(text)


ABSOLUTE = {
    b"http://api.example/v1?q=/": ("api.example", 80, False, b"api.example", b"/v1?q=/"),
    b"HTTP://API.example:8080": ("api.example", 8080, False, b"API.example:8080", b"/"),
    b"http://api.example?q": ("api.example", 80, False, b"api.example", b"/?q"),
    b"https://[2001:db8::7]/x": ("2001:db8::7", 443, True, b"[2001:db8::7]", b"/x"),
    b"http://127.0.0.1:9//a//b": ("127.0.0.1", 9, False, b"127.0.0.1:9", b"//a//b"),
}


@pytest.mark.parametrize("text", ABSOLUTE)
def test_an_absolute_form_is_read(text):
    assert targets.absolute(text) == ABSOLUTE[text]


@pytest.mark.parametrize(
    "text",
    [
        b"/v1",
        b"*",
        b"ftp://api.example/",
        b"http:/api.example/",
        b"http:///x",
        b"http://u@api.example/",
        b"http://api.example:0/",
        b"http://api.example:99999/",
        b"http://2130706433/",
        b"http://api.example/#f",
        b"http://127.0.0.1:80@api.example/",
        b"ws://api.example/",
        b"http://[::1/",
        b"api.example:443",
    ],
)
def test_anything_else_is_no_absolute_form(text):
    with pytest.raises(RefusedError, match="proxy-target"):
        targets.absolute(text)
