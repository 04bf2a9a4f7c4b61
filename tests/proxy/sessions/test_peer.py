"""The process behind a loopback connection is found, and what cannot be known stays None."""

import os
import socket
import sys

import pytest

from proxy.sessions.peer import PeerFinder

linux = pytest.mark.skipif(sys.platform != "linux", reason="socket tables are Linux's /proc")


@linux
def test_our_own_connection_leads_back_to_this_process():
    finder = PeerFinder()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        addr = "{}:{}".format(*client.getsockname())
        *_, found = finder.look_up(addr)
    finder.close()
    assert (found["uid"], found["pid"]) == (os.getuid(), os.getpid())
    assert found["exe"]


@linux
def test_the_answer_is_there_once_the_thread_is_done():
    finder = PeerFinder()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        addr = "{}:{}".format(*client.getsockname())
        finder.ask(addr)
        finder.close()
        assert finder.get(addr)["pid"] == os.getpid()


def test_a_remote_peer_has_an_address_and_nothing_else():
    finder = PeerFinder()
    finder.ask("192.0.2.7:4000")
    finder.close()
    assert finder.get("192.0.2.7:4000") == {"addr": "192.0.2.7:4000", "uid": None, "pid": None, "exe": None}


def test_a_peer_never_asked_for_is_unknown_not_an_error():
    finder = PeerFinder()
    finder.close()
    assert finder.get("127.0.0.1:1")["pid"] is None


def test_a_past_connection_on_the_same_port_is_not_the_caller(tmp_path):
    (tmp_path / "net").mkdir()
    row = "  {n}: 0100007F:C000 0100007F:2256 {state} 0:0 0:0 0 {uid} 0 {inode} 1"
    rows = [row.format(n=0, state="06", uid=0, inode=0), row.format(n=1, state="01", uid=1000, inode=77)]
    (tmp_path / "net" / "tcp").write_text("\n".join(["header", *rows]) + "\n")
    finder = PeerFinder(tmp_path)
    first, *_ = finder.look_up("127.0.0.1:49152")
    assert first["uid"] == 1000, "the uid is known before the process is found"
    finder.close()
