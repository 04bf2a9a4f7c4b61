"""Addresses that are special whatever the request: cloud metadata services, paste sites, request catchers.

In: an Address. Out: whether it is one. The tables are ``http/places.yaml``.
"""

from __future__ import annotations

import re
from functools import cache

from classifiers.address import Address
from classifiers.datafile import table


def is_metadata(where: Address) -> bool:
    """A host whose answers hold the machine's own credentials, and no other service."""
    return _embedded(where.name) in _hosts("metadata") and not where.path.startswith(_harmless())


def _embedded(name: str) -> str:
    """Names that resolve to the address written in them (``169.254.169.254.nip.io``) are that address."""
    found = re.fullmatch(r"(?:.*[.-])?(\d{1,3}(?:[.-]\d{1,3}){3})\.(?:nip\.io|sslip\.io|xip\.io)", name)
    return found.group(1).replace("-", ".") if found else name


def is_drop(host: str) -> bool:
    """Paste sites, file drops and request catchers: where data goes to be picked up by anyone."""
    name = host.rpartition(":")[0] or host
    drops = _hosts("drops")
    return any(".".join(name.split(".")[i:]) in drops for i in range(name.count(".") + 1))


@cache
def _hosts(kind: str) -> frozenset[str]:
    return frozenset(table("http/places.yaml")[kind])


@cache
def _harmless() -> tuple[str, ...]:
    return tuple(table("http/places.yaml")["metadata_without_secrets"])
