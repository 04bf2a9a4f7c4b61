"""Record builders: the seam's values in, one plain dict per record out, in the shape of ``docs/record.md``.

Pure: no clock, no key, no file. The log adds seq, ts, mono_ns, boot_id, log_id, id and prev (``audit/log.py``);
the guard takes out what may not be kept (``audit/privacy.py``), so a builder hands over the arguments whole.
Absent is null: "not reported", never a default. Longer than most files here: one builder per kind, none apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from classifiers.call import Approval, Definition, ToolCall, ToolResult
from classifiers.effects import Action
from policies.verdict import ObjectiveVerdict, PolicyResult

SCHEMA = "onlooker.record/1"
Record = dict[str, Any]
JsonMap = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a record, JSON-ready; None is not known.

    ``src`` {writer, exchange, ordinal} names the place in the capture; recovery skips what the log already has by it.
    ``privacy``: the mode a rule or route asked for; None takes the surface's default.
    """

    session: JsonMap | None = None
    agent: JsonMap | None = None
    exchange: JsonMap | None = None
    origin: JsonMap | None = None
    src: JsonMap | None = None
    trust_ceiling: str | None = None
    privacy: str | None = None


NOTHING = Around()


def action(
    call: ToolCall,
    action: Action,
    policy: Sequence[PolicyResult] = (),
    objective: ObjectiveVerdict | None = None,
    *,
    around: Around = NOTHING,
    classifier: str | None = None,
    knowledge: str | None = None,
    supersedes: str | None = None,
) -> Record:
    """One closed (or cut off: ``call.complete`` False) call with what it could do and how it was judged."""
    return {
        **_head("action", around),
        "supersedes": supersedes,
        "call": _call(call),
        "classification": {
            **action.to_json(),
            "classifier": classifier,
            "knowledge": knowledge,
            "notes": list(action.notes),
            "claimed": action.claimed,
        },
        "objective": None if objective is None else objective.to_json(),
        "policy": [p.to_json() for p in policy],
        "privacy": {"mode": around.privacy},
    }


def outcome(
    result: ToolResult, *, action: str | None, around: Around = NOTHING, policy: Sequence[PolicyResult] = ()
) -> Record:
    """What was *reported* of action ``action`` (an id; None: no such call was seen). Never that it happened."""
    body = {k: getattr(result, k) for k in _REPORTED}
    return {
        **_head("outcome", around),
        "action": action,
        "call": {"id": result.id, "name": result.name},
        **body,
        "approval": asdict(result.approval),
        "parts": [dict(p) for p in result.parts],
        "extra": result.extra,
        "policy": [p.to_json() for p in policy],
        "privacy": {"mode": around.privacy},
    }


def sighting(
    call: ToolCall,
    *,
    action: str,
    leg: str,
    matched_by: str | None = None,
    strength: str | None = None,
    disagrees: Sequence[str] = (),
    around: Around = NOTHING,
) -> Record:
    """Another leg (``leg``, e.g. mcp_request) carried the call that is already recorded as ``action``.

    ``matched_by`` id | trace | arguments | history; ``strength`` strong | inferred.
    """
    return {
        **_head("sighting", around),
        "action": action,
        "leg": leg,
        "matched_by": matched_by,
        "strength": strength,
        "disagrees": list(disagrees),
        "call": {"id": call.id, "name": call.name, "kind": call.kind, "server": call.server, "status": call.status},
    }


def session_start(
    *,
    around: Around,
    objective: JsonMap | None = None,
    tools: Sequence[Definition] = (),
    cwd: JsonMap | None = None,
    coverage: str | None = None,
) -> Record:
    """A session began. ``objective`` is the binding (id, hash, trust, bound_by, effective_from, statement, hits)."""
    return {
        **_head("session", around),
        "event": "start",
        "objective": None if objective is None else dict(objective),
        "tools": [_definition(t) | {"name": t.name} for t in tools],
        "cwd": None if cwd is None else dict(cwd),
        "coverage": coverage,
    }


