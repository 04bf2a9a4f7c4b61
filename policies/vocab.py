"""The vocabulary: every field a rule may name, with its type, closed set, meaning, source and place in the record.

In: the enums of ``classifiers`` and ``policies.verdict``. Out: ``FIELDS``, one table from which the policy checker, the
editors' JSON Schema, the record schema (``record_properties``) and the docs are generated.

A row is (name, type, meaning, source, record path). Types: string, boolean, integer, number, strings (a list), or an
enum (its values; ``unknown`` among them counts as not known unless a rule names it). A field of a list type matches
when any of its items does. ``effect.*`` fields are read of the one effect a rule is looking at.
"""
# ruff: noqa: E501 - a table reads by the row

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from classifiers.call import Advertised, ApprovalState, ExecutedBy, ObservedAt, Outcome, Status
from classifiers.effects import (
    Breadth,
    Certainty,
    Condition,
    Domain,
    FlowKind,
    OpaqueReason,
    PathScope,
    Privilege,
    Reversibility,
    Sensitivity,
    Surface,
    Tag,
    Verb,
)
from policies.verdict import Reason, Severity, Verdict


class Strength(StrEnum):
    """How sure the session key is (09-contracts: session keys)."""

    STRONG = "strong"
    INFERRED = "inferred"
    WEAK = "weak"


class Trust(StrEnum):
    """Who could have chosen the binding, most trusted first."""

    OPERATOR = "operator"
    LAUNCHER = "launcher"
    CLAIMED = "claimed"
    AGENT = "agent"


class Weekday(StrEnum):
    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


