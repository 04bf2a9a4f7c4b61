"""Behind the relay, nginx, HAProxy and aiohttp count the same requests as we do: no odd but accepted request hides another."""

import pytest

from . import others
from .conftest import Rig
from .test_request_fidelity import SAME

SENTINEL = b"GET /sentinel HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LARGE = 200_000  # rows above are about size, and slow here


@pytest.fixture(scope="module", params=others.PROGRAMS)
def server(request, tmp_path_factory):
    program = request.param
    if not others.installed(program):
        pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp(program)
    served = others.Served(program, folder)
    rig = Rig("uvloop", folder / "spool", {"/": {"url": f"http://127.0.0.1:{served.port}"}})
    yield rig
    rig.close()
    served.close()


@pytest.mark.parametrize("name", [n for n, raw in SAME.items() if len(raw) < LARGE and not n.startswith("HTTP/1.0")])
def test_one_request_stays_one_request(server, name):
    raw = SAME[name].replace(b"@HOST@", b"localhost")
    with server.connect() as sock:
        sock.sendall(raw)
        sock.sendall(SENTINEL)
        got = b""
        try:
            while data := sock.recv(65536):
                got += data
        except ConnectionResetError:
            pass
    statuses = got.count(b"HTTP/1.1 ") - got.count(b"HTTP/1.1 100 ")
    refused = got[9:12] in {b"400", b"405", b"414", b"417", b"431", b"501", b"505"} or not got  # theirs to refuse
    closing = b"close" in raw.lower().partition(b"\r\n\r\n")[0]
    assert refused or closing or (statuses == 2 and got.count(b"</sentinel>") == 1), got[-300:]
    assert statuses <= 2
    assert b"smuggled" not in got


@pytest.mark.parametrize("read", [others.by_h11, others.by_httptools])
@pytest.mark.parametrize("name", [n for n, raw in SAME.items() if len(raw) < LARGE and not n.startswith("HTTP/1.0")])
def test_a_parser_counts_the_same_or_refuses(read, name):
    raw = SAME[name].replace(b"@HOST@", b"localhost")
    found = read(raw + SENTINEL)
    whole = len(found) == 2 and found[1] == b"/sentinel"
    closing = b"connection: close" in raw.lower()
    assert whole or others.REFUSED in found or closing or b"upgrade" in raw.lower(), found
    assert b"/smuggled" not in found
