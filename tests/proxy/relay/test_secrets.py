"""Credentials never reach the spool: same-length filler in the record, a keyed fingerprint beside, the wire untouched."""

import pytest

from proxy.relay.secrets import Blanker, fingerprint, install_key
from proxy.spool.events import Ended

from .conftest import read_exactly, read_head
from .stage import OK

KEY = b"k" * 32
CANARIES = {
    "authorization": b"Authorization: Bearer sk-CANARY-%d",
    "lower case": b"authorization:sk-CANARY-%d",
    "x-api-key": b"X-Api-Key:   sk-CANARY-%d  ",
    "api-key": b"api-key: sk-CANARY-%d",
    "google": b"x-goog-api-key: sk-CANARY-%d",
    "proxy": b"Proxy-Authorization: Basic sk-CANARY-%d",
    "cookie": b"Cookie: a=sk-CANARY-%d; b=c",
    "aws": b"X-Amz-Security-Token: sk-CANARY-%d",
    "websocket": b"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.sk-CANARY-%d, openai-beta.realtime-v1",
}
QUERIES = (
    b"key=", b"api_key=", b"apikey=", b"sig=", b"signature=", b"token=", b"access_token=", b"X-Amz-Signature=",
    b"X-Amz-Security-Token=", b"password=", b"secret=", b"KEY=",
)  # fmt: skip


def test_thirty_canaries_and_not_one_in_the_spool(rig, upstream):
    seen, sent = [], []
    reply = OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: s=sk-CANARY-900\r\nset-cookie:t=sk-CANARY-901\r\n\r\n")

    def handler(sock):
        while head := read_head(sock):
            seen.append(head)
            sock.sendall(reply)

    up = upstream(handler)
    r = rig({"/": {"url": f"http://127.0.0.1:{up.port}"}})
    number = 0
    with r.connect() as sock:
        for line in CANARIES.values():
            number += 2
            head = (
                b"GET / HTTP/1.1\r\nHost: localhost\r\n"
                + line % number
                + b"\r\nX: y\r\n"
                + line % (number + 1)
                + b"\r\n\r\n"
            )
            sent.append(head)
        for name in QUERIES:
            number += 2
            head = b"GET /p?a=b&" + name + b"sk-CANARY-%d&c=d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number
            sent.append(head)
        for head in sent:
            sock.sendall(head)
            assert read_exactly(sock, len(reply)) == reply
    # the wire is untouched
    assert seen == [h.replace(b"localhost", b"127.0.0.1:%d" % up.port) for h in sent]
    assert sum(h.count(b"CANARY") for h in sent) >= 30
    events = r.events(until=lambda es: sum(isinstance(e, Ended) for e in es) == len(sent))
    assert b"CANARY" not in repr(events).encode()
    for path in r.root.rglob("*"):
        assert not path.is_file() or b"CANARY" not in path.read_bytes(), path
    # byte counts are the forwarded ones all the same
    assert sum(e.bytes_in for e in events if isinstance(e, Ended)) == sum(map(len, seen))


def test_one_key_prints_alike_wherever_it_stands_and_other_keys_and_installations_do_not():
    assert fingerprint(KEY, b"Bearer sk-1") == fingerprint(KEY, b"sk-1") == fingerprint(KEY, b"bearer  sk-1")
    assert fingerprint(KEY, b"sk-1") != fingerprint(KEY, b"sk-2")
    assert fingerprint(KEY, b"sk-1") != fingerprint(b"j" * 32, b"sk-1")


def test_a_remembered_print_is_the_same_print():
    blanker = Blanker(KEY)
    head = b"GET / HTTP/1.1\r\nX-Api-Key: sk-1\r\n\r\n"
    first, second = (blanker.blank(head, len(head), head.lower(), [b"x-api-key"]) for _ in range(2))
    assert (
        first == second == (head.replace(b"sk-1", b"****"), b"x-api-key=" + fingerprint(KEY, b"sk-1").encode() + b";")
    )


def test_the_installations_key_is_made_once_and_private(tmp_path):
    path = tmp_path / "key"
    made = install_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert install_key(path) == made
    path.write_bytes(b"short")
    with pytest.raises(ValueError, match="has 32 bytes"):
        install_key(path)


def test_a_disk_that_takes_no_key_keeps_no_traffic_back(tmp_path, capsys):
    path = tmp_path / "gone" / "key"
    assert len(install_key(path)) == 32
    assert capsys.readouterr().err.startswith(f"onlooker: {path}: No such file or directory; until a restart ")
