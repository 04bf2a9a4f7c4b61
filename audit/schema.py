"""The record's fields as one table, and what is made of it: JSON Schema, the tables of docs/record.md.

In: nothing. Out: ``record_schema()`` (draft 2020-12) and ``table(kind)``. A row with an empty type is a word of the
vocabulary (``policies/vocab.py``): type, closed set and meaning come from there, so the two cannot say different things.

A row: (path, type, meaning). ``[]`` after a name: a list of objects. Types: string, integer, number, boolean, object
(open), any, strings, integers; ``?``: may be null.
"""
# ruff: noqa: E501 - a table reads by the row

from __future__ import annotations

from typing import Any

from policies.vocab import EFFECT_FIELDS, FIELDS, Field

Row = tuple[str, str, str]
Schema = dict[str, Any]

_ENVELOPE: tuple[Row, ...] = (
    ("schema", "string", "onlooker.record/1."),
    ("kind", "string", "Which of the kinds below."),
    ("seq", "integer", "Place in the log, from 0, without holes; also the leaf's number in the tree."),
    ("ts", "string", "Wall clock when it was written: RFC 3339, UTC, milliseconds."),
    ("mono_ns", "integer", "Monotonic clock of this boot; durations are differences of it."),
    ("boot_id", "string", "Which boot mono_ns belongs to."),
    ("log_id", "string", "host-random-writer; a new one when a log could not be continued."),
    ("id", "string", "<log_id>:<seq>, the record's name and the idempotency key of every sink."),
    ("session", "object?", "id, turn, source, strength (strong, inferred, weak), and what else the analyzer knows."),
    ("agent", "object?", "id, version, key (keyed fingerprint of its credential), parent."),
    ("exchange", "object?", "id, protocol, upstream, model, status, bytes, usage, traceparent: the exchange it was seen in."),
    ("origin", "object?", "host, pod, peer {addr, uid, pid, exe}: where the traffic came from."),
    ("trust_ceiling", "string?", "same_user: the agent runs as the user onlooker runs as and could have altered the log."),
    ("src", "object?", "writer, exchange, ordinal: the place in the capture; recovery writes each place once."),
    ("privacy", "object?", "mode, redactions [{path, kind}], notes."),
    ("prev", "string", "sha256 of the line before this one, without its LF."),
)  # fmt: skip

_CALL: tuple[Row, ...] = (
    ("call.id", "any", "The wire's id, its JSON type kept."),
    *((f"call.{n}", "", "") for n in ("kind", "executed_by", "advertised", "arguments_valid", "arguments_error")),
    ("call.name", "string?", "The tool's name on the wire; null in mode none."),
    ("call.schema_valid", "any", "true, false, null, or not_checked."),
    *((f"call.{n}", "", "") for n in ("complete", "end_reason", "server", "batch", "ordinal")),
    ("call.status", "any", "The reported lifecycle state; unknown numbers and names are kept."),
    *((f"call.{n}", "string?", m) for n, m in (("parent_message", "The message it came in."), ("run_id", "AG-UI run."), ("thread_id", "AG-UI thread."), ("subagent_id", "Sub-agent that made it."), ("stream_id", "Which conversation of a socket."), ("caller", "A program that made the call."))),
    *((f"call.{n}", "", "") for n in ("observed_at", "asserted_by", "purpose", "client_would_reject", "reopened")),
    ("call.evidence", "string", "requested: a call is a request, never an effect."),
    ("call.approval", "object", "state, deadline, decided_at, decided_by, asserted_by; only what the protocol said."),
    ("call.definition", "object?", "schema_hash, description_hash of the tool as it was offered."),
    ("call.conflicts", "strings", "Readings that disagree."),
    ("call.extra", "object", "Wire facts without a field of their own."),
    ("call.arguments", "any", "The arguments, as the privacy mode keeps them; null when it does not."),
    ("call.arguments_text", "string?", "Their text when it is not JSON."),
    ("call.arguments_hmac", "string?", "hmac-sha256:<key id>:<hex> of the arguments: equal arguments, equal value."),
    ("call.sealed", "object?", "alg, day, nonce, text: the arguments under that day's key (mode sealed)."),
)  # fmt: skip

