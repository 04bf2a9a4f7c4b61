"""Which members a find expression leaves for an action: its words one by one in, a pattern for each kind of member out.

``-a`` binds before ``-o``, parentheses group (find(1), OPERATORS): an action works on what the tests before it, in the
same alternative, let through.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Test = tuple[str, str] | None  # (``-name`` or ``-path``, its pattern); None: any member
ANY: list[Test] = [None]
_MAX = 12


@dataclass(slots=True)
class _Level:
    negated: bool = False
    before: list[Test] = field(default_factory=list)  # of the alternatives that are over
    now: list[Test] | None = None  # None: no name was asked for yet


class Names:
    """The tests read so far."""

    def __init__(self) -> None:
        self.levels = [_Level()]

    def test(self, option: str, pattern: str, *, negated: bool) -> None:
        """``-name x``: of several the last says most; what a name is not leaves any other."""
        if not negated:
            self.levels[-1].now = [(option, pattern)]

    def open(self, *, negated: bool) -> None:
        self.levels.append(_Level(negated))

    def close(self) -> None:
        """``)``: the group is one test, of as many patterns as it has alternatives."""
        if len(self.levels) == 1:
            return
        level = self.levels.pop()
        if not level.negated and (level.now is not None or level.before):
            found = dict.fromkeys([*level.before, *(level.now or ANY)])
            self.levels[-1].now = list(found)[:_MAX] if len(found) <= _MAX else ANY

    def alternative(self) -> None:
        level = self.levels[-1]
        level.before += level.now or ANY
        level.now = None

    def left(self) -> list[Test]:
        """What an action here works on."""
        return next((level.now for level in reversed(self.levels) if level.now is not None), ANY)


def members(start: str, test: Test) -> str:
    """The members below one starting point, as a path or a pattern."""
    base = start.rstrip("/")
    if test is None:
        return start or "/"
    option, pattern = test
    if option == "-name":
        return f"{base}/**/{pattern}"
    if pattern.startswith(f"{base}/"):  # find prints, and compares, paths that begin as it was told to
        return pattern
    return f"{base}/**/{pattern[2:]}" if pattern.startswith("*/") else (start or "/")
