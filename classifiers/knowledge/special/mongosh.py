"""mongosh --eval: collection methods say what the script does to the database (mongosh methods reference)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.interpret import Hidden, Reading, Told
from classifiers.knowledge.model import Json
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
_FIELDS: dict[Verb, Json] = {
    Verb.DELETE: {"destructive": True, "reversibility": "irreversible"},
    Verb.MODIFY: {"destructive": None, "reversibility": "unknown"},
    Verb.CREATE: {"destructive": False, "reversibility": "reversible"},
    Verb.GRANT: {"destructive": False, "reversibility": "reversible"},
    Verb.READ: {"destructive": False, "reversibility": "read_only"},
}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    scripts = [h.value for h in reading.parsed.hits if h.spelling == "--eval" and h.value is not None]
    address = reading.parsed.operands[0].text if reading.parsed.operands else "*"
    target = (
        "db:mongodb:" + address.partition("://")[2].rpartition("@")[2] if "://" in address else f"db:mongodb:{address}"
    )
    for script in scripts:
        if not is_known(script.text):
            reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, script.span, "mongosh script"))
            continue
        calls = set(_CALL.findall(script.text))
        verbs = [verb for verb, names in _TABLE if calls & names] or [Verb.READ]
        domain = Domain.DATABASE
        for verb in verbs:
            reading.items.append(Told(verb, domain, target, _FIELDS[verb], script.span, script))
    if not scripts:
        reading.reads_stdin = None
        fields: Json = {"destructive": None, "reversibility": "unknown"}
        reading.items.append(Told(Verb.EXECUTE, Domain.DATABASE, target, fields, name.span, None))
        reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, name.span, "mongosh: a session or a script"))


_TABLE = ((Verb.DELETE, _DELETES), (Verb.MODIFY, _CHANGES), (Verb.CREATE, _CREATES), (Verb.GRANT, _GRANTS))
SPECIAL = ("mongosh", read)
