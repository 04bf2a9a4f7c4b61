"""Filters of templates: an answer for every text, also for an address the library for URLs refuses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from classifiers.knowledge.compile import compile_file
from classifiers.knowledge.templates import FILTERS, fill
from classifiers.shell import classify_shell
from classifiers.strict_yaml import StrictYamlError

PIECES = st.text() | st.text(alphabet="ab/:@[].=,#%?\u2100 ").map("http://{}".format)


@given(PIECES)
@example("http://[bad]/x")
@example("https://a\u2100b/c")
@example("https://host:port/x")
def test_every_filter_answers_every_text(text):
    for name, filtered in FILTERS.items():
        assert isinstance(filtered(text), str), name


@pytest.mark.parametrize("fetch", ["wget http://[bad]/x", "git clone https://[x/y.git", "curl -O 'http://[::1/x'"])
def test_an_address_nobody_can_read_hides_nothing_beside_it(fetch):
    deleted = [e.target for e in classify_shell(f"{fetch}; rm -r build").effects if e.action.value == "delete"]
    assert deleted == ["build"]


@pytest.mark.parametrize(
    ("template", "current", "targets"),
    [
        ("{!after_eq!host}", "url=https://kim@a.example:8080/x", ["a.example:8080"]),
        ("{!commas!after_eq}", "a=one,b=two", ["one", "two"]),
        ("{!after_at!before_colon}", "a@b:c", ["b"]),
    ],
)
def test_a_part_of_a_part_is_taken_filter_by_filter(template, current, targets):
    assert fill(template, current, {}) == targets


def test_each_filter_of_a_part_has_to_be_known():
    text = (
        'family: f\nsource: s\ncommands:\n  "a": {effects: ["read filesystem:{x!host!hots}"], operands: [{role: x}]}\n'
    )
    with pytest.raises(StrictYamlError, match="'hots' is no filter"):
        compile_file(text, "a.yaml")
