"""Content codings undone in any split."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard

from proxy.wire import content_coding
from proxy.wire.content_coding import ContentDecoder

from .cuts import cuts

TEXT = b'{"a":"' + "grün 北".encode() * 20 + b'"}'


def raw_deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(data) + squeeze.flush()


def zstd_frames(data: bytes) -> bytes:
    return b"".join(zstandard.compress(data[i : i + 50]) for i in range(0, len(data), 50))


def read(encoding, pieces):
    decoder = ContentDecoder(encoding)
    return b"".join(decoder.feed(p) for p in pieces), decoder.close()


CODED = {
    "identity": ("", TEXT),
    "gzip": ("gzip", gzip.compress(TEXT, mtime=0)),
    "gzip in capitals": ("GZIP", gzip.compress(TEXT, mtime=0)),
    "two gzip members": ("gzip", gzip.compress(TEXT[:40]) + gzip.compress(TEXT[40:])),
    "deflate with zlib header": ("deflate", zlib.compress(TEXT)),
    "deflate without": ("deflate", raw_deflate(TEXT)),
    "br": ("br", brotli.compress(TEXT)),
    "zstd": ("zstd", zstandard.compress(TEXT)),
    "one zstd frame per event": ("zstd", zstd_frames(TEXT)),
    "a stack": ("gzip, br", brotli.compress(gzip.compress(TEXT, mtime=0))),
}


@pytest.mark.parametrize("name", CODED)
def test_bodies_decode_however_they_are_cut(name):
    encoding, body = CODED[name]
    for pieces in cuts(body):
        assert read(encoding, pieces) == (TEXT, None)


@pytest.mark.parametrize(
    ("encoding", "body", "reason"),
    [
        ("gzip", b"plain bytes", "body is not gzip as labelled"),
        ("br", b"plain bytes, plain bytes", "body is not br as labelled"),
        ("zstd", b"plain bytes", "body is not zstd as labelled"),
        ("compress", b"x", "content-encoding compress is not known"),
        ("gzip", gzip.compress(TEXT, mtime=0)[:-9], "gzip body stopped before its end"),
        ("br", brotli.compress(TEXT)[:-3], "br body stopped before its end"),
        ("zstd", zstandard.compress(TEXT)[:-3], "zstd body stopped before its end"),
    ],
)
def test_what_cannot_be_decoded_is_a_reason(encoding, body, reason):
    assert reason in read(encoding, [body])[1]


# found by fuzzing: what libzstd says depends on how much of a frame it is given at once
DAMAGED_ZSTD = {
    "a second frame with a wrong block": zstandard.compress(b"data: {}\n\n" * 8)
    + bytes.fromhex("28b52ffd60954801000094026461")
    + b"\xf9" * 24,
    "a length that is not that of its blocks": bytes.fromhex("28b52ffd60b500000000000000000000010000"),
}


@pytest.mark.parametrize("name", DAMAGED_ZSTD)
def test_damage_is_the_same_wherever_the_body_was_cut(name):
    assert len({read("zstd", pieces) for pieces in cuts(DAMAGED_ZSTD[name])}) == 1


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zstandard.compress], ids=["gzip", "br", "zstd"])
def test_a_bomb_is_stopped_at_the_ratio_cap(pack):
    body = pack(bytes(200 << 20) if pack is not brotli.compress else bytes(30 << 20))
    name = {gzip.compress: "gzip", brotli.compress: "br", zstandard.compress: "zstd"}[pack]
    out, problem = read(name, [body[i : i + 4096] for i in range(0, len(body), 4096)])
    assert "over the cap" in problem
    assert len(out) <= max(content_coding.RATIO_FLOOR, len(body) * content_coding.RATIO_CAP)
