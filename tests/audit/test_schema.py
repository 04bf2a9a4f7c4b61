"""Each record fits the schema, the schema refuses what is no record, and docs/record.md shows both as they are."""

import json
import re

import jsonschema
import pytest

from audit.privacy import Guard, parse_rules
from audit.read import records
from audit.redact import TokenKeys
from audit.schema import KINDS, record_schema, table
from tests.audit.build import every_kind, open_log
from tests.audit.make_record_doc import DOC, tables

KEYS = TokenKeys("k1", {"k1": b"0" * 32})
VALIDATOR = jsonschema.Draft202012Validator(record_schema())


def errors(record):
    """Of the branch of the record's own kind."""
    branch = next(b for b in record_schema()["oneOf"] if b["title"] == record["kind"])
    return [f"{list(e.path)}: {e.message}" for e in jsonschema.Draft202012Validator(branch).iter_errors(record)]


@pytest.mark.parametrize("mode", ["none", "metadata", "redacted", "sealed", "full"])
def test_every_written_record_fits_in_every_mode(tmp_path, mode):
    guard = Guard(KEYS, rules=parse_rules([{"mode": mode}]))
    with open_log(tmp_path, guard=guard) as log:
        for record in every_kind():
            log.append(record)
        log.rotate()
    found = list(records(tmp_path))
    assert {r["kind"] for r in found} == set(KINDS)
    assert {r["id"]: errors(r) for r in found if errors(r)} == {}
    assert all(VALIDATOR.is_valid(r) for r in found)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.update(kind="happened"),
        lambda r: r.update(extra_field=1),
        lambda r: r.pop("prev"),
        lambda r: r["call"].update(executed_by="somebody"),
        lambda r: r["classification"]["effects"][0].update(domain="nowhere"),
        lambda r: r["classification"]["effects"][0].pop("target"),
        lambda r: r.update(seq="1"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path, change):
    with open_log(tmp_path) as log:
        log.append(every_kind()[0])
    record = next(r for r in records(tmp_path) if r["kind"] == "action")
    assert VALIDATOR.is_valid(record)
    change(record)
    assert not VALIDATOR.is_valid(record)


def test_every_row_has_a_type_and_a_meaning():
    assert [(k, row) for k in KINDS for row in table(k) if not all(row)] == []


def test_the_page_has_the_tables_as_they_are():
    text = DOC.read_text(encoding="utf-8")
    for section in re.split(r"(?=^## )", tables(), flags=re.MULTILINE):
        assert section.rstrip() in text, "run: python -m tests.audit.make_record_doc"


def test_the_page_has_a_real_example_of_each_kind():
    shown = [json.loads(x) for x in re.findall(r"```json\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)]
    assert {r["kind"] for r in shown} == set(KINDS)
    assert [errors(r) for r in shown if errors(r)] == []
