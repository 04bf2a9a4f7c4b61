"""The console entry: refuse to run over somebody else's ``proxy`` package, then hand over to the command line."""

from __future__ import annotations

import sys
from importlib.metadata import packages_distributions

OURS = "onlooker"
FOLDERS = ("proxy", "policies", "classifiers", "audit")


def foreign_owner(owners: dict[str, list[str]]) -> str | None:
    """One sentence when another distribution owns one of our folders, else None. See docs/decisions/0001."""
    for folder in FOLDERS:
        others = sorted({o for o in owners.get(folder, []) if o != OURS})
        if others:
            return (
                f"onlooker: the package {others[0]} in this environment also installs a top-level '{folder}'; "
                "install onlooker in its own environment (uv tool install, pipx install)."
            )
    return None


def main() -> None:
    problem = foreign_owner({k: list(v) for k, v in packages_distributions().items()})
    if problem:
        print(problem, file=sys.stderr)
        raise SystemExit(125)
    from proxy.cli import cli  # noqa: PLC0415 - only once the environment is known to be ours

    cli(prog_name="onlooker")
