"""A HAR file's entries as the events a relay would have captured. Source: HAR 1.2 (log.entries).

In: one .har file. Out: ``SpoolEvent`` per entry. A browser's HAR holds bodies decoded: the coding headers are left out,
and what it did not keep (content without text) is a truncated body. A socket's messages (``_webSocketMessages``, as
Chromium and Firefox write them) are framed again.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from proxy.exchange import Ending, Side
from proxy.relay.refusals import RefusedError
from proxy.scan.lines import seconds
from proxy.scan.recording import Heads, RecordingError
from proxy.spool.events import BodyEnded, BodySeen, Ended, HeadSeen, Opened, SpoolEvent

MAX_FILE_BYTES = 1 << 30
_NOT_KEPT = {"content-encoding", "transfer-encoding", "content-length", "sec-websocket-extensions", "host"}
_SIDES = {"send": Side.REQUEST, "receive": Side.RESPONSE}
_PORTS = {"http": 80, "ws": 80}


def har_events(path: Path, name: str, problems: list[str]) -> Iterator[SpoolEvent]:
    """Raises RecordingError for a file that is no HAR; an entry that cannot be read goes to ``problems``."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise RecordingError(f"{path}: {path.stat().st_size} bytes; at most 1 GiB was expected")
    try:
        entries = orjson.loads(path.read_bytes())["log"]["entries"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        entries = None
    if not isinstance(entries, list):
        raise RecordingError(f"{path}: not a HAR file; an object with log.entries was expected")
    heads = Heads()
    for number, entry in enumerate(entries):
        try:
            events = list(_entry(f"import:{name}", number, entry, heads))
        except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RefusedError) as error:
            problems.append(f"{path}: entry {number}: {error or type(error).__name__}; a HAR 1.2 entry was expected")
        else:
            yield from events


def _entry(writer: str, number: int, entry: dict[str, Any], heads: Heads) -> Iterator[SpoolEvent]:
    at = int(seconds(entry.get("startedDateTime"), 0.0) * 1e9)
    request, response = entry.get("request") or {}, entry.get("response") or {}
    url = urlsplit(str(request.get("url") or ""))
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    port = url.port or _PORTS.get(url.scheme, 443)
    messages = entry.get("_webSocketMessages")
    sent = _posted(request.get("postData") or {})
    received, kept = _content(response.get("content") or {})
    ending = Ending.COMPLETE if kept else Ending.TRUNCATED
    status = int(response.get("status") or 0)
    first = f"{request.get('method') or 'GET'} {target} HTTP/1.1\r\nHost: {url.netloc.rpartition('@')[2] or 'unknown'}"
    _, head, prints = heads.request(_head(first, request.get("headers")))
    yield Opened(writer, number, at, {"upstream": f"{url.hostname}:{port}", "route": "import", "wall_ns": at})
    yield HeadSeen(writer, number, at, Side.REQUEST, head, prints)
    yield BodySeen(writer, number, at, Side.REQUEST, sent)
    yield BodyEnded(writer, number, at, Side.REQUEST, Ending.COMPLETE)
    if status:
        upgraded = "\r\nUpgrade: websocket" if status == 101 and messages is not None else ""
        _, head = heads.response(_head(f"HTTP/1.1 {status} x{upgraded}", response.get("headers")))
        yield HeadSeen(writer, number, at, Side.RESPONSE, head)
    else:
        ending = Ending.UPSTREAM_FAILED  # blocked, aborted, or never answered
    sizes = {Side.REQUEST: len(sent), Side.RESPONSE: len(received)}
    if status == 101 and isinstance(messages, list):
        for message in messages:
            side, data = _SIDES[str(message.get("type"))], _framed(message)
            sizes[side] += len(data)
            yield BodySeen(writer, number, int(float(message.get("time") or 0) * 1e9) or at, side, data)
    else:
        yield BodySeen(writer, number, at, Side.RESPONSE, received)
    yield BodyEnded(writer, number, at, Side.RESPONSE, ending)
    yield Ended(writer, number, at, ending, sizes[Side.REQUEST], sizes[Side.RESPONSE])


def _posted(posted: dict[str, Any]) -> bytes:
    text = str(posted.get("text") or "")
    return _decoded(text) if posted.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")


def _content(content: dict[str, Any]) -> tuple[bytes, bool]:
    text = content.get("text")
    if not isinstance(text, str):
        return b"", not content.get("size")
    return (_decoded(text) if content.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")), True


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"base64: {error}") from None


def _framed(message: dict[str, Any]) -> bytes:
    """One message as an unmasked frame (RFC 6455 §5.2): a HAR holds it unmasked and inflated, binary as base64."""
    opcode, text = int(message.get("opcode") or 1), str(message.get("data") or "")
    if not 0 < opcode < 16:
        raise ValueError(f"opcode {opcode}")
    data = _decoded(text) if opcode == 2 else text.encode("utf-8", "surrogatepass")
    size = len(data)
    length = bytes([size]) if size < 126 else struct.pack(">BH", 126, size) if size < 65536 else None
    return bytes([0x80 | opcode]) + (length or struct.pack(">BQ", 127, size)) + data


def _head(first: str, headers: Any) -> bytes:
    """A head of HTTP/1.1, whatever version it came in: HTTP/2's pseudo headers are the request line."""
    pairs = ((str(h.get("name")), str(h.get("value"))) for h in headers or () if isinstance(h, dict))
    kept = [(n, v) for n, v in pairs if n.lower() not in _NOT_KEPT and not n.startswith(":")]
    lines = [" ".join(f"{n}: {v}".split()) for n, v in kept]  # values some tools wrap
    return "\r\n".join([first, *lines, "", ""]).encode("latin-1", "replace")
