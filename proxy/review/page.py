"""One page of the review: where it is, which template shows it, what it is made of.

In: a request's address and query. Out: the template's values. A page is one file in ``proxy/review/pages/`` exposing
``PAGE``; the navigation and the routes come from walking that folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.review.index import Index
from proxy.review.site import Site


class NotThereError(Exception):
    """Nothing is at this address. The message is a sentence for the reader."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """``parts``: from the path. ``query``: in the order given; the last of a name counts in ``one``."""

    parts: Mapping[str, str]
    query: tuple[tuple[str, str], ...]

    def one(self, name: str, default: str = "") -> str:
        return dict(self.query).get(name, default)


@dataclass(frozen=True, slots=True)
class Page:
    """``nav``: (order, title) when it is in the navigation. ``load`` runs in a thread of its own."""

    path: str
    template: str
    load: Callable[[Site, Index, Wanted], dict[str, Any]]
    nav: tuple[int, str] | None = None
