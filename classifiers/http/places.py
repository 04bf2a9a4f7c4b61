"""Addresses that are special whatever the request: cloud metadata services, paste sites, request catchers.

In: an Address. Out: whether it is one. The tables are ``http/places.yaml``.
"""

from __future__ import annotations

from functools import cache

from classifiers.address import Address
from classifiers.datafile import table


def is_metadata(where: Address) -> bool:
    """A host whose answers hold the machine's own credentials, and no other service."""
    return where.name in _hosts("metadata") and not where.path.startswith(_harmless())


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
