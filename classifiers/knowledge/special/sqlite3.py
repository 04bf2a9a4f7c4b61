"""sqlite3: arguments after the file are SQL, or dot-commands that may run programs and write files (sqlite3 CLI)."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_READ: Json = {"destructive": False, "reversibility": "read_only"}
_WROTE: Json = {"destructive": None, "reversibility": "unknown", "tags": ["overwrite"]}
_RUN: Json = {"destructive": False, "reversibility": "unknown"}
_WRITES = frozenset({".backup", ".save", ".output", ".once", ".clone", ".log", ".excel"})
_READS = frozenset({".import", ".read", ".open", ".load", ".restore"})


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    operands = reading.parsed.operands
    file = operands[0].text if operands else ":memory:"
    span = operands[0].span if operands else name.span
    told: set[str] = set()
    given = [*reading.parsed.words_of("-cmd"), *operands[1:]]
    for word in given:
        for line in word.text.strip().split("\n"):
            current = word.with_text(line.strip())
            if current.text.startswith("."):
                _dot(reading, current, file, span, told)
            elif current.text:
                reading.items.append(
                    Handed(Delegate("sql", "sqlite", via="sqlite3"), (word,), {"database": file}, word.span, "sqlite3")
                )
                break
    if not operands[1:]:
        reading.reads_stdin, reading.server = Delegate("sql", "sqlite"), {"database": file}


def _dot(reading: Reading, word: Word, file: str, span: tuple[int, int], told: set[str]) -> None:
    command, _, rest = word.text.partition(" ")
    rest = rest.strip()
    if command in {".shell", ".system"}:
        reading.items.append(Told(Verb.EXECUTE, Domain.CODE, None, _RUN, word.span, word))
        reading.items.append(Handed(Delegate("shell"), (word.with_text(rest),), {}, word.span, f"sqlite3 {command}"))
        return
    if file not in told:
        told.add(file)
        reading.items.append(Told(Verb.READ, Domain.DATABASE, f"db:sqlite:*/{file}", _READ, span, None))
    target = rest.split(" ")[-1].strip("'\"")
    if command in _WRITES and target and target != "stdout":
        piped = target.startswith("|")
        if piped:
            reading.items.append(
                Handed(Delegate("shell"), (word.with_text(rest.lstrip("|")),), {}, word.span, "sqlite3")
            )
        else:
            reading.items.append(
                Told(Verb.MODIFY, Domain.FILESYSTEM, target, _WROTE, word.span, word.with_text(target))
            )
    elif command in _READS and target:
        first = rest.split(" ")[0].strip("'\"")
        if command == ".read":  # statements in a file, or what a command prints
            to = Delegate("shell") if first.startswith("|") else Delegate("script", "sql")
            given = word.with_text(rest.strip("'\"").lstrip("|") if first.startswith("|") else first)
            reading.items.append(Handed(to, (given,), {"database": file}, word.span, "sqlite3 .read"))
            return
        reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, first, _READ, word.span, word.with_text(first)))
        changes = command in {".import", ".restore"}
        fields: Json = {"destructive": None, "reversibility": "unknown"}
        if changes:
            reading.items.append(Told(Verb.MODIFY, Domain.DATABASE, f"db:sqlite:*/{file}", fields, word.span, None))
        elif command == ".load":
            reading.items.append(Told(Verb.EXECUTE, Domain.CODE, first, fields, word.span, word))


SPECIAL = ("sqlite3", read)