_POLICY: tuple[Row, ...] = (
    ("policy[].id", "string", "The policy."),
    ("policy[].state", "string", "active or not_loaded."),
    ("policy[].version", "string?", "Its version."),
    ("policy[].hash", "string?", "SHA-256 of what was in force."),
    ("policy[].stale", "boolean", "The file on disk is another."),
    ("policy[].error", "string?", "Why it is not loaded."),
    ("policy[].effects_open", "boolean", "The action was not read in full: rules that did not match are no_match_so_far."),
    ("policy[].findings", "any", "rule, result, severity, at (file:line:col), message, status, effects, unknown, excepted_by, tags, below (only something below a recursive target matches)."),
)  # fmt: skip

KINDS: dict[str, tuple[str, tuple[Row, ...]]] = {
    "action": (
        "One closed call (or, with call.complete false, one that was cut off), what it could do, and how it was judged. Never changed: later lines refer to its id.",
        (
            *_CALL,
            ("supersedes", "string?", "The id of the action this reading replaces."),
            *((f"classification.{n}", "", "") for n in ("surface", "complete", "destructive", "reversibility")),
            *((f"classification.effects[].{n}", "", "") for n in EFFECT_FIELDS),
            ("classification.effects[].evidence", "object?", "path, start, end: code points of the argument string it was read in."),
            ("classification.flows", "any", "kind, from, to: one effect feeds another (indexes into effects)."),
            ("classification.opaque", "any", "reason, span, text: what could not be read."),
            ("classification.parsers", "strings", "Who read it."),
            ("classification.classifier", "string?", "Surface and its version."),
            ("classification.knowledge", "string?", "Hash of the knowledge files."),
            ("classification.notes", "strings", "Why, for people."),
            ("classification.claimed", "object", "What the tool says of itself: claims, never effects."),
            ("classification.effect_count", "integer", "In mode none, instead of the effects."),
            ("objective", "object?", "id, hash, trust, bound_by, verdict, severity, trail [{effect, verdict, reason, at, note}]."),
            *_POLICY,
        ),
    ),
    "outcome": (
        "What was *reported* of an action, by whom. Not that it happened.",
        (
            ("action", "string?", "The action's id; null when no such call was seen."),
            ("call", "object", "id and name as reported."),
            *((f, "", "") for f in ("outcome", "reported_by", "asserted_by", "size_bytes", "duration_ms", "error")),
            ("final", "boolean", "False: a sight of status or approval on the way."),
            ("source", "string", "stream, request or reply."),
            ("digest", "string?", "SHA-256 of the content, which is not kept."),
            ("lossy", "boolean", "Something of it could not be described."),
            ("status", "any", "As reported."),
            *((n, "string?", m) for n, m in (("end_reason", "A short phrase."), ("run_id", "AG-UI run."), ("thread_id", "AG-UI thread."), ("stream_id", "Which conversation of a socket."))),
            ("approval", "object", "As in call.approval."),
            ("parts", "any", "type, source, mime, bytes, digest of each part."),
            ("extra", "object", "Wire facts without a field of their own."),
            *_POLICY,
        ),
    ),
    "sighting": (
        "Another leg carried the same call.",
        (
            ("action", "string", "The action it is."),
            ("leg", "string", "Where it was seen, for example mcp_request."),
            ("disagrees", "strings", "Fields in which the legs differ."),
            ("matched_by", "string?", "How the legs were joined."),
            ("strength", "string?", "How sure the join is."),
            ("call", "object", "id, name, kind, server, status on this leg."),
        ),
    ),
    "session": (
        "A session began, changed (binding, tools) or ended.",
        (
            ("event", "string", "start, changed or end."),
            ("objective", "object?", "The binding: id, hash, trust, bound_by, effective_from, statement, declared (the agent's own, which narrows it)."),
            ("tools", "any", "name, schema_hash, description_hash of the tools offered."),
            ("cwd", "object?", "value and where it is known from."),
            ("coverage", "string?", "What of this client is not seen."),
            ("reason", "string", "Why it ended."),
            ("summary", "object", "calls, unanswered, incomplete, unread_bytes, opaque_flows, gaps, scope lines used and unused."),
        ),
    ),
    "gap": ("What could not be captured: offered = recorded + gaps.", (("gap", "object", "writer, exchanges, bytes_in, bytes_out, first_exchange, last_exchange, reason."),)),
    "unread": ("Captured bytes nobody could read.", (("unread", "object", "content_type, size_bytes, reason, side."),)),
    "opaque_flow": ("A tunnel that was forwarded unseen.", (("flow", "object", "host, bytes_in, bytes_out, duration_ms, reason."),)),
    "refusal": ("The relay answered itself.", (("refusal", "object", "status, reason, detail."),)),
    "disposition": (
        "A person's judgement of a finding.",
        (("action", "string", "The action judged."), ("disposition", "object", "state (benign, escalated, open), reason, by.")),
    ),
    "attestation": ("A statement by a named party, kept as said.", (("attestation", "object", "statement, by, detail."),)),
    "policy_loaded": (
        "What is in force from here on.",
        (("policies", "any", "id, version, hash, bundle, …"), ("objectives", "any", "id, hash, …")),
    ),
    "policy_reload_failed": ("A file was refused, the last good one stays.", (("reload", "object", "file, errors, active_hash."),)),
    "analysis_failed": (
        "A stage of the analysis failed on a call; the call is kept without effects.",
        (("failure", "object", "stage, error, quarantined."), *_CALL, ("call", "object?", "The call, when there was one.")),
    ),
    "checkpoint": ("Signs the records before it.", (("checkpoint", "object", "size, root, note (C2SP signed note, whole)."),)),
    "segment": ("First line of each file.", (("segment", "object", "number, key_id, origin, previous_manifest (SHA-256), policy_hashes."),)),
    "retention": ("A closed file was deleted on purpose; its manifest stays.", (("retention", "object", "number, first_seq, last_seq, sha256, reason; log_id when a whole earlier log went."),)),
    "recovered": ("The log was taken up again after an unclean end.", (("recovery", "object", "torn_bytes, reason, previous_log, last_seq."),)),
    "clock_step": ("The wall clock moved against the monotonic one.", (("clock", "object", "delta_ms."),)),
    "unsealed": (
        "Somebody opened sealed arguments (in the log of <state>/access).",
        (("action", "string", "Whose."), ("unsealed", "object", "by, reason.")),
    ),
}  # fmt: skip