@dataclass(frozen=True, slots=True)
class Field:
    """One word of the vocabulary. ``values`` is empty unless ``type`` is enum or enums."""

    name: str
    type: str  # string | boolean | integer | number | strings | enum | enums
    doc: str
    source: str
    record: str | None = None
    values: tuple[str, ...] = ()

    @property
    def many(self) -> bool:
        return self.type in {"strings", "enums"}

    @property
    def ordered(self) -> bool:
        return self.type in {"integer", "number"} or self.name in ORDERED

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema of one value of this field in a record; null is "not known"."""
        item: dict[str, Any] = {"enum": list(self.values)} if self.values else {"type": _JSON[self.type]}
        if self.many:
            return {"type": "array", "items": item, "description": self.doc}
        if self.values:
            return {"enum": [*self.values, None], "description": self.doc}
        return {"type": [item["type"], "null"], "description": self.doc}


_JSON = {"string": "string", "strings": "string", "boolean": "boolean", "integer": "integer", "number": "number"}

Row = tuple[str, Any, str, str, str | None]

# fmt: off
_EFFECT: tuple[Row, ...] = (
    ("domain", Domain, "What kind of thing the effect is on.", "classifiers", "domain"),
    ("action", Verb, "What would be done to it.", "classifiers", "action"),
    ("target", "string", "The thing itself in canonical form: a path, host, package, cloud resource; null when unresolved.", "classifiers", "target"),
    ("target_raw", "string", "The target as written, kept when it could not be resolved.", "classifiers", "target_raw"),
    ("destructive", "boolean", "Whether something that exists would be lost; null when the request cannot tell.", "classifiers", "destructive"),
    ("reversibility", Reversibility, "How it could be undone (OWASP AISVS scale).", "classifiers", "reversibility"),
    ("breadth", Breadth, "How much one effect touches.", "classifiers", "breadth"),
    ("where", "string", "local, provider, unknown, or host:, container:, pod: with a name.", "classifiers", "where"),
    ("privilege", Privilege, "With whose rights.", "classifiers", "privilege"),
    ("certainty", Certainty, "How directly the effect was read from the call.", "classifiers", "certainty"),
    ("condition", Condition, "Whether it happens always, or only on a branch, later, or after asking.", "classifiers", "condition"),
    ("dry_run", "boolean", "The command says it only shows what it would do.", "classifiers", "dry_run"),
    ("path_scope", PathScope, "Which part of the machine a path is in.", "classifiers/data", "path_scope"),
    ("sensitivity", Sensitivity, "What kind of sensitive file or host the target is.", "classifiers/data", "sensitivity"),
    ("tags", (Tag,), "Risk tags.", "classifiers", "tags"),
    ("via", "strings", "The chain that led to it, for example sudo, bash -c.", "classifiers", "via"),
    ("filtered", "boolean", "A filter decides which members of a recursive target are meant (find -name).", "classifiers", "filtered"),
)
_ACTION: tuple[Row, ...] = (
    ("classification.surface", Surface, "Which kind of text was read: shell, sql, http and so on.", "classifiers", "classification.surface"),
    ("classification.complete", "boolean", "Every operation of the call was read.", "classifiers", "classification.complete"),
    ("classification.destructive", "boolean", "Any effect destroys; null when that cannot be known.", "classifiers", "classification.destructive"),
    ("classification.reversibility", Reversibility, "The worst of the effects.", "classifiers", "classification.reversibility"),
    ("classification.opaque", (OpaqueReason,), "Why parts could not be read.", "classifiers", "classification.opaque[].reason"),
    ("classification.flows", (FlowKind,), "Kinds of flow between effects.", "classifiers", "classification.flows[].kind"),
    ("classification.claim_contradicted", "boolean", "A tool's own annotation (readOnlyHint, …) says less than its effects.", "classifiers", None),
    ("call.id", "string", "The wire's id of the call.", "providers", "call.id"),
    ("call.name", "string", "The tool's name on the wire.", "providers", "call.name"),
    ("call.canonical", "string", "mcp:<server>/<tool> for MCP tools, else the name.", "policies", None),
    ("call.kind", "string", "The wire's own word for the call.", "providers", "call.kind"),
    ("call.executed_by", ExecutedBy, "Which side runs it.", "providers", "call.executed_by"),
    ("call.advertised", Advertised, "Whether a present tool list offered it.", "providers", "call.advertised"),
    ("call.arguments_valid", "boolean", "The arguments parse as JSON.", "providers", "call.arguments_valid"),
    ("call.schema_valid", "boolean", "They fit the advertised schema; null when not checked.", "analyzer", "call.schema_valid"),
    ("call.arguments_error", "string", "Why they do not.", "providers", "call.arguments_error"),
    ("call.status", Status, "The reported lifecycle state.", "providers", "call.status"),
    ("call.end_reason", "string", "A short phrase for how it ended.", "providers", "call.end_reason"),
    ("call.complete", "boolean", "False: cut off before it closed; policy leaves it out.", "providers", "call.complete"),
    ("call.purpose", "string", "action, structured_output, context or question.", "providers", "call.purpose"),
    ("call.server", "string", "The MCP server, when known.", "providers", "call.server"),
    ("call.server_known", "boolean", "The MCP server was seen in an earlier session or is in the configuration.", "analyzer", None),
    ("call.observed_at", ObservedAt, "Which leg showed it.", "providers", "call.observed_at"),
    ("call.asserted_by", "string", "Which side said so: request, response or hook.", "providers", "call.asserted_by"),
    ("call.batch", "integer", "Response or turn ordinal in the exchange.", "providers", "call.batch"),
    ("call.ordinal", "integer", "Place among parallel calls.", "providers", "call.ordinal"),
    ("call.approval.state", ApprovalState, "What the protocol said about approval.", "providers", "call.approval.state"),
    ("call.approval.decided_by", "string", "Who decided, as reported.", "providers", "call.approval.decided_by"),
    ("call.client_would_reject", "boolean", "The official client would have stopped here.", "providers", "call.client_would_reject"),
    ("call.reopened", "boolean", "It supersedes an earlier closing of the same id.", "providers", "call.reopened"),
    ("call.conflicts", "strings", "Readings of the same call that disagree.", "providers", "call.conflicts"),
    ("call.unanswered", "string", "continued: the conversation went on without an answer to it.", "providers", None),
    ("call.history_disagrees", "boolean", "A request re-sent this call's history differently from what was seen.", "analyzer", None),
    ("call.definition.schema_hash", "string", "Hash of the advertised schema.", "analyzer", "call.definition.schema_hash"),
    ("call.definition.changed", "boolean", "The tool's definition changed since it was first offered.", "analyzer", None),
    ("call.arguments_secret", "boolean", "The redaction step found a secret in the arguments.", "audit", None),
    ("call.arguments_hash", "string", "Keyed hash of the arguments.", "analyzer", None),
    ("call.same_arguments", "integer", "How many times running this tool was called with these very arguments.", "policies (session state)", None),
    ("exchange.protocol", "string", "The API spoken, for example anthropic.messages.", "analyzer", "exchange.protocol"),
    ("exchange.upstream", "string", "host:port of the other side.", "relay", "exchange.upstream"),
    ("exchange.status", "integer", "HTTP status.", "relay", "exchange.status"),
    ("exchange.bytes_in", "integer", "Bytes of the request side.", "relay", "exchange.bytes_in"),
    ("exchange.bytes_out", "integer", "Bytes of the response side.", "relay", "exchange.bytes_out"),
    ("model.name", "string", "The model as named on the wire.", "providers", "exchange.model"),
    ("usage.input", "integer", "Input tokens, as reported.", "providers", "exchange.usage.input"),
    ("usage.output", "integer", "Output tokens, as reported.", "providers", "exchange.usage.output"),
    ("usage.cached", "integer", "Cached input tokens, as reported.", "providers", "exchange.usage.cached"),
    ("usage.reasoning", "integer", "Reasoning tokens, as reported.", "providers", "exchange.usage.reasoning"),
)
_AROUND: tuple[Row, ...] = (
    ("session.id", "string", "The session key.", "sessions", "session.id"),
    ("session.source", "string", "Where the key came from, for example header:X-Claude-Code-Session-Id.", "sessions", "session.source"),
    ("session.strength", Strength, "How sure the key is; weak keys leave sequences, rates and budgets undetermined.", "sessions", "session.strength"),
    ("session.turn", "integer", "The turn's number.", "sessions", "session.turn"),
    ("session.cwd", "string", "Working directory.", "sessions", "session.cwd.value"),
    ("session.home", "string", "Home directory; ~ and this path are one value.", "sessions", None),
    ("session.counts.calls", "integer", "Calls so far, this one included.", "policies (session state)", None),
    ("session.counts.effects", "integer", "Effects so far.", "policies (session state)", None),
    ("session.counts.reads", "integer", "Read and receive effects so far.", "policies (session state)", None),
    ("session.counts.creates", "integer", "Create effects so far.", "policies (session state)", None),
    ("session.counts.modifies", "integer", "Modify effects so far.", "policies (session state)", None),
    ("session.counts.deletes", "integer", "Delete effects so far.", "policies (session state)", None),
    ("session.counts.executes", "integer", "Execute effects so far.", "policies (session state)", None),
    ("session.counts.sends", "integer", "Send effects so far.", "policies (session state)", None),
    ("session.counts.hosts", "integer", "Different network hosts so far.", "policies (session state)", None),
    ("session.counts.bytes_out", "integer", "Bytes sent to upstreams that are not models.", "analyzer", None),
    ("session.signals.dir_change", "boolean", "This action left the directory tree the session worked in.", "policies (session state)", None),
    ("session.signals.file_type_shift", "boolean", "It changes a kind of file the session had not touched.", "policies (session state)", None),
    ("session.signals.time_gap", "boolean", "More than ten minutes since the session's last action.", "policies (session state)", None),
    ("session.signals.read_to_write", "boolean", "The first change after only reading.", "policies (session state)", None),
    ("agent.id", "string", "Which agent, as far as known.", "sessions", "agent.id"),
    ("agent.version", "string", "Its version, as it says.", "sessions", "agent.version"),
    ("agent.key", "string", "Keyed fingerprint of its credential.", "relay", "agent.key"),
    ("agent.parent", "string", "The agent that started it.", "sessions", "agent.parent"),
    ("agent.team", "string", "Team, from the configuration's agents list.", "configuration", None),
    ("agent.owner", "string", "Owner, from the configuration's agents list.", "configuration", None),
    ("agent.registered", "boolean", "The configuration's agents list names it.", "configuration", None),
    ("env.name", "string", "The environment's name, from the configuration (prod, dev, …).", "configuration", None),
    ("origin.host", "string", "The machine the relay runs on.", "relay", "origin.host"),
    ("origin.pod", "string", "Kubernetes pod, when known.", "relay", "origin.pod"),
    ("origin.peer.uid", "integer", "Uid of the connecting process.", "relay", "origin.peer.uid"),
    ("origin.peer.exe", "string", "Its program.", "relay", "origin.peer.exe"),
    ("time.hour", "integer", "Hour of the record's time, 0 to 23, in the policy's timezone.", "policies", None),
    ("time.minute", "integer", "Minute, 0 to 59.", "policies", None),
    ("time.weekday", Weekday, "Day of the week.", "policies", None),
    ("time.date", "string", "YYYY-MM-DD.", "policies", None),
    ("data.sensitivity", (Sensitivity,), "Kinds of sensitive data this action would bring into the context.", "policies", None),
    ("data.escalates", "boolean", "A more sensitive kind than any the session had read.", "policies (session state)", None),
    ("memory.classified", "boolean", "A memory write says its classification and retention.", "classifiers", None),
    ("objective.declared", "boolean", "An objective is bound to this action.", "policies", None),
    ("objective.id", "string", "Which.", "policies", "objective.id"),
    ("objective.trust", Trust, "Who could have chosen the binding.", "policies", "objective.trust"),
    ("objective.verdict", Verdict, "The objective verdict of this action.", "policies", "objective.verdict"),
    ("objective.severity", Severity, "Its severity.", "policies", "objective.severity"),
    ("objective.reasons", (Reason,), "Why.", "policies", "objective.trail[].reason"),
    ("objective.widened", "boolean", "The agent declared more than the operator's objective allows for.", "policies", None),
    ("objective.first_without", "boolean", "First action of the session without an objective.", "policies (session state)", None),
    ("result.outcome", Outcome, "What was reported back.", "providers", "outcome"),
    ("result.reported_by", "string", "harness, tool_server, provider, agent or hook.", "providers", "reported_by"),
    ("result.asserted_by", "string", "request, response or hook.", "providers", "asserted_by"),
    ("result.size_bytes", "integer", "Size of the result.", "providers", "size_bytes"),
    ("result.duration_ms", "number", "Time from call to result, as far as seen.", "analyzer", "duration_ms"),
    ("result.error", "string", "The reported error.", "providers", "error"),
    ("agui.pending_disagrees", "boolean", "The declared list of pending calls is not the derived one.", "providers", None),
    ("agui.result_fabricated", "boolean", "The producer answered a tool the front end owns.", "providers", None),
)
# fmt: on

# Enums whose order has a meaning, mildest first: lt, lte, gt, gte may be used on them.
ORDERED = {"objective.verdict", "objective.severity"}


def _field(row: Row) -> Field:
    name, kind, doc, source, record = row
    if isinstance(kind, str):
        return Field(name, kind, doc, source, record)
    enum, many = (kind[0], True) if isinstance(kind, tuple) else (kind, False)
    return Field(name, "enums" if many else "enum", doc, source, record, tuple(v.value for v in enum))


EFFECT_FIELDS: dict[str, Field] = {row[0]: _field(row) for row in _EFFECT}
FIELDS: dict[str, Field] = {
    **{
        f"effect.{n}": Field(f"effect.{n}", f.type, f.doc, f.source, f"classification.effects[].{n}", f.values)
        for n, f in EFFECT_FIELDS.items()
    },
    **{row[0]: _field(row) for row in (*_ACTION, *_AROUND)},
}


def effect_properties() -> dict[str, Any]:
    """JSON Schema properties of one effect as it stands in a record."""
    return {name: f.json_schema() for name, f in EFFECT_FIELDS.items()}


def record_properties(prefix: str) -> dict[str, Any]:
    """JSON Schema properties of the record object at ``prefix`` (``call``, ``session``, …): leaves only."""
    start = prefix + "."
    rows = ((f.record[len(start) :], f) for f in FIELDS.values() if f.record and f.record.startswith(start))
    return {name: f.json_schema() for name, f in rows if "." not in name and "[" not in name}
