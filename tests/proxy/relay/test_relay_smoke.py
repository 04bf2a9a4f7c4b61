"""One exchange through the relay, both loops: bytes, record, counters."""

from proxy.exchange import Ending
from proxy.relay import counters
from proxy.spool.events import Ended, HeadSeen, Opened

from .conftest import read_exactly, read_head

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def serve(seen):
    def handler(sock):
        while head := read_head(sock):
            seen.append(head)
            sock.sendall(ANSWER)

    return handler


def test_a_request_goes_through_and_is_recorded(rig, upstream):
    seen = []
    up = upstream(serve(seen))
    r = rig({"api": {"url": f"http://127.0.0.1:{up.port}/base"}})
    with r.connect() as sock:
        sock.sendall(b"GET /api/v1/x?key=hush HTTP/1.1\r\nhOsT:  a.example\r\nX-Api-Key: hush2\r\n\r\n")
        assert read_exactly(sock, len(ANSWER)) == ANSWER
    host = f"127.0.0.1:{up.port}".encode()
    assert seen == [b"GET /base/v1/x?key=hush HTTP/1.1\r\nhOsT:  " + host + b"\r\nX-Api-Key: hush2\r\n\r\n"]
    events = r.events(until=lambda es: any(isinstance(e, Ended) for e in es))
    opened, head = events[:2]
    assert isinstance(opened, Opened)
    assert opened.meta["route"] == "api"
    assert isinstance(head, HeadSeen)
    assert head.raw == seen[0].replace(b"hush2", b"*****").replace(b"hush", b"****")
    assert set(head.fingerprints) == {"x-api-key", "?key"}
    assert events[-1].ending is Ending.COMPLETE
    (slot,) = counters.read(r.root / "counters")
    assert (slot["exchanges"], slot["bytes_in"], slot["bytes_out"]) == (1, len(seen[0]), len(ANSWER))
