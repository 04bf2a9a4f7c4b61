"""Writes docs/record.md: ``python -m tests.audit.make_record_doc``. The tables come from ``audit/schema.py``, the
examples from a real log with a told clock and the default privacy guard.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import orjson

from audit.privacy import Guard
from audit.read import records
from audit.redact import TokenKeys
from audit.schema import KINDS, envelope, table
from tests.audit.build import ToldClock, every_kind, open_log

DOC = Path(__file__).parents[2] / "docs" / "record.md"
_HEAD = """# The audit record

One line of JSON per record, in files `<state>/audit/<log>.<number>.jsonl`. This page is made by
`python -m tests.audit.make_record_doc`; `onlooker`'s JSON Schema is `audit.schema.record_schema()`.

A call is a **request**: `action` says what was requested and what it could do, `outcome` what was reported back, by whom.
Nothing here says that an effect occurred. What was missed has kinds of its own (`gap`, `unread`, `opaque_flow`,
`analysis_failed`), so no data never looks like a pass.

Strings come from the other side of a wire. Every output escapes them for its place (`audit/escape.py`): terminal and
`tail` (`terminal`), the report (`html`), tables in Markdown (`markdown`), CSV (`csv`), SQL literals (`sql`), Prometheus
labels (`prometheus`), syslog structured data (`syslog`). Treat them as data when you show them to a model.
"""


def examples() -> dict[str, dict]:
    """One real record of each kind."""
    clock = ToldClock()
    found: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        with open_log(Path(folder), guard=Guard(TokenKeys("k1", {"k1": b"0" * 32})), clock=clock) as log:
            for record in every_kind():
                clock.pass_s(1)
                log.append(record)
        for record in records(Path(folder)):
            found.setdefault(record["kind"], record)
    return found


def tables() -> str:
    parts = ["## Every record\n\n" + _rows(envelope())]
    for kind, (meaning, _) in KINDS.items():
        parts.append(f"## {kind}\n\n{meaning}\n\n{_rows(table(kind))}")
    return "\n".join(parts)


def _rows(rows) -> str:
    lines = "".join(f"| `{path}` | {kind} | {meaning.replace('|', chr(92) + '|')} |\n" for path, kind, meaning in rows)
    return f"| field | type | meaning |\n|---|---|---|\n{lines}"


def page() -> str:
    text = _HEAD + "\n" + tables()
    for kind, record in examples().items():
        shown = orjson.dumps(_anonymous(record), option=orjson.OPT_INDENT_2).decode()
        at = re.search(rf"^## {kind}\n(?:(?!^## ).*\n?)*", text, re.MULTILINE).end()
        text = f"{text[:at].rstrip()}\n\n```json\n{shown}\n```\n\n{text[at:]}"
    return text.rstrip() + "\n"


def _anonymous(record: dict) -> dict:
    """The machine's own names replaced, so the page is the same everywhere."""
    text = json.dumps(record)
    log_id = record["log_id"]
    return json.loads(
        text.replace(log_id, "node1-7f3a2c-w0").replace(record["boot_id"], "00000000-0000-4000-8000-000000000000")
    )


if __name__ == "__main__":
    DOC.write_text(page(), encoding="utf-8")
