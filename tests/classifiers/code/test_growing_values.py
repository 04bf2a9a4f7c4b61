"""A short program may make a text as long as the memory: such a text is unknown, it is never made."""

import pytest

from classifiers.code import classify_code
from classifiers.code.constants import MAX_LIST, MAX_TEXT
from classifiers.context import Context

RUN = "\nimport os\nos.system(x)"
DOUBLED = {
    "a wide number": f"x = '%{3 * MAX_TEXT}d' % 1",
    "a width given beside": f"x = '%*d' % ({3 * MAX_TEXT}, 1)",
    "percent": "x = 'a'\n" + "x = '%s%s' % (x, x)\n" * 20,
    "format": "x = 'a'\n" + "x = '{}{}'.format(x, x)\n" * 20,
    "join": "x = 'a'\n" + "x = x.join([x, x])\n" * 14,
    "replace": "x = 'a'\n" + "x = x.replace('a', 'aaaa')\n" * 12,
    "sum": "x = 'a'\n" + "x = x + x\n" * 20,
    "a list": "x = ['a']\n" + "x = x + x\n" * 15 + "x = ''.join(x)",
    "lists in a list written out": "x = [1]\n" + "x = [x, x]\n" * 18 + "x = '%s' % (x,)",
}


@pytest.mark.parametrize("name", DOUBLED)
def test_a_text_that_grows_past_the_cap_is_unknown(name):
    action = classify_code(DOUBLED[name] + RUN, "python", Context(max_ms=5_000))
    assert not action.complete
    assert all(len(e.target or "") <= MAX_TEXT for e in action.effects)


def test_a_text_of_a_program_s_size_is_still_put_together():
    action = classify_code("x = '%s -rf %s' % ('rm', '/srv')" + RUN, "python", Context(max_ms=5_000))
    assert [str(e).split()[:2] for e in action.effects] == [["delete", "filesystem:/srv"]]
    assert MAX_LIST > 100
