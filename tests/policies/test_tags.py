"""The pinned id tables of tags: well formed, unique, and honest about what they were compared with."""

import re
from datetime import date

import pytest

from classifiers.strict_yaml import load
from policies.source import RULES
from policies.tags import _DATA, TABLES, known_tag

FORMS = {"attack": r"T\d{4}(\.\d{3})?", "owasp": r"ASI\d\d"}
DOCS = {name: load((_DATA / f"{name}.yaml").read_text("utf-8"), name).value for name in TABLES}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_says_its_source_release_and_what_it_was_compared_with(name):
    doc = DOCS[name]
    assert doc["source"]
    assert re.fullmatch(r"v\d+\.\d+|\d{4}", doc["release"])
    assert date.fromisoformat(doc["compared"]["date"]) >= date(2026, 11, 30)
    assert doc["compared"]["with"]
    assert set(doc["unverified"]) <= set(doc["ids"])


@pytest.mark.parametrize("name", TABLES)
def test_ids_have_their_form_are_in_order_and_have_a_name_of_their_own(name):
    """That no id is there twice is the loader's business: a key given twice is an error."""
    ids = DOCS[name]["ids"]
    assert all(re.fullmatch(FORMS[name], i) for i in ids)
    assert list(ids) == sorted(ids)
    assert all(title and title == title.strip() for title in ids.values())
    siblings = [(i.partition(".")[0], title) for i, title in ids.items()]
    assert len(set(siblings)) == len(siblings)


def test_a_sub_technique_has_its_technique_in_the_table():
    ids = DOCS["attack"]["ids"]
    assert [i for i in ids if i.partition(".")[0] not in ids] == []


def test_no_rule_that_ships_has_a_tag_that_was_not_compared():
    """Of ATT&CK; OWASP's document itself could not be read, which its table says of every id."""
    tags = {t for f in RULES.glob("*.yaml") for t in load(f.read_text("utf-8"), f.name).value["tags"]}
    assert {known_tag(t) for t in tags} == {None}
    assert not {t.removeprefix("attack.") for t in tags} & set(DOCS["attack"]["unverified"])
