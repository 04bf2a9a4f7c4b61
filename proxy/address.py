"""A host and a port as one text. Standard library only: the relay and the supervisor import this."""

from __future__ import annotations


def shown(host: str, port: int) -> str:
    """``host:port``, an IPv6 address in brackets (RFC 3986 3.2.2)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
