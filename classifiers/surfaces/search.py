"""The search surface: a question sent to a search service, and its answers received. Role: query."""

from __future__ import annotations

from classifiers.context import Context
from classifiers.effects import Action, Domain, Surface, Verb
from classifiers.gather import Gather
from classifiers.surface import CallParts


class SearchSurface:
    name = "search"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:  # noqa: ARG002 - the seam's shape
        out = Gather(Surface.SEARCH, at=call_parts.path_of("query"))
        query = call_parts.values.get("query")
        out.add(Domain.NETWORK, Verb.RECEIVE, span=(0, len(query) if isinstance(query, str) else 0))
        return out.action()


SURFACE = SearchSurface()
