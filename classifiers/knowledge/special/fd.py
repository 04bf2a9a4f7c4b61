"""fd: what is walked, and the command ``-x`` or ``-X`` runs on what was found, up to ``;`` (fd(1))."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_READ = {"destructive": False, "reversibility": "read_only", "breadth": "recursive", "filtered": True}
_RUNS = ("-x", "--exec", "-X", "--exec-batch")
_ENDINGS = ("-e", "--extension")
_HOLES = ("{}", "{/}", "{//}", "{.}", "{/.}")


def read_fd(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """The node's own operands end where a command to run begins; what follows its ``;`` are operands again."""
    commands, taken = _commands(reading, words)
    operands = [w for w in reading.parsed.operands if id(w) not in taken]
    places = operands[1:] + reading.parsed.words_of("--search-path")
    values = reading.parsed.values()
    base = values.get("base-directory", values.get("C", "."))
    for place in places or [Word(base, name.span)]:
        reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, place.text, _READ, place.span, place))
    for place in (places or [Word(base, name.span)])[:8]:
        for found in _found(place.text, reading, operands)[:8]:
            for command in commands:
                reading.items.append(_handed(command, place.text, found))


def _commands(reading: Reading, words: Sequence[Word]) -> tuple[list[list[Word]], set[int]]:
    """Each command's words, and the identities of all words that belong to one."""
    options = {id(h.word) for h in reading.parsed.hits if h.spelling in _RUNS}
    commands: list[list[Word]] = []
    taken: set[int] = set()
    inside = False
    for word in words:
        if not inside and (id(word) in options or (commands and word.text in _RUNS)):
            inside = True
            commands.append([])
            taken.add(id(word))
        elif inside:
            taken.add(id(word))
            inside = word.text != ";"
            if inside:
                commands[-1].append(word)
    return [c for c in commands if c], taken


def _found(place: str, reading: Reading, operands: list[Word]) -> list[str]:
    """What ``{}`` stands for: known as globs when extensions or a glob say so."""
    base = place.rstrip("/")
    endings = [w.text.lstrip(".") for w in reading.parsed.words_of(*_ENDINGS)]
    if endings:
        return [f"{base}/**/*.{ending}" for ending in dict.fromkeys(endings)]
    if operands and reading.parsed.given("-g", "--glob"):
        return [f"{base}/**/{operands[0].text}"]
    return [place]


def _handed(command: list[Word], place: str, found: str) -> Handed:
    stem = found.rpartition(".")[0] if found.rpartition("/")[2].startswith("*.") else found
    fills = {"{}": found, "{.}": stem, "{//}": place, "{/}": found.rpartition("/")[2], "{/.}": stem.rpartition("/")[2]}
    if not any(hole in w.text for w in command for hole in _HOLES):
        command = [*command, command[-1].with_text("{}")]
    words = []
    for word in command:
        text = word.text
        for hole, value in fills.items():
            text = text.replace(hole, value)
        words.append(Word(text, word.span, glob="*" in text, quoted=word.quoted) if text != word.text else word)
    span = (command[0].span[0], command[-1].span[1])
    return Handed(Delegate("argv"), tuple(words), {"filtered": True}, span, "fd")


SPECIAL = ("fd", read_fd)
