"""Lift here-document bodies out of a script, keeping every position: text in, skeleton and bodies out.

In the skeleton each ``<<WORD`` reads ``<`` followed by a filler word of the same length, and body lines are blank, so
both parsers see a plain redirection (POSIX.1-2017 §2.7.4; bash reads to the end when the delimiter never comes).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FILLER = "_"


@dataclass(frozen=True, slots=True)
class Lifted:
    body: str
    quoted: bool  # the delimiter was quoted: nothing in the body is expanded
    span: tuple[int, int]  # of the body


_DELIMITER = re.compile(r"<<(-?)[ \t]*((?:'[^'\n]*'|\"[^\"\n]*\"|\\.|\$'[^'\n]*'|[^\s'\"\\;&|<>()`])+)")
_COMMENT_BEFORE = " \t\n;&|()"


def lift(text: str) -> tuple[str, dict[int, Lifted]]:
    """The skeleton, and each here-document by the position of its ``<<``."""
    if "<<" not in text:
        return text, {}
    out = list(text)
    found: dict[int, Lifted] = {}
    scanner = _Scanner(text)
    pending: list[tuple[int, bool, bool, str]] = []
    while scanner.at < len(text):
        event = scanner.step()
        if event == "here":
            match = _DELIMITER.match(text, scanner.at)
            if match is None:
                scanner.at += 2
                continue
            word = match.group(2)
            bare = (
                re.sub(r"\\(.)", r"\1", word)
                if "'" not in word and '"' not in word
                else re.sub(r"['\"]|\\(?=.)", "", word).lstrip("$")
            )
            pending.append((match.start(), match.group(1) == "-", bare != word, bare))
            out[match.start() : match.end()] = "<" + FILLER * (match.end() - match.start() - 1)
            scanner.at = match.end()
        elif event == "newline" and pending:
            at = scanner.at
            for i, (start, tabs, quoted, delimiter) in enumerate(pending):
                if i and text[at : at + 1] == "\n":  # the next body begins on the line after the delimiter
                    at += 1
                end, after = _find_end(text, at, delimiter, tabs=tabs)
                found[start] = Lifted(text[at:end], quoted, (at, end))
                for k in range(at, min(after, len(text))):
                    if text[k] != "\n":
                        out[k] = " "
                at = after
            pending.clear()
            scanner.at = at
    for start, _tabs, quoted, _delimiter in pending:
        found[start] = Lifted("", quoted, (len(text), len(text)))
    return "".join(out), found


def _find_end(text: str, at: int, delimiter: str, *, tabs: bool) -> tuple[int, int]:
    """Where the body ends, and where the line after the delimiter begins."""
    while at < len(text):
        newline = text.find("\n", at)
        stop = len(text) if newline < 0 else newline
        line = text[at:stop]
        closing = line.lstrip("\t") if tabs else line
        if closing == delimiter:
            return at, stop
        # a substitution closed on the delimiter's own line: EOF)
        if closing.startswith(delimiter) and closing[len(delimiter) :].lstrip()[:1] in {")", "`"} and delimiter:
            return at, at + line.index(delimiter) + len(delimiter)
        if newline < 0:
            break
        at = newline + 1
    return len(text), len(text)


class _Scanner:
    """Walks shell text, knowing quotes, substitutions, comments and arithmetic; stops at ``<<`` and at newlines."""

    __slots__ = ("at", "stack", "text")

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.stack: list[str] = []  # what must close: ) } ` " ))

    def step(self) -> str:
        text, at = self.text, self.at
        char = text[at]
        top = self.stack[-1] if self.stack else ""
        if char == "\\":
            self.at += 2
            return ""
        if char == "\n":
            self.at += 1
            return "newline"
        if top == '"':
            return self.in_double(char)
        if top in {"))", "a)"}:
            return self.in_arithmetic(char, top)
        if char == "'":
            end = text.find("'", at + 1)
            self.at = len(text) if end < 0 else end + 1
            return ""
        if char == "$" and text.startswith("$'", at):
            self.at = self.ansi_end(at + 2)
            return ""
        if char == "#" and (at == 0 or text[at - 1] in _COMMENT_BEFORE) and top != "}":
            end = text.find("\n", at)
            self.at = len(text) if end < 0 else end
            return ""
        if char == "<" and text.startswith("<<", at) and top != "}":
            if text.startswith("<<<", at):
                self.at += 3
                return ""
            return "here"
        if char == '"':
            self.push('"', 1)
        elif not self.opening(char, top):
            if top and char == top:
                self.stack.pop()
            self.at += 1
        return ""

    def in_double(self, char: str) -> str:
        if char == '"':
            self.stack.pop()
            self.at += 1
        elif not self.opening(char, '"'):
            self.at += 1
        return ""

    def in_arithmetic(self, char: str, top: str) -> str:
        if char == ")" and (top == "a)" or self.text.startswith("))", self.at)):
            self.stack.pop()
            self.at += 1 if top == "a)" else 2
        elif char == "(":
            self.push("a)", 1)
        else:
            self.at += 1
        return ""

    def opening(self, char: str, top: str) -> bool:
        text, at = self.text, self.at
        if char == "$" and text.startswith("$((", at):
            self.push("))", 3)
        elif char == "$" and text.startswith("$(", at):
            self.push(")", 2)
        elif char == "$" and text.startswith("${", at):
            self.push("}", 2)
        elif char == "`":
            if "`" in self.stack:
                while self.stack.pop() != "`":
                    pass
                self.at += 1
            else:
                self.push("`", 1)
        elif char == "(" and top != '"':
            arithmetic = text.startswith("((", at) and (at == 0 or text[at - 1] in " \t\n;&|")
            self.push("))" if arithmetic else ")", 2 if arithmetic else 1)
        else:
            return False
        return True

    def push(self, closer: str, width: int) -> None:
        self.stack.append(closer)
        self.at += width

    def ansi_end(self, at: int) -> int:
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        return at + 1
