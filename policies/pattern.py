"""Target patterns of rules and scopes, held against a target: does it cover it, touch it, miss it, or cannot be said?

In: what the YAML has under ``target:`` (a glob, or one of under, cidr, prefix, suffix, contains). Out: a ``Pattern``.

A recursive target stands for itself and all below it. ``touches`` is the rule's question (some of it is meant: true
unless a filter decides which), ``covers`` the scope's (all of it is meant). Both answer True, False or None (unknown).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from enum import Enum

from policies.glob import Segment, is_glob, match_segments, matches, reach, segments, text_glob
from policies.target import SCHEME, Form, Target

OPERATORS = ("under", "cidr", "prefix", "suffix", "contains")


class Relation(Enum):
    MISS = 0
    TOUCHES = 1
    COVERS = 2
    UNKNOWN = 3


class Pattern:
    """One pattern as written (``operator``, ``text``); compiled when first held against something."""

    __slots__ = ("_relate", "operator", "text")

    def __init__(self, operator: str, text: str) -> None:
        """``operator`` is ``glob`` or one of OPERATORS. Raises ValueError when a cidr is no network."""
        self.operator, self.text = operator, text
        self._relate: Callable[[Target], Relation] | None = None
        if operator == "cidr":
            self._relate = _cidr(text)

    def __repr__(self) -> str:
        return f"Pattern({self.operator!r}, {self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and (self.operator, self.text) == (other.operator, other.text)

    def __hash__(self) -> int:
        return hash((self.operator, self.text))

    @property
    def head(self) -> str | None:
        """What every absolute path this matches starts with; None for a pattern that is not an absolute path's."""
        if self.operator not in {"glob", "under"} or not self.text.startswith("/"):
            return None
        stem = re.split(r"[*?]", self.text, maxsplit=1)[0]
        return stem.rstrip("/") if self.operator == "under" or self.text[len(stem) :].startswith("**") else stem

    def relate(self, target: Target) -> Relation:
        """The one question: how what the target stands for and what the pattern means overlap."""
        if self._relate is None:
            self._relate = _COMPILERS[self.operator](self.text)
        return self._relate(target)

    def touches(self, target: Target) -> bool | None:
        """Some of what the target stands for is meant."""
        relation = self.relate(target)
        if relation is Relation.MISS:
            return False
        if relation is Relation.COVERS:
            return True
        return None if relation is Relation.UNKNOWN or target.filtered else True

    def covers(self, target: Target, *, own_home: bool = True) -> bool | None:
        """All of what the target stands for is meant (another user's home is not ours)."""
        relation = self.relate(target)
        if relation is Relation.COVERS:
            return (target.own_home if own_home else True) if self.text.startswith("~") else True
        if relation is Relation.MISS:
            return False
        return None if relation is Relation.UNKNOWN or target.filtered else False


def _glob(text: str) -> Callable[[Target], Relation]:
    if text == "**":
        return lambda _: Relation.COVERS
    scheme = SCHEME.match(text)
    if scheme and text[:1] not in "/~*":
        return _scheme(scheme[1], text[scheme.end() :])
    if "/" in text or text.startswith("~"):
        return _path(text)
    return _bare(text)


# --- paths ---------------------------------------------------------------------------------------------------------


def _path(text: str) -> Callable[[Target], Relation]:
    parts = segments(text) if text != "/" else ("",)
    tilde = text.startswith("~")
    floating = text.startswith("**/")
    absolute = tilde or text.startswith("/")
    quick = _quick(text)

    def relate(target: Target) -> Relation:
        if target.form is not Form.PATH:
            return Relation.UNKNOWN if target.form is Form.UNKNOWN else Relation.MISS
        path = target.tilde if tilde and target.tilde is not None else target.text
        assert path is not None
        if target.relative and (absolute or floating):
            return _relative(parts, path, floating=floating)
        if absolute and path.startswith("~") and not tilde:
            return Relation.UNKNOWN
        if tilde and target.tilde is None:
            return Relation.TOUCHES if target.deep and target.above_homes else Relation.MISS
        if not target.deep and not is_glob(path):
            return Relation.COVERS if quick(path) else Relation.MISS
        return relate_parts(parts, path.split("/") if path != "/" else [""], target)

    return relate


def _quick(text: str) -> Callable[[str], bool]:
    """The two commonest shapes without the general matcher: a literal path, a literal path and all below it."""
    stem, star, rest = text.partition("**")
    if not is_glob(text):
        return lambda path: path == text
    if star and not rest and stem.endswith("/") and not is_glob(stem):
        return lambda path: path.startswith(stem) or path == stem[:-1]
    parts = segments(text)
    literal = re.split(r"[*?]", text, maxsplit=1)[0]
    head = literal[: literal.rfind("/") + 1]
    if star and rest.startswith("/") and stem == "" and not is_glob(rest):
        return lambda path: path.endswith(rest) or path == rest[1:]
    if head.endswith("/") and star and stem == head:
        head = head[:-1]
    return lambda path: path.startswith(head) and match_segments(parts, path.split("/"))


