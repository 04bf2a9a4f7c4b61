"""What programs get as JSON, people get in words."""

import pytest

from proxy.cli._table import words

VALUES = [
    (True, "yes"),
    (False, "no"),
    (None, "none"),
    (0, "0"),
    ([], "none"),
    (["127.0.0.1:8790", "unix:/run/x"], "127.0.0.1:8790, unix:/run/x"),
    ({"supervisor": 4, "relays": [5, 6]}, "supervisor 4, relays 5, 6"),
    ({"id": "vm-w0", "error": None}, "id vm-w0, error none"),
]


@pytest.mark.parametrize(("value", "said"), VALUES)
def test_no_value_is_said_in_the_words_of_a_programming_language(value, said):
    assert words(value) == said
