"""The vocabulary table covers what it describes."""

from dataclasses import fields

from classifiers.effects import Effect
from policies.synonyms import SYNONYMS
from policies.vocab import EFFECT_FIELDS, FIELDS, effect_properties, record_properties


def test_every_field_of_an_effect_is_a_word_of_the_vocabulary():
    assert set(EFFECT_FIELDS) == {f.name for f in fields(Effect)} - {"evidence"}


def test_every_word_says_what_it_means_and_where_it_comes_from():
    for field in FIELDS.values():
        assert field.doc.endswith("."), field.name
        assert field.source, field.name
        assert (field.type in {"enum", "enums"}) == bool(field.values), field.name


def test_record_pieces_are_json_schema():
    assert effect_properties()["domain"]["enum"][0] == "filesystem"
    assert record_properties("call")["name"]["type"] == ["string", "null"]
    assert "counts" not in record_properties("session")


def test_a_synonym_leads_to_a_word_that_exists_and_is_none_itself():
    words = {v for f in FIELDS.values() for v in f.values} | set(FIELDS) | {"stable", "experimental", "test"}
    for wrong, right in SYNONYMS.items():
        assert right in words, wrong
