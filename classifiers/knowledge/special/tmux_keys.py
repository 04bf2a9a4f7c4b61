"""tmux send-keys: what is typed into another pane's shell is a command there (tmux(1) send-keys)."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Reading
from classifiers.knowledge.words import Word

_KEYS = frozenset(
    {"Enter", "C-m", "KPEnter", "Escape", "Tab", "Space", "Up", "Down", "C-c", "C-d", "C-z", "C-l", "q", "y", "n"}
)


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Each run of text up to an Enter is one script."""
    line: list[Word] = []
    for word in [*reading.parsed.operands, Word("Enter")]:
        if word.text in {"Enter", "C-m", "KPEnter"}:
            if line:
                script = line[0].with_text("".join(w.text for w in line))
                to = Delegate("shell", certainty="possible", via="tmux send-keys")
                reading.items.append(Handed(to, (script,), {"certainty": "possible"}, line[0].span, "tmux send-keys"))
            line = []
        elif word.text not in _KEYS:
            line.append(word)


SPECIAL = ("tmux_keys", read)
