"""mongosh --eval: collection methods say what the script does to the database (mongosh methods reference)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge import addresses
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Hidden, Reading, Told
from classifiers.knowledge.words import Word, is_known

_CALL = re.compile(r"\.([A-Za-z]+)\s*\(")
_DELETES = frozenset(
    {
        "dropDatabase",
        "drop",
        "deleteMany",
        "deleteOne",
        "remove",
        "dropIndex",
        "dropIndexes",
        "dropUser",
        "findOneAndDelete",
        "dropRole",
        "dropAllUsers",
    }
)
_CHANGES = frozenset(
    {
        "updateMany",
        "updateOne",
        "update",
        "replaceOne",
        "renameCollection",
        "bulkWrite",
        "findAndModify",
        "save",
        "findOneAndUpdate",
        "runCommand",
        "adminCommand",
        "shutdownServer",
        "eval",
        "fsyncLock",
    }
)
_CREATES = frozenset(
    {
        "insertOne",
        "insertMany",
        "insert",
        "createCollection",
        "createIndex",
        "createIndexes",
        "ensureIndex",
        "createView",
    }
)
_GRANTS = frozenset(
    {"createUser", "createRole", "grantRolesToUser", "grantPrivilegesToRole", "updateUser", "changeUserPassword"}
)
_READS = frozenset(
    {
        "find",
        "findOne",
        "aggregate",
        "count",
        "countDocuments",
        "estimatedDocumentCount",
        "distinct",
        "stats",
        "getIndexes",
    }
)
# db.getSiblingDB("other").getCollection("name").method( · db.name.method( · db.method(
_ON = re.compile(
    r"""\bdb(?:\.getSiblingDB\(["']([\w-]+)["']\))?"""
    r"""(?:\.getCollection\(["']([\w.-]+)["']\)|\[["']([\w.-]+)["']\]|((?:\.\w+)*))\.(\w+)\s*\("""
)
_FIELDS: dict[Verb, Json] = {
    Verb.DELETE: {"destructive": True, "reversibility": "irreversible"},
    Verb.MODIFY: {"destructive": None, "reversibility": "unknown"},
    Verb.CREATE: {"destructive": False, "reversibility": "reversible"},
    Verb.GRANT: {"destructive": False, "reversibility": "reversible"},
    Verb.READ: {"destructive": False, "reversibility": "read_only"},
}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Each script's calls on the database it names; without a script, a session or a file nobody has read."""
    scripts = [h.value for h in reading.parsed.hits if h.spelling == "--eval" and h.value is not None]
    place, database = _server(reading)
    for script in scripts:
        if not is_known(script.text):
            reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, script.span, "mongosh script"))
            continue
        for verb, target in dict.fromkeys(_calls(script.text, place, database)):
            reading.items.append(Told(verb, Domain.DATABASE, target, _FIELDS[verb], script.span, script))
    if not scripts and _takes_pipe(reading):
        reading.reads_stdin = Delegate("code", "mongosh")
        reading.server = {"host": place or None, "database": database or None}
    elif not scripts:
        reading.reads_stdin = None
        fields: Json = {"destructive": None, "reversibility": "unknown"}
        target = _target(place, database)
        reading.items.append(Told(Verb.EXECUTE, Domain.DATABASE, target, fields, name.span, None))
        reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, name.span, "mongosh: a session or a script"))


def _takes_pipe(reading: Reading) -> bool:
    """Whether what comes in by a pipe is the script: none is named (``mongosh shop a.js``, ``-f a.js``)."""
    parsed = reading.parsed
    files = [w for w in parsed.operands if w.text.endswith((".js", ".mongodb"))]
    return parsed.given("piped") and not files and not parsed.given("-f", "--file")


def _server(reading: Reading) -> tuple[str, str]:
    """Host and database: ``[mongodb://]host/name``, ``name``, ``--host`` (mongosh(1), db address)."""
    address = reading.parsed.operands[0].text if reading.parsed.operands else ""
    if address.endswith((".js", ".mongodb")):  # a script in the address's place
        address = ""
    host = next((h.value.text for h in reading.parsed.hits if h.spelling == "--host" and h.value), "")
    if (said := addresses.database(address)) is not None:
        return said["host"] or host, said["database"]
    if "/" in address:
        place, _, address = address.partition("/")
        host = place
    return host, address


def _target(place: str, database: str, collection: str = "") -> str:
    if not collection:
        return f"db:mongodb:{place or '*'}/{database}" if database else f"db:mongodb:{place or '*'}"
    return f"db:mongodb:{place or '*'}/{database or '*'}/{collection}"


def _calls(script: str, place: str, database: str) -> Iterator[tuple[Verb, str]]:
    """What each call does and to what; a script that calls nothing of these reads."""
    found = False
    on = _ON.findall(script)
    said = {method for *_, method in on}
    for other, quoted, indexed, dotted, method in on:
        verb = _verb(method)
        if verb is not None:
            found = True
            yield verb, _target(place, other or database, quoted or indexed or dotted.lstrip("."))
    for method in _CALL.findall(script):
        verb = _verb(method) if method not in said else None
        if verb is not None and verb is not Verb.READ:  # through a cursor or a variable
            found = True
            yield verb, _target(place, database)
    if not found:
        yield Verb.READ, _target(place, database)


def _verb(method: str) -> Verb | None:
    return next((verb for verb, names in _TABLE if method in names), None)


_TABLE = (
    (Verb.DELETE, _DELETES),
    (Verb.MODIFY, _CHANGES),
    (Verb.CREATE, _CREATES),
    (Verb.GRANT, _GRANTS),
    (Verb.READ, _READS),
)
SPECIAL = ("mongosh", read)
