"""What the relay refuses, given to five other readers: each row is one that some of them refuse, or that they read apart.

So nothing is refused for its own sake: the rows where all five agree are those of rules that are no matter of framing.
"""

import pytest

from . import others
from .test_smuggling import CASES

# refused for where it goes or what it asks for, not for how it is framed
MEANT = frozenset({
    "absolute-form", "reserved-path", "foreign-host", "connect", "http2-preface", "version", "head-too-large",
})  # fmt: skip
# all five know ``Chunked``; an upstream that does not would read another body than we follow
ALIKE = frozenset({"te odd case"})


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    made = {p: others.Served(p, tmp_path_factory.mktemp(p)) for p in others.PROGRAMS if others.installed(p)}
    yield {**{p: one.read for p, one in made.items()}, "h11": others.by_h11, "httptools": others.by_httptools}
    for one in made.values():
        one.close()


def _readings(readers, raw):
    return {name: read(raw.replace(b"@HOST@", b"localhost")) for name, read in readers.items()}


@pytest.mark.parametrize("name", [n for n, (raw, code) in CASES.items() if code not in MEANT and len(raw) < 1 << 16])
def test_a_refused_row_is_refused_by_others_too_or_read_apart(readers, name):
    found = _readings(readers, CASES[name][0])
    apart = any(others.REFUSED in one for one in found.values()) or len(set(found.values())) > 1
    assert apart != (name in ALIKE), found


def test_the_readers_read_what_is_plain_alike(readers):
    raw = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\nHost: x\r\n\r\n"
    found = _readings(readers, raw)
    assert set(found.values()) == {(b"/a", b"/b")}, found
    assert {"h11", "httptools", "aiohttp"} <= set(found)
