"""The actions that were asked for, as a file: CSV for a spreadsheet, JSONL as the log has them.

In: the same query as the list. Out: a download, made while it is read. CSV fields are quoted and never a formula
(``audit/escape.py``); JSONL lines are the log's own bytes, so their hashes can be checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from aiohttp import web

from audit.escape import csv
from proxy.review.asked import Asked, asked
from proxy.review.index import Index
from proxy.review.lines import lines_of
from proxy.review.search import each
from proxy.review.site import Site

_Row = TypeVar("_Row")
MAX_ROWS = 100_000
COLUMNS = (
    *("id", "ts", "severity", "effect", "reversibility", "verdict", "why", "rules", "tool", "agent", "session", "turn"),
    *("state", "outcome", "marked"),
)
CHUNK = 500


def routes(site: Site) -> list[web.RouteDef]:
    def download(kind: str, make: Callable[[Index, Asked], Iterator[bytes]], content_type: str) -> web.RouteDef:
        async def send(request: web.Request) -> web.StreamResponse:
            index = await site.fresh()
            name = f'attachment; filename="onlooker-actions.{kind}"'
            answer = web.StreamResponse(headers={"Content-Type": content_type, "Content-Disposition": name})
            await answer.prepare(request)
            chunks = make(index, asked(request.query.items()))
            while (chunk := await asyncio.to_thread(next, chunks, b"")) != b"":
                await answer.write(chunk)
            await answer.write_eof()
            return answer

        return web.get(f"/actions.{kind}", send)

    return [
        download("csv", csv_of, "text/csv; charset=utf-8"),
        download("jsonl", jsonl_of, "application/x-ndjson; charset=utf-8"),
    ]


def csv_of(index: Index, question: Asked) -> Iterator[bytes]:
    yield (",".join(csv(c) for c in COLUMNS) + "\r\n").encode()
    rows = ([r[c] for c in COLUMNS] for r in each(index, question, MAX_ROWS))
    for chunk in _chunks(rows):
        lines = (",".join(csv("" if v is None else v) for v in row) + "\r\n" for row in chunk)
        yield "".join(lines).encode("utf-8", "backslashreplace")


def jsonl_of(index: Index, question: Asked) -> Iterator[bytes]:
    for chunk in _chunks(r["n"] for r in each(index, question, MAX_ROWS)):
        lines = lines_of(index, chunk)
        yield b"".join(lines[n] + b"\n" for n in chunk if n in lines) or b"\n"


def _chunks(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    rest = iter(rows)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
