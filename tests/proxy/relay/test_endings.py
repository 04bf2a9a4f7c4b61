"""Endings are true in every phase: a break is seen as a break, a client that leaves takes its upstream along."""

import select
import socket
import struct
import threading
import time
import zlib

import pytest

from proxy.exchange import Ending, Side
from proxy.spool.events import BodySeen, Ended, Opaque, Refused
from tests.ports import free_port

from .conftest import WAIT_S, read_all, read_exactly, read_head, reset

ASK = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartial"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npartial\r\n"
UNTIL = b"HTTP/1.1 200 OK\r\n\r\npartial"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def one_ended(events):
    return [e for e in events if isinstance(e, Ended)]


def to(up):
    return {"/": {"url": f"http://127.0.0.1:{up.port}"}}


BREAKS = {
    # name: (reply before the break, how, what the client sees after the reply, ending, reason)
    "FIN in a length body": (LENGTH, "fin", b"", Ending.TRUNCATED, "upstream_closed"),
    "RST in a length body": (LENGTH, "rst", b"", Ending.TRUNCATED, "upstream_reset"),
    "FIN in a chunked body": (CHUNKED, "fin", b"", Ending.TRUNCATED, "upstream_closed"),
    "RST in a chunked body": (CHUNKED, "rst", b"", Ending.TRUNCATED, "upstream_reset"),
    "FIN ends a body until close": (UNTIL, "fin", b"", Ending.COMPLETE, ""),
    "RST in a body until close": (UNTIL, "rst", b"<RST>", Ending.TRUNCATED, "upstream_reset"),
    "FIN before any answer": (b"", "fin", b"", Ending.UPSTREAM_FAILED, "upstream_closed_before_response"),
    "RST before any answer": (b"", "rst", b"<RST>", Ending.UPSTREAM_FAILED, "upstream_reset_before_response"),
    "FIN in the head": (
        b"HTTP/1.1 200 OK\r\nA: b",
        "fin",
        None,
        Ending.UPSTREAM_FAILED,
        "upstream_closed_before_response",
    ),
    "extra bytes": (LENGTH.replace(b"100", b"9"), "extra", b"", Ending.TRUNCATED, "extra-response-bytes"),
    "bad chunk later": (CHUNKED, "badchunk", b"", Ending.TRUNCATED, "chunk-size"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_passed_on_as_a_break(rig, upstream, name):
    reply, how, after, ending, reason = BREAKS[name]
    arrived = threading.Event()

    def handler(sock):
        read_exactly(sock, len(ASK) + 6)
        if reply:
            sock.sendall(reply)
        assert arrived.wait(WAIT_S)  # a reset discards what was not read yet
        if how == "rst":
            reset(sock)
        elif how == "extra":
            sock.sendall(b"0123456789")
            read_all(sock)
        elif how == "badchunk":
            sock.sendall(b"zz\r\nx")
            read_all(sock)

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(ASK)
        got = read_exactly(sock, len(reply) if after is not None else 0)
        arrived.set()
        got += read_all(sock)
    if after is not None:
        assert got == reply + after
    else:
        assert got == b""
    (ended,) = one_ended(r.events(until=one_ended))
    assert (ended.ending, ended.reason) == (ending, reason)


class Phase:
    """An upstream that notes when its connection goes away."""

    def __init__(self, reply=b""):
        self.reply = reply
        self.began = threading.Event()
        self.lost = threading.Event()

    def __call__(self, sock):
        sock.recv(65536)
        if self.reply:
            sock.sendall(self.reply)
        self.began.set()
        read_all(sock)
        self.lost.set()


PHASES = {
    "before the first byte": (Phase, {}, ASK, 0),
    "uploading": (Phase, {}, ASK[:-2], 0),
    "mid-stream": (Phase, {"reply": CHUNKED}, ASK, len(CHUNKED)),
    "mid-stream with a pipelined request held": (Phase, {"reply": CHUNKED}, ASK + ASK, len(CHUNKED)),
}


@pytest.mark.parametrize("how", ["fin", "rst"])
@pytest.mark.parametrize("name", PHASES)
def test_a_client_that_leaves_takes_its_upstream_along(rig, upstream, name, how):
    make, arguments, sent, answer = PHASES[name]
    phase = make(**arguments)
    r = rig(to(upstream(phase)))
    sock = r.connect()
    sender = threading.Thread(target=_send, args=(sock, sent), daemon=True)
    sender.start()
    assert phase.began.wait(WAIT_S)
    read_exactly(sock, answer)
    if how == "rst":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.shutdown(socket.SHUT_WR) if how == "fin" else sock.close()
    (ended,) = one_ended(r.events(until=one_ended))
    assert ended.ending is Ending.CLIENT_GONE
    assert phase.lost.wait(WAIT_S)  # the promise is 50 ms; benchmarks measure it
    sock.close()
    sender.join(WAIT_S)


def _send(sock, data):
    try:
        sock.sendall(data)
    except OSError:
        pass


def test_a_client_that_resets_while_its_upload_is_stalled_is_seen(rig, upstream):
    began, gone = threading.Event(), threading.Event()

    def handler(sock):
        began.set()
        poller = select.poll()
        poller.register(sock, 0)  # reads nothing: only HUP and ERR are told
        if poller.poll(WAIT_S * 1000):
            gone.set()

    r = rig(to(upstream(handler)))
    sock = r.connect()
    sock.sendall(ASK.replace(b"Length: 5", b"Length: 50000000"))
    assert began.wait(WAIT_S)
    sock.settimeout(0.3)
    try:
        while True:
            sock.send(b"x" * 65536)
    except TimeoutError:
        pass
    reset(sock)
    assert gone.wait(WAIT_S)
    (ended,) = one_ended(r.events(until=one_ended))
    assert ended.ending is Ending.CLIENT_GONE


def test_a_client_that_leaves_while_connecting_ends_the_attempt(rig):
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    port = full.getsockname()[1]
    fillers = []
    for _ in range(8):  # fill the accept queue, so that connecting hangs
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(("127.0.0.1", port))
        fillers.append(filler)
    r = rig({"/": {"url": f"http://127.0.0.1:{port}"}}, connect_s=0.2)
    assert b"Onlooker-Refusal: upstream-timeout" in r.talk(ASK)
    r.relay._connect_s = 60.0
    sock = r.connect()
    sock.sendall(ASK)
    deadline = time.monotonic() + WAIT_S
    while not r.relay._dials:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    sock.close()
    late, ended = one_ended(r.events(until=lambda es: len(one_ended(es)) == 2))
    assert (late.ending, ended.ending) == (Ending.UPSTREAM_FAILED, Ending.CLIENT_GONE)
    while r.relay._dials:  # its cancelling takes another turn of the loop
        assert time.monotonic() < deadline
        time.sleep(0.005)
    for one in (*fillers, full):
        one.close()


def test_an_upstream_nobody_listens_on_is_a_typed_502(rig):
    r = rig({"/": {"url": f"http://127.0.0.1:{free_port()}"}})
    got = r.talk(ASK)
    assert got.startswith(b"HTTP/1.1 502 ")
    assert b"Onlooker-Refusal: upstream-connect" in got
    events = r.events(until=one_ended)
    assert [e.ending for e in one_ended(events)] == [Ending.UPSTREAM_FAILED]
    assert [e.reason for e in events if isinstance(e, Refused)] == ["upstream-connect"]


def test_a_name_that_does_not_resolve_is_a_typed_502(rig):
    for name in ("no-such-name.invalid", "a" * 70 + ".invalid"):
        r = rig({"/": {"url": f"http://{name}"}})
        assert b"Onlooker-Refusal: upstream-name" in r.talk(ASK)


def test_a_refused_head_request_gets_no_body(rig):
    r = rig({"/": {"url": f"http://127.0.0.1:{free_port()}"}})
    got = r.talk(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 502 ")
    assert got.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254", "[fe80::1]", "0.0.0.0", "[::ffff:169.254.169.254]", "[fd00:ec2::254]",
        # spellings only a resolver reads: one number, hexadecimal, octal, fewer parts
        "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "169.254.43518", "169.16689662",
        "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[::a9fe:a9fe]", "[::ffff:0:a9fe:a9fe]",
        "[fd20:ce::254]", "100.100.100.200", "[::]", "0", "255.255.255.255",
    ],
)  # fmt: skip
def test_metadata_and_link_local_addresses_are_refused(rig, host):
    r = rig({"/": {"url": f"http://{host}:80"}})
    got = r.talk(ASK)
    assert got.startswith(b"HTTP/1.1 403 ")
    assert b"Onlooker-Refusal: forbidden-address" in got


OWN = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0x7f.1", "127.0.0.53", "[::1]"]


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", "[::]"])
@pytest.mark.parametrize("host", [*OWN, "@NAME@", "@ADDRESS@"])
def test_its_own_listener_is_refused_under_each_of_its_names(rig, host, bound):
    """A listener on all addresses is reached by each of this machine's; one on loopback not by the others."""
    name = socket.gethostname()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: says which of our addresses would be used
            address = probe.getsockname()[0]
            socket.getaddrinfo(name, 80)
        except OSError:
            if host.startswith("@"):
                pytest.skip("this machine has no name or address of its own")
            address = ""
    with socket.create_server(("127.0.0.1", 0)) as control:
        port = control.getsockname()[1]
        host = host.replace("@NAME@", name).replace("@ADDRESS@", address)
        r = rig({"/": {"url": f"http://{host}:{port}"}}, own=[f"{bound}:{port}"])
        assert b"Onlooker-Refusal: forbidden-address" in r.talk(ASK)


def test_an_idle_upstream_close_is_mirrored(rig, upstream):
    def handler(sock):
        read_head(sock)
        sock.sendall(OK)

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(ASK)
        assert read_all(sock) == OK


def test_connection_close_is_mirrored_after_the_response(rig, upstream):
    def handler(sock):
        read_head(sock)
        sock.sendall(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        read_all(sock)

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(ASK)
        assert read_all(sock).endswith(b"ok")


def test_unsolicited_bytes_from_an_idle_upstream_end_the_connection(rig, upstream):
    def handler(sock):
        read_head(sock)
        sock.sendall(OK)
        assert arrived.wait(WAIT_S)  # together they would be one answer that is too long
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        read_all(sock)

    arrived = threading.Event()
    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(ASK)
        assert read_exactly(sock, len(OK)) == OK
        arrived.set()
        assert read_all(sock) in {b"", b"<RST>"}
    events = r.events(until=lambda es: any(isinstance(e, Refused) for e in es))
    assert [e.reason for e in events if isinstance(e, Refused)] == ["unsolicited-response"]


def test_pipelined_requests_are_served_in_order(rig, upstream):
    def handler(sock):
        held = b""
        for _ in range(3):
            while b"\r\n\r\n" not in held:
                held += sock.recv(65536)
            head, _, held = held.partition(b"\r\n\r\n")
            body = head.split(b" ")[1]
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        read_all(sock)

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(b"".join(b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % n for n in range(3)))
        want = b"".join(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/%d" % n for n in range(3))
        assert read_exactly(sock, len(want)) == want
    assert [e.ending for e in one_ended(r.events(until=lambda es: len(one_ended(es)) == 3))] == [Ending.COMPLETE] * 3


PIPELINED = [
    b"POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
    b"HEAD /2 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /3 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: x\r\n\r\n",
    b"GET /4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"DELETE /5 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
    b"GET /6 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
]
IN_ORDER = [
    OK,
    b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end",
]


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_requests_of_every_framing_in_one_pipeline_are_answered_in_order(rig, upstream, size):
    came = []

    def handler(sock):
        for asked, answer in zip(PIPELINED, IN_ORDER, strict=True):
            wanted = asked.replace(b"localhost", host)
            came.append(read_exactly(sock, len(wanted)) == wanted)
            sock.sendall(answer)

    up = upstream(handler)
    host = b"127.0.0.1:%d" % up.port
    r = rig(to(up))
    sent = b"".join(PIPELINED)
    assert r.talk(sent, pieces=[sent[i : i + size] for i in range(0, len(sent), size)]) == b"".join(IN_ORDER)
    assert came == [True] * 6
    endings = [e.ending for e in one_ended(r.events(until=lambda es: len(one_ended(es)) == 6))]
    assert endings == [Ending.COMPLETE] * 6


def test_a_route_change_opens_another_upstream_and_closes_the_old_one_quietly(rig, upstream):
    closed = threading.Event()

    def first(sock):
        read_head(sock)
        sock.sendall(OK)
        if read_all(sock) == b"":
            closed.set()

    def second(sock):
        while read_head(sock):
            sock.sendall(OK)

    a, b = upstream(first), upstream(second)
    r = rig({"a": {"url": f"http://127.0.0.1:{a.port}"}, "b": {"url": f"http://127.0.0.1:{b.port}"}})
    with r.connect() as sock:
        for path in (b"/a/x", b"/b/x", b"/b/y"):
            sock.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_exactly(sock, len(OK)) == OK
        assert closed.wait(WAIT_S)
    assert (a.accepted, b.accepted) == (1, 1)


def test_an_early_answer_to_an_unfinished_upload_arrives_whole(rig, upstream):
    answer = b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"

    def handler(sock):
        read_head(sock)
        sock.sendall(answer)
        assert arrived.wait(WAIT_S)  # closing with bytes unread resets, and a reset discards

    arrived = threading.Event()
    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(ASK.replace(b"Length: 5", b"Length: 3000000"))
        sender = threading.Thread(target=_send, args=(sock, b"x" * 2_000_000))
        sender.start()
        assert read_exactly(sock, len(answer)) == answer
        arrived.set()
        sock.close()
        sender.join(WAIT_S)


def test_an_early_answer_on_a_kept_connection_lets_the_upload_finish(rig, upstream):
    def handler(sock):
        held = read_head(sock)
        sock.sendall(OK)
        body = held.partition(b"\r\n\r\n")[2]
        body += read_exactly(sock, 5 - len(body))
        while read_head(sock):
            sock.sendall(OK)

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(ASK[:-5])
        assert read_exactly(sock, len(OK)) == OK
        sock.sendall(b"hello")
        sock.sendall(b"GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert read_exactly(sock, len(OK)) == OK
    assert [e.ending for e in one_ended(r.events(until=lambda es: len(one_ended(es)) == 2))] == [Ending.COMPLETE] * 2


def test_expect_waits_for_the_upstreams_word(rig, upstream):
    def handler(sock):
        read_head(sock)
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert read_exactly(sock, 5) == b"hello"
        sock.sendall(OK)
        read_all(sock)

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(ASK[:-5].replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert read_exactly(sock, 25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"hello")
        assert read_exactly(sock, len(OK)) == OK


SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: %s\r\nConnection: Upgrade\r\n\r\n"


@pytest.mark.parametrize(
    ("protocol", "ahead"), [(b"websocket", b""), (b"websocket", b"\x81\x81aaaax"), (b"other", b"")]
)
def test_an_upgraded_connection_is_a_tunnel_and_says_what_it_is(rig, upstream, protocol, ahead):
    switch = SWITCH % protocol

    def handler(sock):
        got = read_head(sock)
        early = got.partition(b"\r\n\r\n")[2]
        assert early == b""  # nothing goes ahead of the answer
        sock.sendall(switch + b"\x81\x02hi")
        assert read_exactly(sock, len(ahead) + 4) == ahead + b"PING"
        sock.sendall(b"PONG")
        assert sock.recv(10) == b""
        sock.sendall(b"LAST")

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        sock.sendall(
            b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: " + protocol + b"\r\n\r\n" + ahead
        )
        assert read_exactly(sock, len(switch) + 4) == switch + b"\x81\x02hi"
        sock.sendall(b"PING")
        assert read_exactly(sock, 4) == b"PONG"
        sock.shutdown(socket.SHUT_WR)
        assert read_all(sock) == b"LAST"
    events = r.events(until=one_ended)
    if protocol == b"websocket":
        assert b"".join(e.data for e in events if isinstance(e, BodySeen)) in {
            b"\x81\x02hi" + ahead + b"PINGPONGLAST", ahead + b"\x81\x02hi" + b"PINGPONGLAST",
        }  # fmt: skip
        assert one_ended(events)[0].ending is Ending.COMPLETE
    else:
        (opaque,) = [e for e in events if isinstance(e, Opaque)]
        assert opaque.bytes_in >= 4
        assert opaque.bytes_out >= 8


MASK = b"\x11\x22\x33\x44"


def masked(first, payload):
    assert len(payload) < 126
    body = bytes(b ^ MASK[i % 4] for i, b in enumerate(payload))
    return bytes([first, 0x80 | len(payload)]) + MASK + body


@pytest.mark.parametrize("code", [1000, 1001, 1008, 1011, 4321])
def test_a_websocket_with_an_extension_fragments_control_frames_and_a_close_reason(rig, upstream, code):
    """Frames go through as they are and are captured as they are: what they mean is the analyzer's to say."""
    squeeze = zlib.compressobj(wbits=-15)
    text = squeeze.compress(b'{"type":"response.create"}') + squeeze.flush(zlib.Z_SYNC_FLUSH)[:-4]
    reason = code.to_bytes(2, "big") + "bye, żółw".encode()
    asked = [
        masked(0xC1, text),  # compressed, whole
        masked(0x41, text[:5]),  # compressed, its first part
        masked(0x89, b"ping"),  # between two parts
        masked(0x80, text[5:]),
        masked(0x82, b""),
        masked(0x88, reason),
    ]
    told = [
        b"\x8a\x04ping",
        b"\x01\x03[1,",
        b"\x00\x00",
        b"\x80\x022]",
        b"\x82\x7e\x01\x00" + bytes(256),
        b"\x88" + bytes([len(reason)]) + reason,
    ]
    fields = b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nSec-WebSocket-Protocol: a, b\r\n"
    switch = (SWITCH % b"websocket")[:-2] + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    heads = []

    def handler(sock):
        heads.append(read_head(sock))
        sock.sendall(switch)
        for one, answer in zip(asked, told, strict=True):
            assert read_exactly(sock, len(one)) == one
            sock.sendall(answer)
        read_all(sock)

    r = rig(to(upstream(handler)))
    with r.connect() as sock:
        ask = b"GET /ws HTTP/1.1\r\nHost: @\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" + fields + b"\r\n"
        sock.sendall(ask.replace(b"@", b"localhost"))
        assert read_exactly(sock, len(switch)) == switch
        for one, answer in zip(asked, told, strict=True):
            sock.sendall(one)
            assert read_exactly(sock, len(answer)) == answer
        sock.shutdown(socket.SHUT_WR)
        assert read_all(sock) == b""
    assert heads[0].partition(b"Connection:")[2] == ask.partition(b"Connection:")[2]
    bodies = [e for e in r.events(until=one_ended) if isinstance(e, BodySeen)]
    for side, frames in ((Side.REQUEST, asked), (Side.RESPONSE, told)):
        assert b"".join(e.data for e in bodies if e.side is side) == b"".join(frames)


def test_a_head_that_does_not_arrive_in_time_is_a_408(rig, upstream):
    r = rig(to(upstream(read_all)), head_s=0.2)
    with r.connect() as sock:
        time.sleep(0.3)  # idle is not late: the clock starts at the first byte
        sock.sendall(b"GET / HTTP/1.1\r\nHo")
        assert b"408 Request Timeout" in read_all(sock)


def test_a_stalled_client_stops_its_own_upstream_and_nobody_elses(rig, upstream):
    sent = [0]
    big = b"HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n"

    def handler(sock):
        head = read_head(sock)
        if b"/big" not in head:
            sock.sendall(OK)
            return
        sock.sendall(big)
        sock.settimeout(0.5)
        try:
            while True:
                sent[0] += sock.send(b"x" * 65536)
        except OSError:
            pass

    r = rig(to(upstream(handler)))
    with r.connect() as stalled:
        stalled.sendall(b"GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.6)
        with r.connect() as other:
            other.sendall(ASK)
            assert read_exactly(other, len(OK)) == OK
        assert sent[0] < 100_000_000  # socket buffers (up to 75 MB where the kernel lets them grow), not the body