def session_changed(*, around: Around, objective: JsonMap | None = None, tools: Sequence[Definition] = ()) -> Record:
    """The binding or the offered tools changed; effective from here on, nothing is retroactive."""
    return {**session_start(around=around, objective=objective, tools=tools), "event": "changed"}


def session_end(*, around: Around, summary: JsonMap, reason: str) -> Record:
    """``summary``: calls, unanswered, incomplete, unread_bytes, opaque_flows, gaps, scope_used, scope_unused."""
    return {**_head("session", around), "event": "end", "reason": reason, "summary": dict(summary)}


def gap(
    *,
    writer: str,
    exchanges: int,
    bytes_in: int,
    bytes_out: int,
    reason: str,
    first_exchange: int = 0,
    last_exchange: int = 0,
    around: Around = NOTHING,
) -> Record:
    """What could not be captured, coalesced and counted: offered = recorded + gaps."""
    counts = {"exchanges": exchanges, "bytes_in": bytes_in, "bytes_out": bytes_out}
    span = {"first_exchange": first_exchange, "last_exchange": last_exchange}
    return {**_head("gap", around), "gap": {"writer": writer, **counts, **span, "reason": reason}}


def unread(
    *, content_type: str, size_bytes: int, reason: str, side: str = "response", around: Around = NOTHING
) -> Record:
    """Captured bytes nobody could read."""
    body = {"content_type": content_type, "size_bytes": size_bytes, "reason": reason, "side": side}
    return {**_head("unread", around), "unread": body}


def opaque_flow(
    *, host: str, bytes_in: int, bytes_out: int, duration_ms: float, reason: str, around: Around = NOTHING
) -> Record:
    """A tunnel that was forwarded unseen."""
    body = {"host": host, "bytes_in": bytes_in, "bytes_out": bytes_out, "duration_ms": duration_ms, "reason": reason}
    return {**_head("opaque_flow", around), "flow": body}


def refusal(*, status: int, reason: str, detail: JsonMap | None = None, around: Around = NOTHING) -> Record:
    """The relay answered itself (docs/refusals.md)."""
    return {
        **_head("refusal", around),
        "refusal": {"status": status, "reason": reason, "detail": dict(detail or {})},
    }


def disposition(*, action: str, state: str, reason: str, by: str | None, around: Around = NOTHING) -> Record:
    """A person's judgement of a finding: ``state`` benign | escalated | open. The action's line stays as it is."""
    return {
        **_head("disposition", around),
        "action": action,
        "disposition": {"state": state, "reason": reason, "by": by},
    }


def attestation(*, statement: str, by: str | None, detail: JsonMap | None = None, around: Around = NOTHING) -> Record:
    """A statement by a named party, kept as said."""
    body = {"statement": statement, "by": by, "detail": dict(detail or {})}
    return {**_head("attestation", around), "attestation": body}


def policy_loaded(
    *, policies: Sequence[JsonMap], objectives: Sequence[JsonMap] = (), around: Around = NOTHING
) -> Record:
    """What is active from here on: each {id, version, hash, files, rules, tests_failed}."""
    return {
        **_head("policy_loaded", around),
        "policies": [dict(p) for p in policies],
        "objectives": [dict(o) for o in objectives],
    }


def policy_reload_failed(
    *, file: str, errors: Sequence[str], active_hash: str | None, around: Around = NOTHING
) -> Record:
    """The file was refused, the last good policy (``active_hash``) stays."""
    body = {"file": file, "errors": list(errors), "active_hash": active_hash}
    return {**_head("policy_reload_failed", around), "reload": body}


def recovered(*, torn_bytes: int, reason: str, previous_log: str | None = None, last_seq: int | None = None) -> Record:
    """The log was taken up again after an unclean end; ``torn_bytes`` of a half-written line were cut off."""
    body = {"torn_bytes": torn_bytes, "reason": reason, "previous_log": previous_log, "last_seq": last_seq}
    return {**_head("recovered", NOTHING), "recovery": body}


