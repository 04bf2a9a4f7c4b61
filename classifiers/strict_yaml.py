"""Read YAML strictly: the one loader of every file people write (policies, objectives, knowledge, configuration).

In: text and the name to show in messages. Out: ``Mapped``: plain values, and the line and column of each node by path.

Strict means: one document; keys are strings as written (``-1:``, ``on:``, ``yes:`` stay text) and never repeat; no
merge keys, no tags, no cycles; plain scalars follow YAML 1.2's core schema (§10.3) minus octal and hex, so ``no``,
``010``, ``12:30`` and dates stay strings; only ``true``, ``false``, ``null`` and ordinary decimal numbers do not.
Every alias is expanded, counted against ``MAX_NODES``. libyaml itself stops at 1,000 levels; we stop at ``MAX_DEPTH``.

    doc = load(path.read_text(), "policy.yaml")
    doc.value["rules"][0]["id"]
    doc.at("rules", 0, "id")        # "policy.yaml:7:9", the value; doc.at_key(…) is the key itself
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

MAX_BYTES = 8 << 20
MAX_NODES = 2_000_000
MAX_DEPTH = 60

Path = tuple[str | int, ...]
Mark = tuple[int, int]  # line and column, both from 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake and where it is. ``str()`` gives ``file:line:col: what``."""

    name: str
    line: int
    col: int
    what: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.col}: {self.what}"


class StrictYamlError(ValueError):
    """The user's file is wrong. ``problems`` holds every mistake found in this run, in file order, never empty."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.col)))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True, slots=True)
class Mapped:
    """Plain values (dict, list, str, int, float, bool, None) with positions looked up by path."""

    value: Any
    name: str
    marks: dict[Path, Mark] = field(default_factory=dict)
    key_marks: dict[Path, Mark] = field(default_factory=dict)

    def mark(self, *path: str | int) -> Mark:
        """Line and column of the value at ``path``; of the nearest enclosing node when there is none."""
        return _nearest(self.marks, path)

    def key_mark(self, *path: str | int) -> Mark:
        """Line and column of the key that ends ``path`` (a list item has no key: the item itself)."""
        return self.key_marks.get(path) or _nearest(self.marks, path)

    def at(self, *path: str | int) -> str:
        """``file:line:col`` of the value at ``path``."""
        line, col = self.mark(*path)
        return f"{self.name}:{line}:{col}"

    def at_key(self, *path: str | int) -> str:
        line, col = self.key_mark(*path)
        return f"{self.name}:{line}:{col}"

    def problem(self, what: str, *path: str | int, key: bool = False) -> Problem:
        """A mistake at ``path`` (its key when ``key``), ready to be collected or raised in StrictYamlError."""
        line, col = self.key_mark(*path) if key else self.mark(*path)
        return Problem(self.name, line, col, what)


def load(text: str, name: str, *, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES) -> Mapped:
    """Parse one document. Raises StrictYamlError, with every duplicate key, merge key and tag of the file at once."""
    if len(text) > max_bytes:
        raise StrictYamlError([Problem(name, 1, 1, f"the file is over {max_bytes} characters; split it")])
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, col = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        what = " ".join(p for p in (error.context, error.problem) if p)
        raise StrictYamlError([Problem(name, line, col, f"not YAML: {what}")]) from None
    except (yaml.YAMLError, UnicodeError) as error:  # a character YAML does not allow
        line = text.count("\n", 0, getattr(error, "position", 0) or 0) + 1
        raise StrictYamlError([Problem(name, line, 1, f"not YAML: {str(error).splitlines()[0]}")]) from None
    if root is None:
        return Mapped(None, name, {(): (1, 1)})
    reader = _Reader(name, max_nodes)
    value = reader.read(root, ())
    if reader.problems:
        raise StrictYamlError(reader.problems)
    return Mapped(value, name, reader.marks, reader.key_marks)


class _Reader:
    """Nodes to values, remembering marks and collecting problems."""

    def __init__(self, name: str, max_nodes: int) -> None:
        self.name, self.left = name, max_nodes
        self.marks: dict[Path, Mark] = {}
        self.key_marks: dict[Path, Mark] = {}
        self.problems: list[Problem] = []
        self.open: set[int] = set()

    def read(self, node: yaml.Node, path: Path) -> Any:
        start = node.start_mark
        self.marks[path] = (start.line + 1, start.column + 1)
        self.left -= 1
        if node.tag not in _TAGS:
            self.wrong(node, f"tag {_short(node.tag)} is not read; write the plain value")
            return None
        if isinstance(node, yaml.ScalarNode):
            return _plain(node.value) if not node.style and node.tag != _STR else node.value
        if self.left < 0 or len(path) > MAX_DEPTH or id(node) in self.open:
            self.stop(node)
        self.open.add(id(node))
        value = self.mapping(node, path) if isinstance(node, yaml.MappingNode) else self.sequence(node, path)
        self.open.discard(id(node))
        return value

    def sequence(self, node: yaml.Node, path: Path) -> list[Any]:
        return [self.read(child, (*path, i)) for i, child in enumerate(node.value)]

    def mapping(self, node: yaml.Node, path: Path) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.wrong(key, "a key is a plain word, not a list or mapping")
                continue
            name = key.value
            here = (*path, name)
            if name == "<<" and not key.style:
                self.wrong(key, "merge keys (<<) are not read; write the keys out")
            elif name in out:
                line, col = self.key_marks[here]
                self.wrong(key, f"duplicate key '{name}'; the first is at {line}:{col}")
            else:
                mark = key.start_mark
                self.key_marks[here] = (mark.line + 1, mark.column + 1)
                out[name] = self.read(child, here)
        return out

    def wrong(self, node: yaml.Node, what: str) -> None:
        self.problems.append(Problem(self.name, node.start_mark.line + 1, node.start_mark.column + 1, what))

    def stop(self, node: yaml.Node) -> None:
        """Give up on the file: what comes next would not end."""
        if id(node) in self.open:
            what = "an alias points into itself"
        elif self.left < 0:
            what = "the file has too many nodes once its aliases are expanded"
        else:
            what = f"nested deeper than {MAX_DEPTH} levels"
        self.wrong(node, what)
        raise StrictYamlError(self.problems)


def _nearest(marks: dict[Path, Mark], path: Path) -> Mark:
    for end in range(len(path), -1, -1):
        if path[:end] in marks:
            return marks[path[:end]]
    return (1, 1)


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


# C loader when PyYAML was built with libyaml (its wheels are), else the same grammar in Python.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STR = "tag:yaml.org,2002:str"
_TAGS = {
    f"tag:yaml.org,2002:{t}"
    for t in ("str", "int", "float", "bool", "null", "timestamp", "value", "merge", "seq", "map")
}
_PLAIN: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"-?(?:0|[1-9][0-9]{0,18})"), int),
    (re.compile(r"-?(?:0|[1-9][0-9]{0,18})\.[0-9]{1,30}(?:[eE][-+]?[0-9]{1,3})?"), float),
)
_WORDS: dict[str, Literal[True, False] | None] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "True": True,
    "false": False,
    "False": False,
}


def _plain(text: str) -> Any:
    """A plain scalar's value by the core schema's short list."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "-0123456789":
        for pattern, make in _PLAIN:
            if pattern.fullmatch(text):
                return make(text)
    return text
