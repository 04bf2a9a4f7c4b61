"""Unix sockets the data port listens on: private, replaced when nobody listens any more, never at another file's cost."""

import socket

import pytest

from proxy.supervisor.sockets import bind, close, shown


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent.sock"


def test_only_the_user_may_connect_and_the_name_goes_with_the_socket(path):
    sock = bind(f"unix:{path}", shared=False)
    assert path.stat().st_mode & 0o777 == 0o600
    assert shown(sock) == f"unix:{path}"
    close(sock)
    assert not path.exists()


def test_a_socket_nobody_listens_on_is_replaced(path):
    bind(f"unix:{path}", shared=False).close()
    assert path.exists()
    close(bind(f"unix:{path}", shared=False))


def test_a_socket_somebody_listens_on_is_refused_unless_it_is_our_orphans(path):
    first = bind(f"unix:{path}", shared=False)
    with pytest.raises(OSError, match="in use"):
        bind(f"unix:{path}", shared=False)
    second = bind(f"unix:{path}", shared=True)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        assert second.accept()[0].close() is None
    first.close()
    close(second)


def test_another_file_is_left_alone(path):
    path.write_text("mine")
    with pytest.raises(OSError, match="no socket"):
        bind(f"unix:{path}", shared=False)
    assert path.read_text() == "mine"
