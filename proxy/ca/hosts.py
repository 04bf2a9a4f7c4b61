"""Which hosts are allow-listed for interception. Pure, standard library only: the relay and the configuration use it.

In: texts such as ``api.example``, ``*.example`` (every name below, not ``example`` itself), ``192.0.2.7``. Out: a
``Listed`` that answers for a host, and the same names as they go into a certificate's name constraints.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

MAX_NAME = 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def host_name(text: str) -> str:
    """A host in one spelling: lower case, no final dot, no brackets. ValueError when it is no name or address.

    A name whose last label is a number is refused: resolvers read ``2130706433`` and ``0x7f.1`` as addresses.
    """
    name = text.lower()
    bare = name[1:-1] if name[:1] == "[" and name[-1:] == "]" else name
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        pass
    else:
        # a zone ("%eth0") would make one address many; IPv6 without its brackets is ambiguous before a port
        if "%" in bare or (found.version == 6) != (bare != name):
            raise ValueError(f"{text!r} is no host")
        return str(found)
    name = name.removesuffix(".")
    labels = name.split(".")
    if len(name) > MAX_NAME or not all(map(_LABEL.fullmatch, labels)) or _NUMBER.fullmatch(labels[-1]):
        raise ValueError(f"{text!r} is no host")
    return name


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def listed_name(text: str) -> str:
    """An entry of the allow-list in one spelling. ValueError when it is none, or names a whole top-level domain."""
    wild = text.startswith("*.")
    try:
        name = host_name(text[2:] if wild else f"[{text}]" if ":" in text and text[:1] != "[" else text)
    except ValueError:
        raise ValueError(
            f"{text!r} is no host to intercept; expected api.example, *.example.com or an address"
        ) from None
    if wild and ("." not in name or is_address(name)):
        raise ValueError(f"{text!r} would list too much; expected *.NAME with at least two labels")
    return f"*.{name}" if wild else name


class Listed:
    """The allow-list. ``in`` takes a host as ``host_name`` spells it."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.entries = tuple(dict.fromkeys(listed_name(e) for e in entries))
        self._exact = frozenset(e for e in self.entries if e[:2] != "*.")
        self._below = tuple(e[1:] for e in self.entries if e[:2] == "*.")

    def __contains__(self, host: object) -> bool:
        return isinstance(host, str) and (host in self._exact or host.endswith(self._below))

    def covers(self, entry: str) -> bool:
        """Whether every host that ``entry`` lists is listed here."""
        return entry in self.entries or (entry[1:] if entry[:2] == "*." else entry).endswith(self._below)
