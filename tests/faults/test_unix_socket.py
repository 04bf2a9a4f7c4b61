"""A whole instance that is asked over a unix socket: forwarded, recorded, and the record says which process asked."""

import os
import socket
from pathlib import Path

import pytest

from proxy.instance import Instance
from proxy.settings import Config, SpoolSettings
from tests.ports import free_port

from .conftest import WAIT_S
from .test_instance_faults import BODY

pytestmark = pytest.mark.faults


def test_a_call_over_a_unix_socket_is_recorded_with_its_process(tmp_path, memory, upstream):
    path = tmp_path / "agent.sock"
    (tmp_path / "state").mkdir(mode=0o700)
    config = Config(
        state=str(tmp_path / "state"),
        spool=SpoolSettings(dir=str(memory)),
        listen=f"127.0.0.1:{free_port()}",
        listen_unix=(str(path),),
        control=f"127.0.0.1:{free_port()}",
        routes={"/": {"url": f"http://127.0.0.1:{upstream}"}},
    )
    with Instance.start(config) as one:
        assert path.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(WAIT_S)
            sock.connect(str(path))
            head = "POST /v1/chat/completions?n=7 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            sock.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
            assert b"call_7" in sock.recv(65536)
        assert one.stop() == 0, one.stderr.read_text()
        (action,) = [r for r in one.records() if r["kind"] == "action"]
    assert action["origin"]["peer"]["pid"] == os.getpid()
    assert action["origin"]["peer"]["uid"] == os.geteuid()
    assert not Path(path).exists()
