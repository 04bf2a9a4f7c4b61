"""A makefile's text and the goals asked for in, the lines their recipes run out (GNU make 4.4 manual).

Only what is written out is followed: explicit rules, ``%`` rules, variables and ``$(shell …)``. Where conditionals,
``define`` or ``include`` decide, nobody can say from the text alone: ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_MAX_GOALS = 100
_UNDECIDED = re.compile(
    r"^\s*(?:ifn?eq|ifn?def|-?include|sinclude|define|load)\b|\$[({](?:eval|call|foreach)\b", re.MULTILINE
)
_VARIABLE = re.compile(r"(?:export\s+|override\s+)?([\w.-]+)\s*(?:[:?+!]|::)?=\s*(.*)")
_RULE = re.compile(r"([^:=\t#][^:=]*?)\s*::?(?!=)\s*([^;|]*)[^;]*(?:;(.*))?")
_AS_IT_IS_READ = re.compile(r"\$[({]shell\s+([^()]*(?:\([^()]*\)[^()]*)*)[)}]|^[\w.-]+\s*!=\s*(.+)", re.MULTILINE)
_REFERENCE = re.compile(r"\$(?:\$|[({]([\w.-]+)[)}]|[({][^(){}]*[)}]|([@<^*?+%|]))")
_USUAL = {"CC": "cc", "CXX": "c++", "RM": "rm -f", "AR": "ar", "MAKE": "make", "SHELL": "/bin/sh", "LD": "ld"}
_FUNCTION = "${MAKE_FUNCTION}"  # what a text function makes of its words: for the shell a variable nobody set


@dataclass(slots=True)
class _Rule:
    needs: str
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Makefile:
    values: dict[str, str] = field(default_factory=dict)
    rules: dict[str, _Rule] = field(default_factory=dict)
    first: str = ""
    done: set[str] = field(default_factory=set)

    def run(self, goal: str) -> Iterator[str]:
        """The lines that make ``goal``, after those that make what it needs."""
        name, stem = self._rule_for(goal)
        if goal in self.done or name is None or len(self.done) > _MAX_GOALS:
            return
        self.done.add(goal)
        rule = self.rules[name]
        needs = self.expanded(rule.needs, goal, ()).replace("%", stem).split()
        for need in needs:
            yield from self.run(need)
        for line in rule.lines:
            yield self.expanded(line, goal, needs).lstrip("@-+ \t")

    def _rule_for(self, goal: str) -> tuple[str | None, str]:
        if goal in self.rules:
            return goal, ""
        for name in self.rules:
            head, mark, tail = name.partition("%")
            if mark and goal.startswith(head) and goal.endswith(tail) and len(goal) >= len(head) + len(tail):
                return name, goal[len(head) : len(goal) - len(tail)]
        return None, ""

    def expanded(self, text: str, goal: str, needs: Sequence[str], depth: int = 0) -> str:
        automatic = {"@": goal, "<": needs[0] if needs else "", "^": " ".join(needs), "+": " ".join(needs)}

        def value(match: re.Match[str]) -> str:
            if match[0] == "$$":
                return "$"
            if match[2]:
                return automatic.get(match[2], _FUNCTION)
            if match[1] is None:
                return _FUNCTION
            known = self.values.get(match[1], _USUAL.get(match[1]))
            if known is None:
                return "${" + match[1] + "}" if match[1].isidentifier() else ""
            return self.expanded(known, goal, needs, depth + 1) if depth < 5 else known

        return _REFERENCE.sub(value, text)


def recipe_lines(text: str, goals: Sequence[str], given: Mapping[str, str]) -> list[str] | None:
    """``goals``: none is the first rule's target. ``given``: variables set on the command line."""
    if _UNDECIDED.search(text):
        return None
    made = _read(text.replace("\\\n", " "))
    made.values.update(given)
    lines = [first or second for first, second in _AS_IT_IS_READ.findall(text)]
    for goal in goals or [made.first]:
        lines += made.run(goal)
    return [line for line in lines if line.strip()]


def _read(text: str) -> _Makefile:
    made, current = _Makefile(), list[_Rule]()
    for line in text.split("\n"):
        if line.startswith("\t"):
            for rule in current:
                rule.lines.append(line)
        elif match := _VARIABLE.fullmatch(line):
            made.values[match[1]] = match[2].partition(" #")[0].strip()
        elif match := _RULE.fullmatch(line):
            current = []
            for name in made.expanded(match[1], "", ()).split():
                rule = made.rules.setdefault(name, _Rule(""))
                rule.needs = f"{rule.needs} {match[2]}"
                rule.lines += [match[3]] if match[3] else []
                current.append(rule)
                made.first = made.first or ("" if name.startswith(".") or "%" in name else name)
    return made