def _relative(parts: tuple[Segment, ...], path: str, *, floating: bool) -> Relation:
    """A relative path whose working directory is not known: true only if every directory would do."""
    texts = path.split("/")
    if texts[0] == "..":
        return Relation.UNKNOWN
    if floating and match_segments(parts, texts):
        return Relation.COVERS
    ends = reach(parts, texts, range(len(parts) + 1))
    return Relation.UNKNOWN if _accepts(parts, ends) else Relation.MISS


def relate_parts(parts: tuple[Segment, ...], texts: list[str], target: Target) -> Relation:
    """The general case: the target may be deep, and may have globs of its own."""
    sure = reach(parts, texts)
    if target.deep:
        if any(i < len(parts) and parts[i] is None and i + 1 == len(parts) for i in sure):
            return Relation.COVERS
        if any(_named(parts, i) for i in sure):
            return Relation.TOUCHES
        if sure:  # only a ** could reach further down: whether there is such a thing below is not known
            return Relation.UNKNOWN
    elif _accepts(parts, sure):
        return Relation.COVERS
    if not any(map(is_glob, texts)):
        return Relation.MISS
    maybe = _reach_wild(parts, texts)
    if not maybe or not (target.deep or _accepts(parts, maybe)):
        return Relation.MISS
    whole = all(t == "*" for t in texts if is_glob(t))
    return Relation.TOUCHES if target.deep and whole and texts[-1] == "*" else Relation.UNKNOWN


def _named(parts: tuple[Segment, ...], place: int) -> bool:
    """The place was reached by naming it, not by a ** that may hold anything."""
    return place == len(parts) or (parts[place] is not None and (place == 0 or parts[place - 1] is not None))


def _accepts(parts: tuple[Segment, ...], places: set[int]) -> bool:
    return len(parts) in places


def _reach_wild(parts: tuple[Segment, ...], texts: list[str]) -> set[int]:
    """Like reach, with the target's own globs taken as anything they could expand to."""
    places = reach(parts, ())
    for text in texts:
        step: set[int] = set()
        for i in places:
            part = parts[i] if i < len(parts) else ""
            if i < len(parts) and (part is None or _overlaps(part, text)):
                step |= reach(parts, (), (i if part is None else i + 1,))
        places = step
    return places


def _overlaps(part: str | Callable[[str], object], text: str) -> bool:
    if not is_glob(text):
        return matches(part, text)
    return text_glob(text, fold=False)(part) if isinstance(part, str) else True


# --- scheme:rest -----------------------------------------------------------------------------------------------------

# How many colon-separated components a scheme has before its last, which may hold slashes (docs/effects.md).
COMPONENTS = {"aws": 3, "gcp": 3, "azure": 3, "k8s": 2, "db": 1}
PACKAGES = {"pypi", "npm", "apt", "cargo", "gem", "go", "brew", "yum", "dnf", "apk", "conda", "composer", "nuget"}
_VERSION = re.compile(r"[=<>~!\[ ]|(?<=.)@")


def _scheme(scheme: str, rest: str) -> Callable[[Target], Relation]:
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


# --- words, hosts, addresses -----------------------------------------------------------------------------------------


def _bare(text: str) -> Callable[[Target], Relation]:
    """No slash, no scheme: a host (its port is optional in the pattern), or a relative name of one segment."""
    match = text_glob(text)
    parts = segments(text)
    with_port = re.search(r":[0-9*]+$", text) is not None

    def relate(target: Target) -> Relation:
        if target.form is Form.UNKNOWN or target.text is None:
            return Relation.UNKNOWN
        if target.form is Form.HOST:
            return Relation.COVERS if match(target.text if with_port else target.host) else Relation.MISS
        if target.form is Form.SCHEME:
            return Relation.MISS
        return relate_parts(parts, target.text.split("/"), target)

    return relate


def _cidr(text: str) -> Callable[[Target], Relation]:
    network = ipaddress.ip_network(text)

    def relate(target: Target) -> Relation:
        if target.text is None:
            return Relation.UNKNOWN
        try:
            address = ipaddress.ip_address(target.host or target.text)
        except ValueError:  # a name is no address: what it resolves to is not in the call
            return Relation.MISS
        mapped = getattr(address, "ipv4_mapped", None) or address
        return Relation.COVERS if mapped in network else Relation.MISS

    return relate


_PLAIN: dict[str, Callable[[str, str], bool]] = {
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": str.__contains__,
}


def _plain(operator: str) -> Callable[[str], Callable[[Target], Relation]]:
    test = _PLAIN[operator]

    def build(wanted: str) -> Callable[[Target], Relation]:
        def relate(target: Target) -> Relation:
            if target.text is None:
                return Relation.UNKNOWN
            found = test(target.text, wanted) or (target.tilde is not None and test(target.tilde, wanted))
            return Relation.COVERS if found else Relation.MISS

        return relate

    return build


_COMPILERS: dict[str, Callable[[str], Callable[[Target], Relation]]] = {
    "glob": _glob,
    "under": lambda text: _path(text.rstrip("/") + "/**"),
    "cidr": _cidr,
    **{operator: _plain(operator) for operator in _PLAIN},
}
