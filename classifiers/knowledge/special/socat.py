"""socat: two addresses, each a socket, a file, or a program (socat(1) ADDRESS SPECIFICATIONS).

In: the operands of one command. Out: effects for each address and for the files its options name (``socat.yaml`` has
the types); an address type nobody described is unread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from classifiers.datafile import table
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word

_READ: Json = {"destructive": False, "reversibility": "read_only"}
_KEPT: Json = {**_READ, "kept": True}
_SENT: Json = {"destructive": False, "reversibility": "externally_reversible"}
_MADE: Json = {"destructive": False, "reversibility": "reversible"}
_UNREAD: Json = {"destructive": None, "reversibility": "unknown"}
_WRITTEN = re.compile(r"(?:^|,)(?:o?-?creat(?:e)?|o?-?wronly|o?-?trunc(?:ate)?|append)(?:=1)?(?:,|$)")


@dataclass(frozen=True, slots=True)
class _Address:
    word: Word
    does: str  # a key of the table's ``types``; empty: nobody described it
    place: str  # what stands between the type and the first option
    options: str
    only: str = ""  # with -u or -U: whether it is only "read" or only "written"

    def option(self, names: str) -> list[str]:
        """The values of these options, ``a|b``, in the order they were given."""
        pairs = (o.partition("=") for o in self.options.split(","))
        return [value for name, _, value in pairs if value and name.lower() in names.split("|")]


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """One effect per address; a program beside a socket is a reverse or a bind shell."""
    addresses = [
        _address(o.with_text(part)) for o in reading.parsed.operands for part in o.text.split("!!")
    ]  # read!!write
    does = {a.does for a in addresses}
    tags = ["bind_shell"] if "listens" in does else ["reverse_shell"] if does & {"connects", "relayed"} else []
    ways = _one_way(reading, len(addresses))
    for address, way in zip(addresses, ways, strict=True):
        address = replace(address, only=way)  # noqa: PLW2901 - the same address, its direction known
        _told(reading, address, tags)
        _named(reading, address)


def _one_way(reading: Reading, count: int) -> list[str]:
    """``-u`` copies from the first address to the second, ``-U`` the other way."""
    if count != len("ab") or not reading.parsed.given("-u", "-U"):
        return [""] * count
    return ["read", "written"] if reading.parsed.given("-u") else ["written", "read"]


def _address(word: Word) -> _Address:
    head, _, options = word.text.partition(",")
    kind, _, place = head.partition(":")
    does = next((does for does, pattern in _types() if pattern.fullmatch(kind.lower())), "")
    if not does and ("/" in kind or "." in kind):  # a bare path is opened
        return _Address(word, "opened", head, options)
    return _Address(word, does, place, options)


@cache
def _types() -> list[tuple[str, re.Pattern[str]]]:
    rows = table("knowledge/special/socat.yaml")["types"]
    return [(does, re.compile(pattern.replace(" ", ""))) for does, pattern in rows.items()]


def _told(reading: Reading, address: _Address, tags: list[str]) -> None:
    place, word = address.place, address.word

    def tell(verb: Verb, domain: Domain, target: str, fields: Json) -> None:
        reading.items.append(Told(verb, domain, target, fields, word.span, word.with_text(target)))

    match address.does:
        case "relayed":  # PROXY:relay:host:port
            tell(Verb.SEND, Domain.NETWORK, place.partition(":")[2], _SENT)
        case "connects":
            tell(Verb.SEND, Domain.NETWORK, place, _SENT)
        case "listens":
            bound = address.option("bind")
            tell(Verb.RECEIVE, Domain.NETWORK, f"{bound[0] if bound else '0.0.0.0'}:{place}", _READ)  # noqa: S104 - told
        case "programs":
            _run(reading, address, tags)
        case "files" | "creates" if place:
            writes = address.does == "creates" or _WRITTEN.search(address.options.lower())
            tell(Verb.MODIFY if writes else Verb.READ, Domain.FILESYSTEM, place, _UNREAD if writes else _READ)
        case "pipes" if place and address.only == "read":
            tell(Verb.READ, Domain.FILESYSTEM, place, _READ)
        case "pipes" if place:
            tell(Verb.CREATE, Domain.FILESYSTEM, place, _MADE)
        case "tunnels":
            tell(Verb.MODIFY, Domain.NETWORK_CONFIG, place, _MADE)
        case "local":
            _local(reading, address)
        case "opened":
            if place.endswith((".sock", ".socket", "/control", ".stats")):
                _local(reading, address)
            elif place.startswith("/dev/") and not address.only:  # a serial line: it is talked to
                tell(Verb.CONTROL, Domain.STORAGE, f"device:{place}", _UNREAD)
            elif address.only == "read":
                tell(Verb.READ, Domain.FILESYSTEM, place, _READ)
            else:
                tell(Verb.MODIFY, Domain.FILESYSTEM, place, _UNREAD)
        case "":
            text = f"socat {address.word.text}"
            reading.items.append(Hidden(OpaqueReason.UNKNOWN_EXECUTABLE, word.span, text))


def _run(reading: Reading, address: _Address, tags: list[str]) -> None:
    word = address.word
    program = address.place.strip("'\"").replace("\\ ", " ")
    if tags:
        fields = {**_UNREAD, "tags": tags}
        reading.items.append(Told(Verb.EXECUTE, Domain.CODE, program, fields, word.span, word))
    if " " in program or not tags:
        reading.items.append(Handed(Delegate("shell"), (word.with_text(program),), {}, word.span, "socat"))


def _local(reading: Reading, address: _Address) -> None:
    """A socket of this machine: what is sent there is an order to whoever listens (HAProxy's are known)."""
    place, word = address.place, address.word
    if "haproxy" in place:
        reading.reads_stdin = Delegate("code", "haproxy")
        return
    reading.items.append(Told(Verb.CONTROL, Domain.SERVICES, place, _UNREAD, word.span, word.with_text(place)))


def _named(reading: Reading, address: _Address) -> None:
    """The files that the options of an address name."""
    rows = table("knowledge/special/socat.yaml")["options"]
    for names, verb, fields in (
        (rows["kept"], Verb.READ, _KEPT),
        (rows["made"], Verb.CREATE, _MADE),
        (rows["written"], Verb.MODIFY, _MADE),
    ):
        for file in address.option(names):
            told = Told(verb, Domain.FILESYSTEM, file, fields, address.word.span, address.word.with_text(file))
            reading.items.append(told)


SPECIAL = ("socat", read)
