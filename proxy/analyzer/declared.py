"""What agents declared of themselves, session by session: taken up where it narrows, refused where it widens.

In: a declaration (from a call on the wire, or through our MCP server) and what the session works under. Out: the
objective to narrow by from the next call on, and the fields of the record that says so. Bounded: the idlest go first.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from policies.bind import Binding
from policies.declaration import Offer, weigh
from policies.objective import Objective

KEPT_SESSIONS = 10_000


class Declared:
    def __init__(self) -> None:
        self.by_session: OrderedDict[str, Objective] = OrderedDict()

    def of(self, session: str | None) -> Objective | None:
        return self.by_session.get(session) if session else None

    def weigh(self, arguments: Any, session: str | None, bound: Binding, home: str | None = None) -> Offer:
        base = bound.objective if bound.trust != "agent" else None
        return weigh(arguments, base, self.of(session), home)

    def take(self, offer: Offer, session: str | None) -> None:
        """In force from the next call of this session on; a refused one leaves what was there."""
        if offer.taken is None or not session:
            return
        self.by_session[session] = offer.taken
        self.by_session.move_to_end(session)
        while len(self.by_session) > KEPT_SESSIONS:
            self.by_session.popitem(last=False)

    def end(self, session: str) -> None:
        self.by_session.pop(session, None)


def attested(offer: Offer, session: str | None, via: str) -> dict[str, Any]:
    """Statement and detail of the attestation. The agent's words are kept as said; they decide nothing."""
    state = "refused" if offer.refused else "in_force" if session else "session_unknown"
    said = offer.objective
    return {
        "statement": f"the agent declared objective {offer.id}: {state}",
        "by": "agent",
        "detail": {
            "declared": offer.id,
            "hash": said.hash if said else None,
            "session": session,
            "state": state,
            "reason": str(offer.refused) if offer.refused else None,
            "wider": offer.wider,
            "unclear": offer.unclear,
            "beside": offer.beside,
            "via": via,
            "said": said.statement if said else None,
            "problem": offer.problem or None,
        },
    }
