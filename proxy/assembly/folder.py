"""A case folder to exchanges: ``meta.json``, ``response.body``, maybe ``request.json`` or ``requests.jsonl`` in; each
exchange with the bytes of its reply out.

``requests.jsonl`` holds several requests of one session, one object a line as in ``request.json``; a line may carry
its own ``response`` {status, content_type, body}; the folder's ``response.body`` answers the last one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from proxy.assembly.choose import providers
from proxy.exchange import Exchange, Head
from proxy.wire.json_text import dump

_HOP = frozenset({"content-encoding", "content-length", "transfer-encoding"})


_ENVELOPE = frozenset({"method", "path", "headers", "body"})  # else the line is the body itself


class BadCaseError(Exception):
    """The folder is not a case; the message says what is missing or wrong."""


def exchanges(folder: Path, meta: dict[str, Any], declared: str | None) -> Iterator[tuple[Exchange, bytes]]:
    requests = _requests(folder)
    for at, request in enumerate(requests):
        own = request.get("response")
        reply: dict[str, Any] = own if isinstance(own, dict) else meta if at == len(requests) - 1 else {}
        body = reply.get("body", b"") if reply is not meta else _body(folder, needed=True)
        head = _response_head(reply)
        endpoint = str(meta.get("endpoint") or "")
        path = str(request.get("path") or (endpoint if endpoint.startswith("/") else ""))
        yield (
            Exchange(
                id=f"{folder.name}:{at}",
                request=Head(
                    method=str(request.get("method") or "POST"),
                    target=path + _query(request.get("query")),
                    headers=_headers(request.get("headers")),
                ),
                response=head,
                upstream=str(meta.get("provider_host") or ""),
                request_json=request.get("body"),
                declared_api=declared if isinstance(declared, str) and known_api(declared) else None,
            ),
            body if isinstance(body, bytes) else raw_body(body),
        )


def _requests(folder: Path) -> list[dict[str, Any]]:
    several, single = folder / "requests.jsonl", folder / "request.json"
    if several.is_file():
        lines = enumerate(several.read_text("utf-8").split("\n"), start=1)
        return [_line(several, number, line) for number, line in lines if line.strip()] or [{}]
    return [json_object(single)] if single.is_file() else [{}]


def _line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise BadCaseError(f"{path}:{number}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadCaseError(f"{path}:{number}: a {type(value).__name__}; expected an object")
    return value if value.keys() & _ENVELOPE else {"body": value}


def _response_head(reply: dict[str, Any]) -> Head:
    headers = dict(_headers(reply.get("response_headers") or reply.get("headers")))
    kept = {k: v for k, v in headers.items() if k not in _HOP}
    if reply.get("content_type"):
        kept["content-type"] = str(reply["content_type"])
    status = reply.get("status", 200)
    return Head(status=status if isinstance(status, int) else 200, headers=tuple(kept.items()))


def _headers(values: Any) -> tuple[tuple[str, str], ...]:
    pairs = values.items() if isinstance(values, dict) else values if isinstance(values, list) else ()
    return tuple((str(k).lower(), str(v)) for k, v in pairs)


def _query(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [(k, v) for k, values in value.items() for v in (values if isinstance(values, list) else [values])]
        return "?" + urlencode(pairs) if pairs else ""
    return "?" + value.removeprefix("?") if isinstance(value, str) and value else ""


def _body(folder: Path, *, needed: bool) -> bytes:
    path = folder / "response.body"
    if not path.is_file():
        if needed:
            raise BadCaseError(f"{path}: no such file; a case folder needs response.body and meta.json")
        return b""
    return path.read_bytes()


def raw_body(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else dump(body)


def json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadCaseError(f"{path}: no such file; a case folder needs response.body and meta.json") from None
    except ValueError as error:
        raise BadCaseError(f"{path}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadCaseError(f"{path}: a {type(value).__name__}; expected an object")
    return value


def known_api(api: str) -> bool:
    return any(p.name == api for p in providers())
