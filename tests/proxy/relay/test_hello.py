"""The client hello of real TLS libraries, whole and in every piece; what is none is said at once."""

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.relay.hello import MAX_HELLO_BYTES, NotHelloError, client_hello


def hello(name="api.example", alpn=("h2", "http/1.1")):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    if alpn:
        context.set_alpn_protocols(list(alpn))
    out = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def test_name_and_protocols_are_read():
    got = client_hello(hello("API.Example"))
    assert (got.name, got.alpn) == ("api.example", (b"h2", b"http/1.1"))
    assert len(got.ciphers) > 10


def test_without_extensions_of_either_kind_there_is_neither():
    got = client_hello(hello(None, None))
    assert (got.name, got.alpn) == ("", ())


def test_every_prefix_waits_for_more_and_the_rest_changes_nothing():
    whole = hello()
    assert all(client_hello(whole[:n]) is None for n in range(len(whole)))
    assert client_hello(whole + b"\x17\x03\x03") == client_hello(whole)


def test_a_hello_in_many_records_is_one():
    message = hello()[5:]
    cut = b"".join(b"\x16\x03\x01" + len(p).to_bytes(2, "big") + p for p in (message[:1], message[1:9], message[9:]))
    assert client_hello(cut) == client_hello(hello_with(message))


def hello_with(message):
    return b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n",
        b"SSH-2.0-x\r\n",
        b"\x00",
        b"\x16\x02",
        b"\x16\x03\x01\x00\x00x",
        b"\x16\x03\x01\x00\x01\x02",
        b"\x16\x03\x01\xff\xff",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01x",
    ],
)
def test_what_is_no_hello_is_said(data):
    with pytest.raises(NotHelloError):
        client_hello(data)


def test_a_hello_that_never_ends_is_none():
    piece = b"\x16\x03\x01\x40\x00" + b"\x01\xff\xff\xff" + bytes((1 << 14) - 4)
    with pytest.raises(NotHelloError):
        client_hello(piece + (b"\x16\x03\x01\x40\x00" + bytes(1 << 14)) * (MAX_HELLO_BYTES // (1 << 14)))


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 255))
def test_nothing_but_its_own_error_comes_out(tail, at, byte):
    data = bytearray(hello())
    data[min(at, len(data) - 1)] = byte
    for given_data in (bytes(data) + tail, b"\x16\x03\x01" + tail):
        try:
            client_hello(bytearray(given_data))
        except NotHelloError:
            pass
