"""JSON bodies and lines in any split, and what JSON text may do to a reader."""

from __future__ import annotations

import pytest

from proxy.exchange import Side
from proxy.wire.json_body import JsonDecoder
from proxy.wire.json_text import duplicate_keys, parse
from proxy.wire.ndjson import LineDecoder

from .cuts import cuts


def read(decoder, pieces, clean=True):
    frames = [f for p in pieces for f in decoder.feed(p)] + decoder.close(clean=clean)
    return [(f.data, f.whole, f.error) for f in frames]


def test_one_object_is_one_whole_frame():
    body = '{"a": ["北", {"b": "}]\\"["}], "n": 18446744073709551999}'.encode()
    for pieces in cuts(body):
        value = {"a": ["北", {"b": '}]"['}], "n": 18446744073709551999}
        assert read(JsonDecoder(Side.RESPONSE), pieces) == [(value, True, None)]


def test_array_elements_come_as_they_close():
    body = b' [ {"a":"x]\\"},"}\r\n,\n{"b":[1,{"c":2}]}, 7 , "s" ]\n'
    expected = [
        ({"a": 'x]"},'}, False, None),
        ({"b": [1, {"c": 2}]}, False, None),
        (7, False, None),
        ("s", False, None),
    ]
    for pieces in cuts(body):
        assert read(JsonDecoder(Side.RESPONSE), pieces) == expected
    decoder = JsonDecoder(Side.RESPONSE)
    assert [f.data for f in decoder.feed(b'[{"a":1}')] == [{"a": 1}]


def test_a_request_array_stays_one_value():
    assert read(JsonDecoder(Side.REQUEST, elements=False), [b'[{"a":1},{"b":2}]'])[0][0] == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("body", "clean", "reason"),
    [
        (b'{"a":', False, "cut off"),
        (b'{"a":', True, "JSON:"),
        (b'[{"a":1},{"b"', False, "before its end"),
        (b'{"a":NaN}', True, "NaN"),
    ],
)
def test_what_is_not_json_is_a_reason(body, clean, reason):
    assert reason in read(JsonDecoder(Side.RESPONSE), [body], clean)[-1][2]


def test_utf_16_and_labelled_charsets_are_read():
    assert read(JsonDecoder(Side.RESPONSE), ['{"a":"ü"}'.encode("utf-16")])[0][0] == {"a": "ü"}
    assert read(JsonDecoder(Side.RESPONSE, "iso-8859-1"), ['{"a":"ü"}'.encode("latin-1")])[0][0] == {"a": "ü"}


def test_lines_come_as_they_end():
    body = '{"a":"北"}\r\n\n{"b":1}\n{"c":2}'.encode()
    for pieces in cuts(body):
        assert [d for d, _, _ in read(LineDecoder(Side.RESPONSE), pieces)] == [{"a": "北"}, {"b": 1}, {"c": 2}]
    assert read(LineDecoder(Side.RESPONSE), [b'{"a":1}\n{"b'], clean=False)[1][2] == "line cut off"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740993", 9007199254740993),
        ('{"n":123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ("-18446744073709551616", -18446744073709551616),
        ('"\\ud800"', "\ud800"),
    ],
)
def test_values_are_kept_exactly(text, value):
    assert parse(text) == (value, None)


@pytest.mark.parametrize("text", ["[" * 201 + "]" * 201, "[" * 5000 + "]" * 5000, '{"a":' * 300 + "1" + "}" * 300])
def test_nesting_is_capped(text):
    assert parse(text) == (None, "nested deeper than 200")


def test_two_hundred_levels_are_fine():
    assert parse("[" * 200 + "]" * 200)[1] is None


def test_duplicate_keys_are_named():
    assert duplicate_keys('{"a":1,"b":{"c":1,"c":2},"a":2}') == ("c", "a")


def test_bytes_that_are_not_utf_8_become_replacement_characters_as_in_clients():
    assert read(JsonDecoder(Side.RESPONSE), [b'{"a":"x\xff\xc3"}'])[0] == ({"a": "x\ufffd\ufffd"}, True, None)
