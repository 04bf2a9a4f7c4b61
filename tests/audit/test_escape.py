"""Hostile strings are data in every place they are shown."""

import csv as csv_module
import html.parser
import io
import sqlite3
import unicodedata
from contextlib import closing

import pytest

from audit import escape

HOSTILE = {
    "escape sequence": "a\x1b[31mred\x1b]0;title\x07",
    "c1": "a\x9b31mb\x85c",
    "newline": "one\ntwo\r\nthree",
    "separators": "a\u2028b\u2029c",
    "bidi": "user\u202egnp.exe\u2066x\u2069",
    "zero width": "ad\u200bmin\ufeff",
    "tags": "x\U000e0041y",
    "nul": "a\x00b",
    "script": "<script>alert(1)</script><img src=x onerror='x()'>",
    "attribute": "\" onmouseover=\"x() ' autofocus='",
    "markdown": "[x](javascript:y) | `code` **b** <u> &amp; http://x.example ~~s~~ ![i](u)",
    "formula": '=HYPERLINK("http://x","y")',
    "formula 2": "@SUM(1)",
    "formula 3": "-1+1|cmd",
    "quote": "it''s \"x\" \\ ' ; DROP TABLE r; --",
    "label": 'x"} 1\nmetric{a="',
    "syslog": 'x"] [evil@1 y="z\\',
    "surrogate": "a\ud800b",
}
ALL = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def controls(text):
    return [c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


@ALL
@pytest.mark.parametrize(
    "place", [escape.terminal, escape.html, escape.markdown, escape.csv, escape.prometheus, escape.syslog]
)
def test_no_control_character_gets_through(place, text):
    assert controls(place(text)) == []


@ALL
def test_html_gives_back_one_text_and_no_element(text):
    class Reader(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.tags, self.text = [], ""

        def handle_starttag(self, tag, attrs):
            self.tags.append((tag, attrs))

        def handle_data(self, data):
            self.text += data

    reader = Reader()
    reader.feed(f'<p title="{escape.html(text)}">{escape.html(text)}</p>')
    assert [(t, [k for k, _ in a]) for t, a in reader.tags] == [("p", ["title"])]
    assert reader.text == escape.terminal(text)
    assert reader.tags[0][1][0][1] == escape.terminal(text)


@ALL
def test_markdown_has_no_unescaped_markup(text):
    said = escape.markdown(text)
    plain = said.replace("\\\\", "")
    for at, char in enumerate(plain):
        if char in "`*_[]()<>|~!&":
            assert plain[at - 1] == "\\", (char, said)


@ALL
def test_csv_is_one_field_and_no_formula(text):
    rows = list(csv_module.reader(io.StringIO(escape.csv(text) + ',"next"\r\n')))
    assert len(rows) == 1
    assert rows[0][1] == "next"
    assert not rows[0][0].startswith(("=", "+", "-", "@", "\t", "\r"))


@ALL
def test_sql_is_one_literal(text):
    if "\ud800" in text:
        return
    with closing(sqlite3.connect(":memory:")) as database:
        value = database.execute(f"SELECT {escape.sql(text)}").fetchall()
    assert value == [(text.replace("\x00", ""),)]


@ALL
def test_a_prometheus_label_ends_where_it_should(text):
    said = escape.prometheus(text)
    undone = said.replace("\\\\", "\0").replace('\\"', "\1")
    assert '"' not in undone
    assert not undone.endswith("\\")
    assert "\n" not in said


@ALL
def test_a_syslog_parameter_ends_where_it_should(text):
    undone = escape.syslog(text).replace("\\\\", "\0").replace('\\"', "\1").replace("\\]", "\2")
    assert '"' not in undone
    assert "]" not in undone


def test_a_cut_is_shown():
    assert escape.terminal("abcdef", 4) == "abc…"


def test_a_block_keeps_its_lines_and_nothing_else():
    assert escape.html_block("a\r\n\tb\x1b<") == "a\n\tb\\x1b&lt;"
