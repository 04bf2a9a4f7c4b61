"""A database's connection address says which host and which database."""

import pytest

from classifiers.knowledge.addresses import database, spread

SAID = [
    ("postgres://app@db.example:5433/shop?sslmode=require", ("db.example:5433", "shop")),
    ("postgresql:///shop", ("", "shop")),
    ("mongodb+srv://kim:x@c1.example/carts?retryWrites=true", ("c1.example", "carts")),
    ("redis://:x@cache.example:6379/2", ("cache.example:6379", "2")),
    ("mysql://db.example", ("db.example", "")),
    ("host=db.example dbname=shop user=app", ("db.example", "shop")),
    ("dbname = shop", ("", "shop")),
]
NO_ADDRESS = ["shop", "https://db.example/shop", "user=app", "a=b c", "", "select 1 where host=2 or dbname"]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_an_address_names_host_and_database(text, said):
    found = database(text)
    assert found is not None
    assert (found["host"], found["database"]) == said


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_other_text_is_no_address(text):
    assert database(text) is None


def test_what_an_address_says_stands_under_every_name_of_host_and_database():
    values = {"dbname": ["postgres://db.example"], "d": ["postgres://db.example"], "c": ["select 1"]}
    spread(values)
    assert values == {"c": ["select 1"], "host": ["db.example"], "h": ["db.example"]}
