"""mongosh: where it connects and the script it is given (mongosh(1)); the script is read as the database's orders."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge import addresses
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word
from classifiers.mongodb import Place

_ORDERS = Delegate("sql", "mongodb")


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Each script's orders to the server it names; without one, a file nobody has read, or a session on the server."""
    scripts = reading.parsed.words_of("--eval")
    place, database = _server(reading)
    server: Json = {"host": place or None, "database": database or None}
    for script in scripts:
        reading.items.append(Handed(_ORDERS, (script,), server, script.span, ""))
    if not scripts and _takes_pipe(reading):
        reading.reads_stdin, reading.server = _ORDERS, server
    elif not scripts:
        reading.reads_stdin = None
        fields: Json = {"destructive": None, "reversibility": "unknown"}
        target = Place(place, database).target
        reading.items.append(Told(Verb.EXECUTE, Domain.DATABASE, target, fields, name.span, None))
        if _names_script(reading):
            reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, name.span, "mongosh: a script in a file"))


def _takes_pipe(reading: Reading) -> bool:
    """Whether what comes in by a pipe is the script: none is named."""
    return reading.parsed.given("piped") and not _names_script(reading)


def _names_script(reading: Reading) -> bool:
    """``mongosh shop a.js``, ``-f a.js``."""
    parsed = reading.parsed
    return parsed.given("-f", "--file") or any(w.text.endswith((".js", ".mongodb")) for w in parsed.operands)


def _server(reading: Reading) -> tuple[str, str]:
    """Host and database: ``[mongodb://]host/name``, ``name``, ``--host`` (mongosh(1), db address)."""
    address = reading.parsed.operands[0].text if reading.parsed.operands else ""
    if address.endswith((".js", ".mongodb")):  # a script in the address's place
        address = ""
    host = next((w.text for w in reading.parsed.words_of("--host")), "")
    if (said := addresses.database(address)) is not None:
        return said["host"] or host, said["database"]
    if "/" in address:
        place, _, address = address.partition("/")
        host = place
    return host, address


SPECIAL = ("mongosh", read)
