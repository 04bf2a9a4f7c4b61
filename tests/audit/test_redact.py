"""Secrets leave the text, ordinary text stays, and no input makes a pattern run away."""

import hashlib

import pytest

from audit.redact import FOLDER, Redactor, TokenKeys, _matches, load_patterns, move, replace_known
from classifiers.strict_yaml import load

KEYS = TokenKeys("k1", {"k1": b"0" * 32})
ENTRIES = [e for path in sorted(FOLDER.glob("*.yaml")) for e in load(path.read_text(), path.name).value]


def named(entry):
    return entry.get("name", entry["kind"])


EXAMPLES = [pytest.param(e, x, id=f"{named(e)}-{n}") for e in ENTRIES for n, x in enumerate(e["examples"])]
CLEAN = [pytest.param(e, x, id=f"{named(e)}-{n}") for e in ENTRIES for n, x in enumerate(e["clean"])]


@pytest.mark.parametrize(("entry", "example"), EXAMPLES)
def test_each_example_loses_its_secret_and_nothing_else(entry, example):
    text, _, found = Redactor(KEYS).redact(example["text"])
    assert example["secret"] not in text
    token = found[example["secret"]]
    assert token.startswith(f"REDACTED_{entry['kind']}_k1_")
    before, _, after = example["text"].partition(example["secret"])
    assert text.startswith(before)
    assert token in text
    assert text.endswith(after) or "-H" in after


@pytest.mark.parametrize(("entry", "text"), CLEAN)
def test_each_near_miss_is_left_alone(entry, text):
    pattern = next(p for p in load_patterns() if p.name == named(entry))
    assert list(_matches(pattern, text.encode())) == []


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_each_example_has_one_of_the_cheap_fragments(entry):
    pattern = next(p for p in load_patterns() if p.name == named(entry))
    assert all(pattern.starts.search(x["text"].encode()) for x in entry["examples"])


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_each_pattern_names_its_source(entry):
    assert entry["source"]


def test_there_are_more_than_fifteen_patterns():
    assert len({p.name for p in load_patterns()}) >= 15


def test_the_same_secret_has_the_same_placeholder_wherever_it_stands():
    redact = Redactor(KEYS).redact
    forms = [
        "PASSWORD=hunter2x",
        "tool --password hunter2x",
        "mysql -u a -phunter2x b",
        "psql postgres://a:hunter2x@h/b",
    ]
    tokens = {redact(text)[2]["hunter2x"] for text in forms}
    assert len(tokens) == 1


def test_another_key_makes_another_placeholder():
    other = TokenKeys("k2", {"k2": b"1" * 32})
    first = Redactor(KEYS).redact("PASSWORD=hunter2")[0]
    second = Redactor(other).redact("PASSWORD=hunter2")[0]
    assert first != second
    assert "_k2_" in second


def test_redacting_twice_changes_nothing_more():
    redactor = Redactor(KEYS)
    once = redactor.redact("A_TOKEN=q8W2eR4t curl -H 'Authorization: Bearer zzzzyyyy' https://a:pw12@h.example")[0]
    assert redactor.redact(once)[0] == once


@pytest.mark.parametrize("shape", ["{}", "'{}'", '"{}"', "https://h/?a={}", '{{"a": "{}"}}', "SELECT '{}'"])
def test_the_placeholder_is_inert(shape):
    token = KEYS.token("aws_key", b"x")
    assert token.replace("_", "").isalnum()
    assert token in shape.format(token)


def test_positions_move_with_the_text_they_stand_in():
    text = "a PASSWORD=hunter2 && rm -rf /srv/ü"
    out, edits, _ = Redactor(KEYS).redact(text)
    start, end = text.index("rm"), len(text)
    assert out[move(start, edits) : move(end, edits, end=True)] == "rm -rf /srv/ü"
    inside = text.index("nter2")
    assert out[move(inside, edits) :].startswith("REDACTED_secret_k1_")


def test_positions_are_code_points():
    text = "ü€𝄞 TOKEN=q8W2eR4t; ls"
    out, edits, _ = Redactor(KEYS).redact(text)
    at = text.index("ls")
    assert out[move(at, edits) :] == "ls"


def test_a_secret_found_in_one_place_is_taken_out_of_the_others():
    out, edits = replace_known("sent hunter2 to hunter2", {"hunter2": "T"})
    assert out == "sent T to T"
    assert len(edits) == 2


ADVERSARIAL = {
    "one letter": lambda n: "a" * n,
    "options": lambda n: "--password " * (n // 11),
    "assignments": lambda n: "PASSWORD=" * (n // 9),
    "jwt head": lambda n: "eyJ" + "a" * (n - 3),
    "key heads": lambda n: "-----BEGIN PRIVATE KEY-----" * (n // 27),
    "urls": lambda n: "://:" * (n // 4),
    "client": lambda n: "mysql " + "-p " * (n // 3),
    "backslashes": lambda n: ("\\" * 63 + '"') * (n // 64),
    "long name": lambda n: "token" + "_.-" * (n // 3) + "=",
    "two bytes": lambda n: "é" * (n // 2) + "secret: " + "x" * 10,
}


@pytest.mark.parametrize("shape", ADVERSARIAL)
def test_text_under_the_cap_is_scanned_to_its_end(shape):
    """A pattern that backtracks would not come back within the test's time limit."""
    redactor = Redactor(KEYS, budget_s=60)
    redactor.start()
    out = redactor.redact(ADVERSARIAL[shape](200 << 10) + " TOKEN=q8W2eR4tY6")[0]
    assert "q8W2eR4tY6" not in out


@pytest.mark.parametrize("shape", ADVERSARIAL)
def test_ten_megabytes_are_replaced_whole_and_never_kept_unread(shape):
    redactor = Redactor(KEYS)
    redactor.start()
    text = ADVERSARIAL[shape](10 << 20)
    out = redactor.redact(text)[0]
    assert out.startswith("REDACTED_unscanned_k1_")
    assert out.endswith(f"_{len(text.encode())}b")


def test_after_the_time_cap_nothing_is_kept_unread():
    redactor = Redactor(KEYS, budget_s=-1)
    redactor.start()
    assert redactor.redact("ls -la")[0].startswith("REDACTED_unscanned_k1_")


def test_clean_text_costs_one_pass():
    text = hashlib.sha256(b"x").hexdigest() + " ls -la /srv\n"
    assert not Redactor(KEYS).suspects((text * 50).encode())
