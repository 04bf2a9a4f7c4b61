"""Addresses of routes on a data port, with the objective segment in front when there is one."""

from __future__ import annotations

from proxy.run import Address


def address_of(listen: str, segment: str | None = None) -> Address:
    """``segment``: ``<id>.<nonce>`` of ``/o/…/``."""
    middle = f"/o/{segment}" if segment else ""
    return lambda route: f"http://{listen}{middle}/{route}"
