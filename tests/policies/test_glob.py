"""Globs: linear, and the same answers as the plainest possible matcher."""

import fnmatch
import random

import pytest

from policies.glob import match_segments, reach, segments, text_glob


def naive(pattern: str, text: str) -> bool:
    def rec(a, b):
        if not a:
            return not b
        if a[0] == "**":
            return any(rec(a[1:], b[k:]) for k in range(len(b) + 1))
        return bool(b) and fnmatch.fnmatchcase(b[0], a[0]) and rec(a[1:], b[1:])

    return rec(pattern.split("/"), text.split("/"))


def _pairs(count):
    r = random.Random(4)
    for _ in range(count):
        pattern = "/".join(r.choice(["a", "b", "*", "**", "a*", "*b", "?", "a*b"]) for _ in range(r.randrange(1, 6)))
        text = "/".join(r.choice(["a", "b", "ab", "abb", "c", ""]) for _ in range(r.randrange(1, 7)))
        yield pattern, text


def test_segment_globs_agree_with_a_naive_matcher():
    for pattern, text in _pairs(20_000):
        assert match_segments(segments(pattern), text.split("/")) == naive(pattern, text), (pattern, text)


def test_reaching_the_end_is_matching():
    for pattern, text in _pairs(5_000):
        parts = segments(pattern)
        assert (len(parts) in reach(parts, text.split("/"))) == naive(pattern, text), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("bash", "Bash", True),
        ("MCP__FS__*", "mcp__fs__read/file", True),
        ("mcp:github/*", "mcp:github/create_pull", True),
        ("a[b]", "a[b]", True),
        ("a[b]", "ab", False),
        ("*.acme.example", "x.y.acme.example", True),
        ("*.acme.example", "acme.example", False),
        ("", "", True),
    ],
)
def test_globs_over_names(pattern, text, matches):
    assert text_glob(pattern)(text) is matches


def test_no_pattern_can_be_made_slow():
    """A backtracking matcher would need hours here, and the suite's time limit would end it."""
    many = segments("**/a/" * 12 + "b")
    assert not match_segments(many, ["a"] * 2_000)
    assert not text_glob("*a" * 12 + "*b")("a" * 3_000)
