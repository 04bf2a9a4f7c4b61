"""The text of a new objective, commented, from a few facts: for a person to read, change and keep.

In: an id, a statement, paths, repositories, hosts. Out: YAML that checks without a remark.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Wish:
    ident: str
    statement: str = ""
    paths: tuple[str, ...] = ()
    repos: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    packages: tuple[str, ...] = ("pypi", "npm", "cargo", "go", "gem")
    forbidden: tuple[str, ...] = ()
    origin: bool = False  # the checkout's remote "origin" is one of the repositories


def write(wish: Wish) -> str:
    out = [
        "# What was asked, and what may be done for it. Check: onlooker objective check FILE",
        "objective: 1",
        f"id: {wish.ident}",
        f"statement: {_text(wish.statement)}  # recorded, never interpreted",
        f"bind: [{{path_segment: {wish.ident}}}, {{header: X-Onlooker-Objective}}]",
        "scope:",
        "  effects:",
        "    - {domain: filesystem, action: read}  # reading anywhere; a secret is still flagged by the policy",
    ]
    if wish.paths:
        trees = ", ".join(_text(p.rstrip("/") + "/**") for p in (*wish.paths, "/tmp"))  # noqa: S108 - a pattern
        out.append(f"    - {{domain: filesystem, action: [create, modify, delete], target: [{trees}]}}")
    if wish.packages:
        indexes = ", ".join(_text(p) for p in (*(f"{p}:*" for p in wish.packages), "node_modules", ".venv"))
        out.append(f"    - {{domain: packages, action: [create, modify], target: [{indexes}]}}")
    out += [
        "    - {domain: [packages, process, environment, services, containers], action: read}  # looking around",
        "    - {domain: vcs, action: [read, receive, create, modify]}  # local work; sending needs repos below",
        "    - {domain: agent, action: [read, create, modify, execute]}  # its own plans and sub-agents",
        "    - {domain: [code, process], action: execute}  # running things; what could not be read stays undetermined",
    ]
    out += (
        ['    - {domain: vcs, action: send, target: "git:origin#*"}  # origin as it is set now'] if wish.origin else []
    )
    out += [f"  repos: [{', '.join(map(_text, wish.repos))}]"] if wish.repos else []
    out += [f"  hosts: [{', '.join(map(_text, wish.hosts))}]"] if wish.hosts else []
    if wish.forbidden:
        trees = ", ".join(_text(p.rstrip("/") + "/**") for p in wish.forbidden)
        entry = f"{{domain: filesystem, action: [create, modify, delete], target: [{trees}]}}"
        out += ["forbidden:", f'  - {{id: off-limits, because: "named when this was written", effects: [{entry}]}}']
    out += ["budget: {deletes: 50, hosts: 20}", "delegation: narrow"]
    return "\n".join(out) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def ident_from(text: str) -> str:
    """An id made of what an id may hold."""
    return re.sub(r"[^a-z0-9.-]+", "-", text.casefold()).strip("-.") or "objective"


def checkout(start: Path) -> tuple[Path, str | None] | None:
    """The git work tree around ``start`` and its origin as ``host/owner/repo``; None outside one. Runs nothing."""
    for folder in (start, *start.parents):
        git = folder / ".git"
        if git.exists():
            config = git / "config"
            text = config.read_text("utf-8", "replace") if config.is_file() else ""
            found = re.search(r'\[remote "origin"\][^\[]*?url\s*=\s*(\S+)', text)
            return folder, repo_of(found[1]) if found else None
    return None


def repo_of(url: str) -> str | None:
    """``git@host:owner/repo.git`` and ``https://host/owner/repo`` as ``host/owner/repo``."""
    found = re.fullmatch(r"(?:[a-z+]+://)?(?:[^@/]+@)?([^/:]+)(?::[0-9]+(?=/))?[/:](.+?)(?:\.git)?/?", url)
    return f"{found[1]}/{found[2]}" if found and "." in found[1] else None
