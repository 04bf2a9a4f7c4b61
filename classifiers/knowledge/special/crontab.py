"""crontab: a file or standard input replaces the user's whole table; its lines run later (crontab(1), crontab(5))."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_READ: Json = {"destructive": False, "reversibility": "read_only"}
_REPLACED: Json = {"destructive": True, "reversibility": "irreversible", "tags": ["overwrite", "persistence"]}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    if reading.items or reading.answered:
        return
    operand = reading.parsed.operands[0] if reading.parsed.operands else name.with_text("-")  # cronie reads its input
    user = next((w.text for w in reading.parsed.words_of("-u")), "*")
    if operand.text != "-":
        reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, operand.text, _READ, operand.span, operand))
    reading.items.append(
        Told(Verb.MODIFY, Domain.SCHEDULER, f"cron:{user}", _REPLACED, (name.span[0], operand.span[1]), None)
    )
    to = Delegate("script", "crontab", condition="deferred", via="crontab")
    reading.items.append(Handed(to, (operand,), {"condition": "deferred"}, operand.span, "crontab"))


SPECIAL = ("crontab", read)
