"""Tree-sitter for the front ends: a parser per grammar, node text and spans in code points."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tree_sitter import Language, Parser

from classifiers.code.ir import Span

_PARSERS: dict[str, Parser] = {}


def parser_of(name: str, grammar: Any) -> Parser:
    """The parser of a grammar, made once; ``grammar`` is what the grammar's package calls its language."""
    if name not in _PARSERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # older grammar packages give their pointer as a plain number
            _PARSERS[name] = Parser(Language(grammar))
    return _PARSERS[name]


class Source:
    """A text and its tree."""

    def __init__(self, text: str, parser: Parser, moved: Callable[[int], int] | None = None) -> None:
        """``moved`` turns a position of the parsed text into one of the text it was made from."""
        self.moved = moved
        self.data = text.encode("utf-8", "surrogatepass")
        self.points: list[int] | None = None if len(self.data) == len(text) else _points(self.data)
        self.root: Any = parser.parse(self.data).root_node

    def text(self, node: Any) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def span(self, node: Any) -> Span:
        start, end = self.point(node.start_byte), self.point(node.end_byte)
        return (self.moved(start), self.moved(end)) if self.moved is not None else (start, end)

    def point(self, byte: int) -> int:
        return byte if self.points is None else self.points[byte]


def _points(data: bytes) -> list[int]:
    """The code point index of each byte offset, the end included."""
    out, seen = [], 0
    for byte in data:
        out.append(seen if byte & 0xC0 != 0x80 else seen - 1)
        seen += byte & 0xC0 != 0x80
    return [*out, seen]
