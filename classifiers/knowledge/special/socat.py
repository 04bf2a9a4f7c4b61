"""socat: two addresses, each a socket, a file, or a program (socat(1) ADDRESS SPECIFICATIONS)."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_RELAYED = ("socks4", "socks4a", "socks5", "socks5-connect", "proxy", "proxy-connect")  # RELAY:HOST:PORT
_CONNECTS = frozenset(
    {
        "tcp",
        "tcp4",
        "tcp6",
        "tcp-connect",
        "udp",
        "udp-connect",
        "openssl",
        "ssl",
        "openssl-connect",
        "tcp4-connect",
        "tcp6-connect",
        "udp4",
        "udp6",
        "udp-sendto",
        "sctp",
        "sctp-connect",
        *_RELAYED,
    }
)
_LISTENS = frozenset(
    {
        "tcp-listen",
        "tcp4-listen",
        "tcp6-listen",
        "tcp-l",
        "udp-listen",
        "udp-l",
        "openssl-listen",
        "ssl-l",
        "udp4-listen",
        "udp6-listen",
        "sctp-listen",
        "udp-recv",
        "udp-recvfrom",
    }
)
_PROGRAMS = frozenset({"exec", "system", "shell"})
_FILES = frozenset(
    {"open", "file", "gopen", "create", "creat", "pipe", "unix-connect", "unix-listen", "unix", "unix-l"}
)
_UNREAD: Json = {"destructive": None, "reversibility": "unknown"}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """One effect per address; a program beside a socket is a reverse or a bind shell."""
    addresses = [o.with_text(part) for o in reading.parsed.operands for part in o.text.split("!!")]  # read!!write
    kinds = [a.text.partition(":")[0].partition(",")[0].lower() for a in addresses]
    listening, connecting = any(k in _LISTENS for k in kinds), any(k in _CONNECTS for k in kinds)
    for address, kind in zip(addresses, kinds, strict=True):
        if _local_socket(reading, address, kind):
            continue
        rest = address.text.partition(":")[2]
        place = rest.partition(",")[0]
        if kind in _RELAYED:  # PROXY:relay:host:port
            place = place.partition(":")[2]
        if kind in _CONNECTS:
            fields: Json = {"destructive": False, "reversibility": "externally_reversible"}
            reading.items.append(Told(Verb.SEND, Domain.NETWORK, place, fields, address.span, address))
        elif kind in _LISTENS:
            fields = {"destructive": False, "reversibility": "read_only"}
            reading.items.append(Told(Verb.RECEIVE, Domain.NETWORK, f"0.0.0.0:{place}", fields, address.span, address))
        elif kind in _PROGRAMS:
            tags = ["bind_shell"] if listening else ["reverse_shell"] if connecting else []
            program = place.strip("'\"").replace("\\ ", " ")
            if tags:
                reading.items.append(
                    Told(Verb.EXECUTE, Domain.CODE, program, {**_UNREAD, "tags": tags}, address.span, address)
                )
            if " " in program or not tags:
                reading.items.append(
                    Handed(Delegate("shell"), (address.with_text(program),), {}, address.span, "socat")
                )
        elif kind in _FILES and place:
            changes = kind in {"create", "creat"} or "creat" in rest or "wronly" in rest or "trunc" in rest
            verb = Verb.MODIFY if changes else Verb.READ
            fields = dict(_UNREAD) if changes else {"destructive": False, "reversibility": "read_only"}
            reading.items.append(Told(verb, Domain.FILESYSTEM, place, fields, address.span, address.with_text(place)))


def _local_socket(reading: Reading, address: Word, kind: str) -> bool:
    """A socket of this machine: what is sent there is an order to whoever listens (HAProxy's are known)."""
    path = address.text.partition(",")[0]
    if kind in {"unix-connect", "unix", "unix-client", "abstract-connect"}:
        path = path.partition(":")[2]
    elif not (path.startswith(("/", "./", "~")) and path.endswith((".sock", ".socket", "/control", ".stats"))):
        return False
    if "haproxy" in path:
        reading.reads_stdin = Delegate("code", "haproxy")
        return True
    fields: Json = {"destructive": None, "reversibility": "unknown"}
    reading.items.append(Told(Verb.CONTROL, Domain.SERVICES, path, fields, address.span, address.with_text(path)))
    return True


SPECIAL = ("socat", read)
