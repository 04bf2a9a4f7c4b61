"""Filters of templates: an answer for every text, also for an address the library for URLs refuses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from classifiers.knowledge.templates import FILTERS
from classifiers.shell import classify_shell

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
