"""One record as it lies in the log."""

from __future__ import annotations

from typing import Any

import orjson

from audit.chain import line_hash
from audit.summary import what
from proxy.review.index import Index
from proxy.review.lines import lines_of, number_of_id
from proxy.review.page import NotThereError, Page, Wanted
from proxy.review.site import Site


def load(_site: Site, index: Index, wanted: Wanted) -> dict[str, Any]:
    number = number_of_id(index, wanted.parts["id"])
    line = lines_of(index, [number]).get(number) if number is not None else None
    if line is None:
        raise NotThereError("No record of this id is in the log; it may have been removed by retention.")
    record = orjson.loads(line)
    text = orjson.dumps(record, option=orjson.OPT_INDENT_2).decode()
    return {
        "title": f"Record {record['id']}",
        "record": record,
        "what": what(record),
        "text": text,
        "hash": line_hash(line),
    }


PAGE = Page("/record/{id:[^/]+}", "record.html", load)
