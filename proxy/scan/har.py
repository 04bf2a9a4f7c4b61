"""A HAR file's entries as the events a relay would have captured. Source: HAR 1.2 (log.entries).

In: one .har file. Out: ``SpoolEvent`` per entry. A browser's HAR holds bodies decoded: the coding headers are left out,
and what it did not keep (content without text) is a truncated body.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from proxy.exchange import Ending, Side
from proxy.scan.lines import seconds
from proxy.spool.events import BodyEnded, BodySeen, Ended, HeadSeen, Opened, SpoolEvent

_NOT_KEPT = {"content-encoding", "transfer-encoding", "content-length"}
_SECRET = {"authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie", "proxy-authorization"}


class HarError(ValueError):
    """The file is no HAR; the message says what was expected."""


def har_events(path: Path) -> Iterator[SpoolEvent]:
    try:
        entries = orjson.loads(path.read_bytes())["log"]["entries"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise HarError(f"{path}: not a HAR file; an object with log.entries was expected") from None
    for number, entry in enumerate(entries):
        yield from _entry(path.name, number, entry)


def _entry(name: str, number: int, entry: dict[str, Any]) -> Iterator[SpoolEvent]:
    writer, at = f"import:{name}", int(seconds(entry.get("startedDateTime"), 0.0) * 1e9)
    request, response = entry.get("request") or {}, entry.get("response") or {}
    url = urlsplit(str(request.get("url") or ""))
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    port = url.port or (443 if url.scheme == "https" else 80)
    sent = str((request.get("postData") or {}).get("text") or "").encode("utf-8", "surrogatepass")
    content = response.get("content") or {}
    received, kept = _content(content)
    ending = Ending.COMPLETE if kept else Ending.TRUNCATED
    yield Opened(writer, number, at, {"upstream": f"{url.hostname}:{port}", "route": "import", "wall_ns": at})
    head = _head(f"{request.get('method', 'GET')} {target} HTTP/1.1", request.get("headers"))
    yield HeadSeen(writer, number, at, Side.REQUEST, head)
    yield BodySeen(writer, number, at, Side.REQUEST, sent)
    yield BodyEnded(writer, number, at, Side.REQUEST, Ending.COMPLETE)
    yield HeadSeen(
        writer, number, at, Side.RESPONSE, _head(f"HTTP/1.1 {response.get('status', 0)} x", response.get("headers"))
    )
    yield BodySeen(writer, number, at, Side.RESPONSE, received)
    yield BodyEnded(writer, number, at, Side.RESPONSE, ending)
    yield Ended(writer, number, at, ending, len(sent), len(received))


def _content(content: dict[str, Any]) -> tuple[bytes, bool]:
    text = content.get("text")
    if not isinstance(text, str):
        return b"", not content.get("size")
    if content.get("encoding") == "base64":
        return base64.b64decode(text), True
    return text.encode("utf-8", "surrogatepass"), True


def _head(first: str, headers: Any) -> bytes:
    pairs = ((str(h.get("name")), str(h.get("value"))) for h in headers or () if isinstance(h, dict))
    kept = [(n, "-" if n.lower() in _SECRET else v) for n, v in pairs if n.lower() not in _NOT_KEPT]
    return "\r\n".join([first, *(f"{n}: {v}" for n, v in kept), "", ""]).encode("latin-1", "replace")
