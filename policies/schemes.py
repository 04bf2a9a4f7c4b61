"""Patterns of the form ``scheme:rest``: packages, repositories, cloud resources, everything canonical that is no path.

In: the scheme and what follows it. Out: a function of a ``Target`` that answers a ``Relation``. A part that a target
leaves open (``aws:*:…``, a git remote known only by its name) is unknown, not a miss.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from policies.glob import segments, text_glob
from policies.relation import Relation, relate_parts
from policies.target import Form, Target

# How many colon-separated components a scheme has before its last, which may hold slashes (docs/effects.md).
COMPONENTS = {"aws": 3, "gcp": 3, "azure": 3, "k8s": 2, "db": 1}
PACKAGES = {"pypi", "npm", "apt", "cargo", "gem", "go", "brew", "yum", "dnf", "apk", "conda", "composer", "nuget"}
_VERSION = re.compile(r"[=<>~!\[ ]|(?<=.)@")


def of_scheme(scheme: str, rest: str) -> Callable[[Target], Relation]:
    compare = _git(rest) if scheme == "git" else _package(rest) if scheme in PACKAGES else _components(scheme, rest)
    start = scheme + ":"

    def relate(target: Target) -> Relation:
        text = target.text
        if text is None:
            return Relation.UNKNOWN
        if target.form is Form.SCHEME and text.startswith(start):
            return compare(text[len(start) :], target)
        vague = scheme == "git" and target.domain == "vcs" and target.form is Form.PATH
        return Relation.UNKNOWN if vague else Relation.MISS

    return relate


def _package(rest: str) -> Callable[[str, Target], Relation]:
    versioned = _VERSION.search(rest) is not None
    match = text_glob(rest)

    def compare(text: str, _: Target) -> Relation:
        name = text if versioned else _VERSION.split(text, maxsplit=1)[0]
        return Relation.COVERS if match(name) else Relation.MISS

    return compare


def _git(rest: str) -> Callable[[str, Target], Relation]:
    """``host/owner/repo#ref``: the repository by segments, the ref as one piece; no ``#`` means any ref."""
    repo, mark, ref = rest.partition("#")
    parts, match = segments(repo), text_glob(ref, fold=False)
    any_repo, any_ref = repo in {"*", "**"}, not mark or ref in {"*", "**"}

    def compare(text: str, target: Target) -> Relation:
        its_repo, _, its_ref = text.partition("#")
        if not any_repo:
            if "/" not in its_repo and its_repo != repo:  # a remote's name, or nothing: which repository is not known
                return Relation.UNKNOWN
            relation = relate_parts(parts, its_repo.split("/"), target)
            if relation is not Relation.COVERS and not (target.deep and relation is Relation.TOUCHES):
                return relation
        if any_ref:
            return Relation.COVERS
        if not its_ref or its_ref in {"*", "HEAD"}:
            return Relation.UNKNOWN
        return Relation.COVERS if match(its_ref) else Relation.MISS

    return compare


def _components(scheme: str, rest: str) -> Callable[[str, Target], Relation]:
    count = COMPONENTS.get(scheme, 0)
    wanted = rest.split(":", count)
    heads = [None if w in {"*", "**"} else text_glob(w, fold=False) for w in wanted[:count]]
    last = wanted[count] if len(wanted) > count else "*"
    parts = None if last in {"*", "**"} else segments(last)

    def compare(text: str, target: Target) -> Relation:
        found = text.split(":", count)
        vague = False
        for match, part in zip(heads, found, strict=False):
            if match is not None and part in {"*", ""}:
                vague = True
            elif match is not None and not match(part):
                return Relation.MISS
        relation = Relation.COVERS
        if parts is not None:
            if len(found) <= count:
                return Relation.UNKNOWN
            relation = relate_parts(parts, found[count].split("/"), target)
        return Relation.UNKNOWN if vague and relation is not Relation.MISS else relation

    return compare
