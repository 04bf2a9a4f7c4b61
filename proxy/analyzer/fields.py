"""The vocabulary fields known about one action, for ``policies.verdict.Subject``.

In: the exchange being read and its call. Out: dotted names to values; a name that is absent is *unknown*
(``policies/vocab.py`` says what each means). What policies derive themselves is left to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from classifiers.call import ApprovalState, ToolCall, ToolResult
from proxy.analyzer.around import agent
from proxy.analyzer.tracked import Tracked

_CALL = (
    *("id", "name", "kind", "executed_by", "advertised", "arguments_valid", "schema_valid", "arguments_error"),
    *("end_reason", "complete", "purpose", "server", "observed_at", "asserted_by", "batch", "ordinal"),
    *("client_would_reject", "reopened"),
)


def call_fields(
    tracked: Tracked, call: ToolCall, known_agents: Mapping[str, Any], *, changed: bool | None, home: str | None
) -> dict[str, Any]:
    """``changed``: the tool's definition differs from the first one offered. ``known_agents``: the configuration's."""
    fields: dict[str, Any] = {f"call.{name}": getattr(call, name) for name in _CALL}
    fields["call.status"] = str(call.status) if call.status is not None else None
    fields["call.approval.state"] = str(call.approval.state)
    fields["call.approval.decided_by"] = call.approval.decided_by
    fields["call.conflicts"] = list(call.conflicts)
    fields["call.definition.changed"] = changed
    fields["call.definition.schema_hash"] = call.definition.schema_hash if call.definition else None
    return {**fields, **exchange_fields(tracked, known_agents, home)}


def exchange_fields(tracked: Tracked, known_agents: Mapping[str, Any], home: str | None) -> dict[str, Any]:
    session, exchange, who = tracked.session, tracked.exchange, agent(tracked)
    usage, peer = tracked.facts.get("usage") or {}, exchange.peer or {}
    fields = {
        "exchange.protocol": tracked.protocol,
        "exchange.upstream": exchange.upstream or None,
        "exchange.status": None if exchange.response is None else exchange.response.status,
        "exchange.bytes_in": tracked.bytes_in,
        "exchange.bytes_out": tracked.bytes_out,
        "model.name": tracked.facts.get("model"),
        **{f"usage.{k}": usage.get(k) for k in ("input", "output", "cached", "reasoning")},
        **{f"agent.{k}": who[k] for k in ("id", "version", "key", "parent")},
        **agent_fields(who["id"], known_agents),
        "origin.peer.uid": peer.get("uid"),
        "origin.peer.exe": peer.get("exe"),
        "session.home": home,
    }
    if session is not None:
        fields |= {
            "session.id": session.id,
            "session.source": session.source,
            "session.strength": session.strength,
            "session.turn": session.turn,
            "session.cwd": session.cwd.value,
            "session.counts.bytes_out": session.counts["bytes_out"],
        }
    return fields


def agent_entry(name: str | None, known: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the configuration's ``agents:`` says of this agent: the first name or glob that fits."""
    found = next((v for k, v in known.items() if name is not None and fnmatchcase(name, k)), None)
    return found if isinstance(found, Mapping) else None


def agent_fields(name: str | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Team and owner from the configuration's ``agents:`` (names may be globs); unknown when the agent is."""
    entry = agent_entry(name, known)
    if entry is None:
        return {"agent.registered": False if known and name is not None else None}
    return {"agent.registered": True, "agent.team": entry.get("team"), "agent.owner": entry.get("owner")}


def result_fields(result: ToolResult, duration_ms: float | None) -> dict[str, Any]:
    """What the result says, and what it tells about its call only now."""
    fields: dict[str, Any] = {
        "result.outcome": str(result.outcome),
        "result.reported_by": result.reported_by,
        "result.asserted_by": result.asserted_by,
        "result.size_bytes": result.size_bytes,
        "result.duration_ms": result.duration_ms if result.duration_ms is not None else duration_ms,
        "result.error": result.error,
    }
    said = result.extra
    late = {
        "agui.result_fabricated": said.get("answered_by_producer"),
        "agui.pending_disagrees": said.get("pending_disagrees"),
        "call.history_disagrees": said.get("history_disagrees") or said.get("disagrees"),
        "call.unanswered": said.get("unanswered"),
        "call.advertised": said.get("advertised"),
        "call.approval.state": None if result.approval.state is ApprovalState.NONE else str(result.approval.state),
    }
    return {**fields, **{name: value for name, value in late.items() if value is not None}}


# Fields whose value may only be known when a result, or a later sight of the call, arrives.
LATE_FIELDS = frozenset(
    {
        "agui.result_fabricated",
        "agui.pending_disagrees",
        "call.history_disagrees",
        "call.unanswered",
        "call.advertised",
        "call.approval.state",
    }
)
