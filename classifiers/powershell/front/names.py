"""Names PowerShell knows: parameters without a value, aliases of commands (data in ``tables/names.yaml``)."""

from __future__ import annotations

from functools import cache

from classifiers.datafile import alternatives, table


def is_switch(name: str, valued: frozenset[str] = frozenset()) -> bool:
    """A parameter that takes no value; prefixes count, as PowerShell allows them. ``valued``: the command's that do."""
    switches = table("powershell/tables/names.yaml")["switches"]
    if name in valued:
        return False
    begins = len(name) > 2 and any(s.startswith(name) for s in switches)
    return name in switches or (begins and not any(v.startswith(name) for v in valued))


@cache
def aliases() -> dict[str, str]:
    return alternatives("powershell/tables/names.yaml", "aliases")
