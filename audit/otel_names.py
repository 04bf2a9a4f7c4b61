"""OpenTelemetry names used by the OTLP sink, in one place.

The GenAI conventions are still in development and have moved to a repository of their own, so they are written down
here and not imported; ``onlooker.*`` are ours. Read 2026-11.
"""

from __future__ import annotations

from typing import Any, Final

EVENT_PREFIX: Final = "onlooker."
SPAN_NAME: Final = "execute_tool"
OPERATION: Final = "gen_ai.operation.name"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"

# Attribute → path in the record; what is null there is left out.
FROM_RECORD: Final[dict[str, str]] = {
    "gen_ai.tool.name": "call.name",
    "gen_ai.tool.call.id": "call.id",
    "gen_ai.tool.type": "call.kind",
    "gen_ai.agent.name": "agent.id",
    "gen_ai.agent.id": "agent.key",
    "gen_ai.agent.version": "agent.version",
    "gen_ai.conversation.id": "session.id",
    "gen_ai.provider.name": "exchange.provider",
    "gen_ai.request.model": "exchange.model",
    "mcp.method.name": "exchange.mcp_method",
    "mcp.session.id": "exchange.mcp_session",
    "mcp.protocol.version": "exchange.mcp_protocol_version",
    "jsonrpc.request.id": "exchange.jsonrpc_id",
    "process.executable.name": "origin.peer.exe",
    "onlooker.record.id": "id",
    "onlooker.record.seq": "seq",
    "onlooker.log.id": "log_id",
    "onlooker.record.kind": "kind",
    "onlooker.action.id": "action",
    "onlooker.session.source": "session.source",
    "onlooker.session.strength": "session.strength",
    "onlooker.session.turn": "session.turn",
    "onlooker.protocol": "exchange.protocol",
    "onlooker.trust_ceiling": "trust_ceiling",
    "onlooker.surface": "classification.surface",
    "onlooker.complete": "classification.complete",
    "onlooker.destructive": "classification.destructive",
    "onlooker.reversibility": "classification.reversibility",
    "onlooker.objective.id": "objective.id",
    "onlooker.objective.trust": "objective.trust",
    "onlooker.verdict": "objective.verdict",
    "onlooker.outcome": "outcome",
    "onlooker.outcome.reported_by": "reported_by",
    "onlooker.checkpoint.note": "checkpoint.note",
}

# Attribute → field of each effect; the values of all effects, in order.
FROM_EFFECTS: Final[dict[str, str]] = {
    "onlooker.effect.domain": "domain",
    "onlooker.effect.action": "action",
    "onlooker.effect.target": "target",
    "onlooker.effect.reversibility": "reversibility",
}

# security_rule.* of the worst finding; all of them by id in onlooker.rules.
RULE_NAME: Final = "security_rule.name"
RULE_UUID: Final = "security_rule.uuid"
RULE_VERSION: Final = "security_rule.version"
RULESET: Final = "security_rule.ruleset.name"

# OTel severity numbers (logs data model): INFO, INFO2, WARN, ERROR, FATAL.
SEVERITY_NUMBER: Final = {None: 9, "info": 9, "low": 10, "medium": 13, "high": 17, "critical": 21}
ERROR_TYPE: Final = {"error": "tool_error", "timed_out": "timeout", "cancelled": "cancelled", "rejected": "rejected"}


def look(record: dict[str, Any], path: str) -> Any:
    """The value at a dotted path, or None."""
    value: Any = record
    for key in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
