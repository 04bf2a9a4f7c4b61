"""Names PowerShell knows: parameters without a value, aliases of commands (data in ``tables/names.yaml``)."""

from __future__ import annotations

from functools import cache

from classifiers.datafile import alternatives, table


def is_switch(name: str) -> bool:
    """A parameter that takes no value; prefixes count, as PowerShell allows them."""
    switches = table("powershell/tables/names.yaml")["switches"]
    return name in switches or (len(name) > 2 and any(s.startswith(name) for s in switches))


@cache
def aliases() -> dict[str, str]:
    return alternatives("powershell/tables/names.yaml", "aliases")