def clock_step(*, delta_ms: float, around: Around = NOTHING) -> Record:
    """The wall clock moved against the monotonic one by ``delta_ms``; order is by seq."""
    return {**_head("clock_step", around), "clock": {"delta_ms": delta_ms}}


def analysis_failed(
    *, stage: str, error: str, quarantined: bool = False, call: ToolCall | None = None, around: Around = NOTHING
) -> Record:
    """Stage ``stage`` raised; the call, when there was one, is kept without effects."""
    body = {"stage": stage, "error": error, "quarantined": quarantined}
    return {
        **_head("analysis_failed", around),
        "failure": body,
        "call": None if call is None else _call(call),
        "privacy": {"mode": around.privacy},
    }


def checkpoint(*, size: int, root: str, note: str) -> Record:
    """Covers the ``size`` records before it; ``note`` is the C2SP signed note, whole."""
    return {**_head("checkpoint", NOTHING), "checkpoint": {"size": size, "root": root, "note": note}}


def segment(
    *, number: int, key_id: str, origin: str, previous_manifest: str | None, policy_hashes: Sequence[str]
) -> Record:
    """First line of each file of the log; ``previous_manifest`` is the SHA-256 of the closed file's manifest."""
    body = {"number": number, "key_id": key_id, "origin": origin, "previous_manifest": previous_manifest}
    return {**_head("segment", NOTHING), "segment": {**body, "policy_hashes": list(policy_hashes)}}


def retention(
    *, number: int | None, first_seq: int, last_seq: int, sha256: str, reason: str, log_id: str | None = None
) -> Record:
    """A closed file was deleted on purpose; its manifest stays, so the chain is still provable across it.

    With ``log_id`` (and no number) a whole earlier log went; ``sha256`` is then its last line's.
    """
    body = {"log_id": log_id, "number": number, "first_seq": first_seq, "last_seq": last_seq}
    return {**_head("retention", NOTHING), "retention": {**body, "sha256": sha256, "reason": reason}}


def unsealed(*, action: str, by: str | None, reason: str) -> Record:
    """Somebody opened the sealed arguments of ``action``."""
    return {**_head("unsealed", NOTHING), "action": action, "unsealed": {"by": by, "reason": reason}}


def _head(kind: str, around: Around) -> Record:
    parts = {k: getattr(around, k) for k in ("session", "agent", "exchange", "origin")}
    return {
        "schema": SCHEMA,
        "kind": kind,
        **{k: None if v is None else dict(v) for k, v in parts.items()},
        "trust_ceiling": around.trust_ceiling,
        "src": None if around.src is None else dict(around.src),
    }


# ToolCall fields that go into the record as they are; the rest is shaped below.
_PLAIN = (
    *("id", "name", "kind", "executed_by", "advertised", "arguments_valid", "arguments_error", "schema_valid"),
    *("complete", "status", "end_reason", "server", "batch", "ordinal", "parent_message", "run_id", "thread_id"),
    *("subagent_id", "stream_id", "observed_at", "asserted_by", "purpose", "caller", "client_would_reject", "reopened"),
)
# ToolResult fields of an outcome record, at its top level.
_REPORTED = (
    *("outcome", "final", "source", "asserted_by", "reported_by", "size_bytes", "digest", "lossy", "duration_ms"),
    *("status", "end_reason", "error", "run_id", "thread_id", "stream_id"),
)


def _call(call: ToolCall) -> Record:
    approval: Approval = call.approval
    unparsed = call.arguments_valid is not True
    return {
        **{k: getattr(call, k) for k in _PLAIN},
        "evidence": "requested",
        "approval": asdict(approval),
        "definition": None if call.definition is None else _definition(call.definition),
        "conflicts": list(call.conflicts),
        "extra": call.extra,
        "arguments": call.arguments,
        "arguments_text": call.arguments_text if unparsed else None,
    }


def _definition(definition: Definition) -> Record:
    return {"schema_hash": definition.schema_hash, "description_hash": definition.description_hash}
