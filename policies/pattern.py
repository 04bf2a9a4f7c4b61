"""Target patterns of rules and scopes, held against a target: does it cover it, touch it, miss it, or cannot be said?

In: what the YAML has under ``target:`` (a glob, or one of under, cidr, prefix, suffix, contains). Out: a ``Pattern``.

A recursive target stands for itself and all below it. ``touches`` is the rule's question (some of it is meant: true
unless a filter decides which), ``covers`` the scope's (all of it is meant). Both answer True, False or None (unknown).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from policies.glob import Segment, is_glob, match_segments, reach, segments, text_glob
from policies.relation import Relation, accepts, relate_parts
from policies.schemes import of_scheme
from policies.target import SCHEME, Form, Target

OPERATORS = ("under", "cidr", "prefix", "suffix", "contains")


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
        return of_scheme(scheme[1], text[scheme.end() :])
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
    return Relation.UNKNOWN if accepts(parts, ends) else Relation.MISS


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
