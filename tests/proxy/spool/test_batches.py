"""What one poll hands over is a small part of a long capture, and an entry larger than a batch is read all the same."""

import pytest

from proxy.spool import format as fmt
from proxy.spool.events import BodySeen
from proxy.spool.follower import BATCH_BYTES
from proxy.spool.tail import SpoolTail
from proxy.spool.writer import open_section

OPENING = fmt.OPEN | fmt.HEAD | fmt.BODY
HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"


def capture(root, bodies):
    directory = root / "w"
    root.mkdir(mode=0o700)
    directory.mkdir(mode=0o700)
    (directory / "lock").touch()
    first = open_section({}) + fmt.HEAD_SECTION.pack(0, len(HEAD)) + HEAD
    entries = [fmt.entry(1, 1, 1, OPENING, first)]
    entries += [fmt.entry(1, 2 + n, 1, fmt.BODY, body) for n, body in enumerate(bodies)]
    data = fmt.SEGMENT.pack(fmt.MAGIC, fmt.VERSION, 0, 1, 1, 1) + b"".join(entries)
    (directory / "seg-0000000001").write_bytes(data)


@pytest.mark.parametrize("size", [1000, BATCH_BYTES - 40, BATCH_BYTES, 3 * BATCH_BYTES])
def test_polls_are_small_and_lose_nothing(tmp_path, size):
    count = 6 * BATCH_BYTES // size + 2
    capture(tmp_path / "spool", [bytes([n % 251]) * size for n in range(count)])
    tail, got = SpoolTail(tmp_path / "spool"), b""
    while events := tail.poll():
        piece = b"".join(e.data for e in events if isinstance(e, BodySeen))
        assert len(piece) <= max(BATCH_BYTES, 8 << 20 if size >= BATCH_BYTES - 100 else 0)
        got += piece
    tail.close()
    assert got == b"".join(bytes([n % 251]) * size for n in range(count))


def test_what_was_read_since_the_last_release_is_counted(tmp_path):
    capture(tmp_path / "spool", [b"x" * 1000] * 100)
    tail = SpoolTail(tmp_path / "spool")
    while tail.poll():
        pass
    assert tail.read_bytes > 100_000
    tail.release(tail.checkpoint())
    assert tail.read_bytes == 0
    tail.close()
