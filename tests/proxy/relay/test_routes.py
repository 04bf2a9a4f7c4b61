"""Routing by path alone, and which addresses are never connected to."""

import pytest

from proxy.relay.addresses import forbidden
from proxy.relay.refusals import RefusedError
from proxy.relay.routes import RouteError, Routes, route

ROUTES = {
    "/": {"url": "http://root.example:9000/deep/"},
    "a": {"url": "https://a.example"},
    "b": {"url": "http://b.example:81/base"},
}


@pytest.mark.parametrize(
    ("target", "name", "sent", "objective"),
    [
        (b"/x", "/", b"/deep/x", None),
        (b"/a/x?y", "a", b"/x?y", None),
        (b"/a", "a", b"/", None),
        (b"/a?x", "a", b"/?x", None),
        (b"/b", "b", b"/base", None),
        (b"/b/x", "b", b"/base/x", None),
        (b"/ab/x", "/", b"/deep/ab/x", None),
        (b"/o/t1.ff/a/x", "a", b"/x", "t1.ff"),
        (b"/o/t1/x", "/", b"/deep/x", "t1"),
        (b"/ok", "/", b"/deep/ok", None),
        (b"*", "/", b"*", None),
        (b"http://b.example:81/q", "b", b"/q", None),
        (b"HTTP://B.example:81", "b", b"/", None),
    ],
)
def test_a_target_has_one_place(target, name, sent, objective):
    place = Routes(ROUTES).find(target)
    assert (place.route.name, place.target, place.objective) == (name, sent, objective)


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (b"/x", "unknown-route"),
        (b"*", "unknown-route"),
        (b"/_onlooker/", "reserved-path"),
        (b"/o/", "reserved-path"),
        (b"/o", "reserved-path"),
        (b"http://elsewhere.example/", "absolute-form"),
        (b"ftp://a.example/", "absolute-form"),
        (b"a.example:443", "absolute-form"),
    ],
)
def test_what_has_no_place_is_refused(target, code):
    with pytest.raises(RefusedError) as refusal:
        Routes({"a": {"url": "https://a.example"}}).find(target)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("a", "ftp://a.example"), ("a", ""), ("a", "a.example"), ("a", "http://"), ("a", "http://u:p@a.example"),
        ("a", "http://a.example/?q"), ("o", "http://a.example"), ("_onlooker", "http://a.example"), ("a/b", "http://a.example"),
        ("", "http://a.example"),
    ],
)  # fmt: skip
def test_a_bad_route_is_said_in_one_sentence(name, url):
    with pytest.raises(RouteError) as error:
        route(name, {"url": url})
    assert str(error.value).startswith("route ")


OWN = frozenset({("127.0.0.1", 8790), ("0.0.0.0", 8791)})


@pytest.mark.parametrize(
    ("address", "port", "expected"),
    [
        ("93.184.216.34", 443, False), ("127.0.0.1", 9000, False), ("::1", 9000, False), ("10.0.0.1", 80, False),
        ("127.0.0.1", 8790, True), ("::ffff:127.0.0.1", 8790, True), ("127.9.9.9", 8791, True), ("::1", 8791, True),
        ("93.184.216.34", 8790, False),
        ("169.254.169.254", 80, True), ("::ffff:169.254.169.254", 80, True), ("2002:a9fe:a9fe::1", 80, True),
        ("fe80::1", 80, True), ("fe80::1%eth0", 80, True), ("fd00:ec2::254", 80, True), ("100.100.100.200", 80, True),
        ("64:ff9b::a9fe:a9fe", 80, True), ("::169.254.169.254", 80, True), ("168.63.129.16", 80, True),
        ("fd00:ec2::23", 80, True), ("fd00:ec2::253", 53, True), ("fd20:ce::254", 80, True), ("fd20:ce::253", 80, False),
        ("192.0.0.192", 80, True), ("169.254.170.2", 80, True), ("::ffff:0:a9fe:a9fe", 80, True), ("::ffff:100.100.100.200", 80, True),
        ("64:ff9b:1::a9fe:a9fe", 80, True), ("64:ff9b:1:fffe::a9fe:a9fe", 80, True), ("64:ff9b:1::5db8:d822", 443, False),
        ("2002:6464:64c8::", 80, True), ("2001:0:5ef5:79fb::5601:5601", 80, True), ("fe80::a9fe:a9fe", 80, True), ("169.255.0.1", 80, False),
        ("64:ff9b::7f00:1", 8790, True), ("::ffff:0:7f00:1", 8790, True), ("2002:7f00:1::", 8790, True), ("127.0.0.2", 8790, True),
        ("64:ff9b::5db8:d822", 443, False), ("::7f00:1", 8790, True),
        ("0.0.0.0", 80, True), ("::", 80, True), ("224.0.0.1", 80, True), ("ff02::1", 80, True), ("255.255.255.255", 80, True),
    ],
)  # fmt: skip
def test_addresses_never_connected_to(address, port, expected):
    assert forbidden(address, port, OWN) is expected
