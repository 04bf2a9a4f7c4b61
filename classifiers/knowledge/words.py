"""The words of a simple command as the interpreter sees them, with the parts nobody can know marked.

An unknown part (``$DIR``, ``$(…)``, standard input) is one private-use character standing for its source text, so
option parsing works on ``--file=$X`` and a target with such a part is reported as unknown with its raw text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FIRST, LAST = "\U000f0000", "\U000ffffd"  # Supplementary Private Use Area-A


class Unknowns:
    """Hands out the marks of one run and remembers what each stands for."""

    __slots__ = ("marks", "raws")

    def __init__(self) -> None:
        self.raws: list[str] = []
        self.marks: dict[str, str] = {}

    def mark(self, raw: str) -> str:
        """The character that stands for ``raw``; the same text always gets the same one."""
        found = self.marks.get(raw)
        if found is None:
            found = chr(ord(FIRST) + min(len(self.raws), 0xFFFD))
            self.marks[raw] = found
            self.raws.append(raw)
        return found

    def reveal(self, text: str) -> str:
        """``text`` with each mark replaced by what it stands for."""
        if text.isascii():
            return text
        return "".join(self._raw(c) if FIRST <= c <= LAST else c for c in text)

    def _raw(self, char: str) -> str:
        index = ord(char) - ord(FIRST)
        return self.raws[index] if index < len(self.raws) else char


def is_known(text: str) -> bool:
    return text.isascii() or not any(FIRST <= c <= LAST for c in text)


@dataclass(frozen=True, slots=True)
class Word:
    """One field after expansion. ``span`` is where it was written; several words may share one span.

    ``tree``: it stands for the members of that folder one by one (``find d -exec gzip {}``), so a name made from it is
    one beside each member (``d/**/*.gz``).
    """

    text: str
    span: tuple[int, int] = (0, 0)
    glob: bool = False  # holds an unquoted pattern character
    propagated: bool = False  # came through a constant
    quoted: bool = False
    tree: bool = False

    def with_text(self, text: str) -> Word:
        return replace(self, text=text)

    @property
    def member(self) -> str:
        """What a name is made from."""
        return f"{self.text.rstrip('/')}/**/*" if self.tree else self.text