_BY_PATH: dict[str, Field] = {f.record: f for f in FIELDS.values() if f.record}
_TYPES: dict[str, Schema] = {
    **{t: {"type": t} for t in ("string", "integer", "number", "boolean", "object")},
    "any": {},
    "strings": {"type": "array", "items": {"type": "string"}},
}
_LATE = frozenset(
    {
        "privacy",
        "sealed",
        "arguments_hmac",
        "effect_count",
        "reason",
        "summary",
        "tools",
        "cwd",
        "coverage",
        "objective",
    }
)


def table(kind: str) -> list[Row]:
    """The kind's own rows with types and meanings filled in."""
    return [_filled(row) for row in KINDS[kind][1]]


def envelope() -> list[Row]:
    return list(_ENVELOPE)


def record_schema() -> Schema:
    """JSON Schema of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "onlooker.record/1",
        "oneOf": [_kind_schema(kind) for kind in KINDS],
    }


def _kind_schema(kind: str) -> Schema:
    root: Schema = {"type": "object", "properties": {}, "additionalProperties": False, "title": kind}
    for row in (*_ENVELOPE, *KINDS[kind][1]):
        if row[0] != "call" or kind != "analysis_failed":
            _place(root, row)
    root["properties"]["schema"]["const"] = "onlooker.record/1"
    root["properties"]["kind"]["const"] = kind
    if kind == "analysis_failed":
        root["properties"]["call"] = {"anyOf": [root["properties"]["call"], {"type": "null"}]}
    return root


def _place(root: Schema, row: Row) -> None:
    path, _, _ = row
    at = root
    *parents, leaf = path.split(".")
    for name in parents:
        _require(at, name.removesuffix("[]"))
        inner: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
        if name.endswith("[]"):
            at = at["properties"].setdefault(name[:-2], {"type": "array", "items": inner})["items"]
        else:
            at = at["properties"].setdefault(name, inner)
    _require(at, leaf)
    at["properties"][leaf] = _leaf(row)


def _require(at: Schema, name: str) -> None:
    if name not in _LATE and name not in at.setdefault("required", []):
        at["required"].append(name)


def _leaf(row: Row) -> Schema:
    path, kind, meaning = row
    if not kind:
        return _word(path).json_schema()
    found = dict(_TYPES[kind.removesuffix("?")])
    if kind.endswith("?"):
        found["type"] = [found["type"], "null"]
    return {**found, "description": meaning}


def _word(path: str) -> Field:
    start, _, name = path.partition("effects[].")
    return EFFECT_FIELDS[name] if start == "classification." and name else _BY_PATH[path]


def _filled(row: Row) -> Row:
    path, kind, _ = row
    if kind:
        return row
    word = _word(path)
    values = f" One of {', '.join(word.values)}." if word.values else ""
    return (path, word.type, word.doc + values)
