"""Tree-sitter for the front ends: a parser per grammar, node text and spans in code points."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tree_sitter import Language, Parser

from classifiers.clock import spent
from classifiers.code.ir import Span

_PIECE = 1 << 16
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

    def __init__(
        self, text: str, parser: Parser, moved: Callable[[int], int] | None = None, deadline: float | None = None
    ) -> None:
        """``moved`` turns a position of the parsed text into one of the text it was made from.

        Raises TimeoutError when the grammar has not read the text by ``deadline`` (of ``classifiers.clock``).
        """
        self.moved, self.deadline, self.steps = moved, deadline, 0
        self.data = text.encode("utf-8", "surrogatepass")
        self.points: list[int] | None = None if len(self.data) == len(text) else _points(self.data)
        self.root: Any = self._parsed(parser).root_node

    def _parsed(self, parser: Parser) -> Any:
        """The grammars take seconds over some texts of a few kilobytes, so the clock is asked while they run."""
        data = self.data

        def piece(offset: int, _point: Any) -> bytes:
            return data[offset : offset + _PIECE]

        try:
            return parser.parse(piece, progress_callback=self._is_late)
        except ValueError:
            parser.reset()
            raise TimeoutError from None

    def _is_late(self, *_progress: Any) -> bool:
        return self.deadline is not None and spent() > self.deadline

    def step(self) -> None:
        """One node more. Raises TimeoutError past the deadline."""
        self.steps += 1
        if self.steps % 128 == 0 and self._is_late():
            raise TimeoutError

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
