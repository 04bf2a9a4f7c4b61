"""The bytes of an answer in a golden table: JSON, text, events, lines, AWS messages, AG-UI frames, whole or coded.

A row of ``exchange_tables`` in, bytes out.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import zstandard

from .ag_ui_binary import frames
from .providers.streams import stream

Row = dict[str, Any]
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda b: gzip.compress(b, mtime=0),
    "gzip members": lambda b: gzip.compress(b[: len(b) // 2], mtime=0) + gzip.compress(b[len(b) // 2 :], mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "zstd frames": lambda b: b"".join(zstandard.compress(b[i : i + 64]) for i in range(0, len(b), 64)),
}


def answer(turn: Row) -> bytes:
    if "sse" in turn:
        body = b"".join(_event(event, turn) for event in turn["sse"])
    elif "chunks" in turn:  # a model's own events inside Bedrock's
        body = stream(*[("chunk", {"bytes": base64.b64encode(written(e)).decode(), "p": "ab"}) for e in turn["chunks"]])
    elif "proto" in turn:
        body = frames(turn["proto"])
    elif "lines" in turn:
        body = b"".join(written(line) + b"\n" for line in turn["lines"])
    elif "aws" in turn:
        body = stream(*[(name, payload) for name, payload in turn["aws"]])
    elif "utf16" in turn:
        body = json.dumps(turn["utf16"], ensure_ascii=False).encode("utf-16")
    else:
        body = turn["text"].encode() if "text" in turn else written(turn["body"]) if "body" in turn else b""
    coded = CODINGS[turn["coding"]](body) if "coding" in turn else body
    return coded[: turn["keep"]] if "keep" in turn else coded


def _event(event: Any, turn: Row) -> bytes:
    end = b"\r\n" if turn.get("crlf") else b"\n"
    name = event.get(turn["named"]) if isinstance(event, dict) and "named" in turn else None
    return (b"" if name is None else b"event: " + name.encode() + end) + b"data: " + written(event) + end + end


def written(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else json.dumps(value, ensure_ascii=False).encode()
