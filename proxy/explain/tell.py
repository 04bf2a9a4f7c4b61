"""One action told from the evidence up: what was asked, what it could do, how it was judged, what would change that.

In: a record and the later lines about it. Out: lines of plain text. Nothing is judged again here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.effects import (
    Breadth,
    Certainty,
    Condition,
    Domain,
    Effect,
    Evidence,
    PathScope,
    Privilege,
    Reversibility,
    Sensitivity,
    Tag,
    Verb,
)
from proxy.cli._table import printable
from proxy.explain.evidence import text_at, underlined
from proxy.places import Places, file_of

Record = dict[str, Any]


def tell(record: Record, later: list[Record], places: Places | None = None) -> Iterator[str]:
    """``places``: where the files lie that the record names."""
    yield from _call(record)
    yield from _effects(record)
    yield from _objective(record, places)
    yield from _policies(record, places)
    yield from _later(later)


def _call(record: Record) -> Iterator[str]:
    call, session, agent = record["call"], record.get("session") or {}, record.get("agent") or {}
    who = " ".join(str(agent[k]) for k in ("id", "version") if agent.get(k)) or "an unnamed agent"
    yield f"{record['id']}  {record['ts']}"
    where = f"session {session.get('id')}, turn {session.get('turn')}"
    yield f"{printable(call['name'])} asked for by {printable(who)}, {where}"
    yield f"requested, seen on the {call['observed_at']} leg, to be run by: {call['executed_by']}"
    if not call["complete"]:
        yield "the call was cut off before it closed: nothing below is complete"
    if call.get("arguments_error"):
        yield f"the arguments do not parse: {printable(call['arguments_error'])}"
    if record["privacy"].get("mode") in {"metadata", "none"}:
        yield f"arguments not kept ({record['privacy']['mode']} mode); {call.get('arguments_hmac') or ''}"


def _effects(record: Record) -> Iterator[str]:
    classification, arguments = record["classification"], record["call"].get("arguments")
    yield ""
    yield f"effects (surface {classification['surface']}, read by {', '.join(classification['parsers']) or 'rules'}):"
    for number, raw in enumerate(classification["effects"]):
        yield f"  {number}. {printable(str(effect_of(raw)))}"
        evidence = raw.get("evidence")
        text = text_at(arguments, evidence["path"]) if evidence else None
        if evidence and text is not None:
            yield from (f"       {line}" for line in underlined(text, evidence["start"], evidence["end"]))
    for flow in classification["flows"]:
        yield f"  flow {flow['kind']}: effect {flow['from']} feeds effect {flow['to']}"
    for opaque in classification["opaque"]:
        yield f"  not read: {opaque['reason']} {printable(opaque.get('text') or '')}"
    for note in classification.get("notes") or ():
        yield f"  note: {printable(note)}"


def _objective(record: Record, places: Places | None) -> Iterator[str]:
    objective = record.get("objective")
    yield ""
    if objective is None:
        yield "objective: not judged"
        return
    name = objective["id"] or "none declared"
    bound = f", bound by {objective['bound_by']}, trust {objective['trust']}" if objective["id"] else ""
    yield f"objective: {name}{bound}: {objective['verdict']} ({objective['severity']})"
    for entry in objective["trail"]:
        about = "the call" if entry["effect"] is None else f"effect {entry['effect']}"
        why = ", ".join(str(entry[k]) for k in ("reason", "note") if entry.get(k))
        yield f"  {about}: {entry['verdict']}{': ' + printable(why) if why else ''}"
        yield from _line_at(entry.get("at"), places)
        yield from _would_change(entry, record)


def _would_change(entry: Record, record: Record) -> Iterator[str]:
    """What in the objective (or the call) would give another verdict."""
    effects = record["classification"]["effects"]
    effect = effects[entry["effect"]] if entry["effect"] is not None and entry["effect"] < len(effects) else None
    match entry.get("reason"):
        case "not_in_scope" if effect is not None:
            target = f", target: [{effect['target']!r}]" if effect["target"] else ""
            yield f"      in scope with: - {{domain: {effect['domain']}, action: {effect['action']}{target}}}"
        case "tool_not_in_scope":
            yield f"      in scope with {record['call']['name']!r} in scope.tools"
        case "target_unknown":
            yield "      known with a target that can be read from the call (and the session's directory)"
        case "no_objective":
            yield "      judged with an objective bound to this session (--objective of serve and run)"
        case _:
            pass


def _policies(record: Record, places: Places | None) -> Iterator[str]:
    for policy in record.get("policy") or ():
        yield ""
        error = f": {policy['error']}" if policy.get("error") else ""
        stale = " (stale: the file on disk differs)" if policy["stale"] else ""
        yield f"policy {policy['id']} {policy.get('version') or ''} {policy['state']}{stale}{error}"
        for finding in policy["findings"]:
            effects = f", effects {', '.join(map(str, finding['effects']))}" if finding["effects"] else ""
            yield f"  {finding['result']} {finding['rule']} ({finding['severity']}{effects})"
            if finding["message"]:
                yield f"      {printable(finding['message'])}"
            yield from _line_at(finding["at"], places)
            if finding["unknown"]:
                yield f"      depends on: {', '.join(finding['unknown'])}"
            if finding["result"] == "match":
                yield "      quiet with an exception in a policy of yours (reason, approved_by, until)"


def _line_at(at: str | None, places: Places | None) -> Iterator[str]:
    """``file:line:col`` and the line itself, when the file is still there."""
    if not at:
        return
    yield f"      at {at}"
    name, line, _ = at.rsplit(":", 2) if at.count(":") >= 2 else (at, "", "")
    path = file_of(name, places)
    if line.isdigit() and path is not None:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if 0 < int(line) <= len(lines):
            yield f"         {printable(lines[int(line) - 1].strip())[:160]}"


def _later(later: list[Record]) -> Iterator[str]:
    for line in later:
        yield ""
        if line["kind"] == "outcome":
            said = f"{line['reported_by']} (asserted by the {line['asserted_by']})"
            yield f"reported {line['outcome']} by {said}, {line['ts']}"
        elif line["kind"] == "sighting":
            yield f"also seen on the {line['leg']} leg, matched by {line['matched_by']} ({line['strength']})"
            yield from (f"  the legs disagree about {d}" for d in line["disagrees"])
        else:
            yield f"{line['kind']} {line['id']}"


def effect_of(raw: Record) -> Effect:
    """An effect as a record keeps it, as the value it came from."""
    evidence = raw.get("evidence")
    scope = raw.get("path_scope")
    return Effect(
        domain=Domain(raw["domain"]),
        action=Verb(raw["action"]),
        reversibility=Reversibility(raw["reversibility"]),
        breadth=Breadth(raw["breadth"]),
        privilege=Privilege(raw["privilege"]),
        certainty=Certainty(raw["certainty"]),
        condition=Condition(raw["condition"]),
        sensitivity=Sensitivity(raw["sensitivity"]),
        target=raw["target"],
        target_raw=raw["target_raw"],
        destructive=raw["destructive"],
        where=raw["where"],
        dry_run=raw["dry_run"],
        filtered=raw["filtered"],
        path_scope=PathScope(scope) if scope else None,
        tags=tuple(Tag(t) for t in raw["tags"]),
        via=tuple(raw["via"]),
        evidence=Evidence(**evidence) if evidence else None,
    )
