"""A closed call: classified, judged, recorded once; a second sight of one is joined to the first.

In: the call and the exchange that showed it. Out: an ``action``, ``sighting`` or ``analysis_failed`` record, and the
call known to its session so that results find it. A stage that fails costs its own part of the record, no more.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from audit import record
from classifiers.call import ApprovalState, ObservedAt, ToolCall
from classifiers.dispatch import unread
from classifiers.effects import Action, OpaqueReason, Reversibility
from policies.bind import Facts
from policies.declaration import is_declaration
from policies.verdict import ObjectiveVerdict, Result, Subject, Verdict
from proxy.analyzer.around import around
from proxy.analyzer.desk import Desk
from proxy.analyzer.fields import call_fields
from proxy.analyzer.guard import StageFailedError
from proxy.analyzer.judge import Judged
from proxy.analyzer.readings import read_in_all_ways
from proxy.analyzer.schema import checked_against_schema
from proxy.analyzer.tracked import Tracked, shown_again
from proxy.sessions.calls import KnownCall, arguments_digest, call_key
from proxy.sessions.legs import Place, Sight, leg_of, plain_name

CLASSIFIER = "onlooker/1"


def on_call(desk: Desk, tracked: Tracked, call: ToolCall) -> None:
    session = tracked.session
    assert session is not None
    session.legs.add(call.observed_at)
    if call.complete and (again := _seen_before(desk, tracked, call)):
        _sighting(desk, tracked, call, again)
        return
    supersedes = session.calls.latest(call.id, call.name) if call.reopened else None
    call = checked_against_schema(call) if call.complete else call
    action = _classified(desk, tracked, call)
    judged = _judged(desk, tracked, call, action) if call.complete and call.purpose == "action" else Judged()
    identity = desk.writer.write(
        record.action(
            call,
            action,
            judged.policy,
            judged.objective,
            around=around(tracked, desk.origin),
            classifier=CLASSIFIER,
            supersedes=supersedes.action if supersedes else None,
        )
    )
    desk.note_lag(tracked.last_mono_ns)
    if judged.attested is not None:
        desk.writer.write(record.attestation(**judged.attested, around=around(tracked, desk.origin, 4)))
    _bound(desk, tracked, judged)
    _remember(desk, tracked, call, action, identity)
    _count(desk, tracked, call, action, judged)


def _seen_before(desk: Desk, tracked: Tracked, call: ToolCall) -> tuple[KnownCall, str, str] | None:
    """(the earlier call, how it was matched, how surely), or None for a call nobody has shown yet."""
    session = tracked.session
    assert session is not None
    if not call.reopened and shown_again(tracked, call) and call.observed_at in _REPEATERS:
        earlier = session.calls.latest(call.id)
        if earlier is not None and earlier.name == call.name:
            return earlier, "history", "strong"
    legs, place = desk.book.legs, seen_at(desk, tracked)
    legs.note(call, tracked.wall_s, place)
    sight: Sight | None = legs.match(call, tracked.wall_s, tracked.trace(), place)
    return (sight.call, sight.by, sight.strength) if sight else None


def seen_at(desk: Desk, tracked: Tracked) -> Place:
    """The session and the process behind it: what `run` started is one caller, else the peer whose pid is known."""
    session, peer = tracked.session, tracked.exchange.peer or {}
    assert session is not None
    pid = peer.get("pid") or tracked.facts.get("caller_pid")
    caller = "launch" if desk.config.launch is not None else None if pid is None else f"pid {pid}"
    return Place(session.id, caller, session.strength == "weak")


# Wires that show the same object again by design: polling, and producers that emit an approved call anew.
_REPEATERS = {ObservedAt.SCHEMA_API, ObservedAt.AGUI_EVENT}


def _sighting(desk: Desk, tracked: Tracked, call: ToolCall, again: tuple[KnownCall, str, str]) -> None:
    session, (known, by, strength) = tracked.session, again
    assert session is not None
    # a harness may have a name and a shape of its own for the tool: what differs then is its wording
    reworded = plain_name(call.name) != plain_name(known.name)
    disagrees = [] if reworded or arguments_digest(call) == known.digest else ["arguments"]
    if by == "history" and not disagrees:
        return  # the same object on the same leg: nothing new was seen
    desk.writer.write(
        record.sighting(
            call,
            action=known.action,
            leg=leg_of(call),
            matched_by=by,
            strength=strength,
            disagrees=disagrees,
            around=around(tracked, desk.origin),
        )
    )
    if session.calls.latest(call.id, call.name) is not known:
        session.calls.add(known, call_key(call.id, call.name))  # its result may arrive on this leg


def _classified(desk: Desk, tracked: Tracked, call: ToolCall) -> Action:
    if call.purpose != "action":
        return Action(surface=unread("").surface)
    began = time.thread_time()
    try:
        action = desk.guard.run(
            "classify", lambda: read_in_all_ways(call, lambda one: desk.classify(one, desk.context(tracked)))
        )
    except StageFailedError as error:
        failed(desk, tracked, error, call)
        action = unread(f"the classifier failed: {error.error}", call.name)
    desk.metrics.inc("onlooker_classifier_seconds_total", time.thread_time() - began, surface=action.surface)
    return action


def _judged(desk: Desk, tracked: Tracked, call: ToolCall, action: Action) -> Judged:
    session = tracked.session
    assert session is not None
    changed = None if call.definition is None else f"changed:{call.name}" in session.said
    fields = call_fields(tracked, call, desk.config.agents, changed=changed, home=desk.home(tracked))
    subject = Subject(action, fields, datetime.fromtimestamp(tracked.wall_s, UTC))
    try:
        facts, declares = binding_facts(desk, tracked), _declares(desk, call)
        return desk.guard.run("policy", lambda: desk.judge.judge(subject, facts, declares))
    except StageFailedError as error:
        failed(desk, tracked, error, call)
        return Judged()


def _declares(desk: Desk, call: ToolCall) -> Any:
    """What a call of our MCP server's tool declares; None where the configuration does not offer that server."""
    return call.arguments if desk.config.mcp_server and is_declaration(call.name, call.server) else None


def binding_facts(desk: Desk, tracked: Tracked) -> Facts:
    session, request = tracked.session, tracked.exchange.request
    headers: dict[str, str] = {}
    for name, value in request.headers:
        headers.setdefault(name, value)
    return Facts(
        path_segment=_segment(desk, tracked.exchange.objective_segment),
        headers=headers,
        api_key_hmac=tuple(tracked.fingerprints.values()),
        session=session.id if session else None,
        agent=tracked.identity.agent or (session.agent if session else None),
        listener=tracked.listener or None,
    )


def _segment(desk: Desk, segment: str | None) -> str | None:
    """Inside ``run`` a segment counts only with the nonce the launcher made: the agent cannot choose another."""
    launch = desk.config.launch
    if segment is None or launch is None:
        return segment
    name, _, nonce = segment.rpartition(".")
    return name if launch.nonces.get(nonce) == name else None


def failed(desk: Desk, tracked: Tracked, error: StageFailedError, call: ToolCall | None) -> None:
    desk.metrics.inc("onlooker_analysis_failures_total", stage=error.stage)
    if tracked.session is not None:
        tracked.session.counts["analysis_failed"] += 1
    desk.writer.write(
        record.analysis_failed(stage=error.stage, error=error.error, call=call, around=around(tracked, desk.origin, 3))
    )


def _remember(desk: Desk, tracked: Tracked, call: ToolCall, action: Action, identity: str) -> None:
    session = tracked.session
    assert session is not None
    known = KnownCall(
        action=identity,
        id=call.id,
        name=call.name,
        digest=arguments_digest(call),
        leg=leg_of(call),
        at=tracked.wall_s,
        executed_by=call.executed_by,
        complete=call.complete,
        run_id=call.run_id,
        status=None if call.status is None else str(call.status),
        approval=call.approval.state,
        surface=action.surface,
        mono_ns=tracked.last_mono_ns,
    )
    session.calls.add(known)
    if call.complete:
        desk.book.legs.add(call, known, tracked.trace(), seen_at(desk, tracked))
    if action.cwd_after and call.executed_by == "client" and tracked.identity.shell_keeps_cwd:
        session.cwd.moved(action.cwd_after)


def _bound(desk: Desk, tracked: Tracked, judged: Judged) -> None:
    """The session's objective became known, or another is in force from here on: a line of its own."""
    session, binding = tracked.session, judged.binding
    assert session is not None
    said = None if binding is None else " ".join(str(binding.get(k)) for k in ("id", "hash", "bound_by", "declared"))
    if said is None or said == session.objective:
        return
    session.objective = said
    effective = {**(binding or {}), "effective_from": tracked.src()}
    desk.writer.write(record.session_changed(around=around(tracked, desk.origin, 2), objective=effective))


def _count(desk: Desk, tracked: Tracked, call: ToolCall, action: Action, judged: Judged) -> None:
    session, metrics = tracked.session, desk.metrics
    assert session is not None
    if not call.complete:
        session.counts["incomplete"] += 1
        metrics.inc("onlooker_incomplete_calls_total")
        return
    session.counts["calls"] += 1
    session.counts["not_read"] += bool(action.opaque)
    session.counts["approvals"] += call.approval.state is not ApprovalState.NONE
    metrics.inc("onlooker_calls_total", protocol=tracked.protocol or "unknown", surface=str(action.surface))
    for effect in action.effects:
        metrics.inc("onlooker_effects_total", domain=str(effect.domain), action=str(effect.action))
    for opaque in action.opaque:
        metrics.inc("onlooker_opaque_actions_total", reason=str(opaque.reason))
        if opaque.reason is OpaqueReason.PARSERS_DISAGREE:
            metrics.inc("onlooker_parser_disagreements_total")
    if judged.objective is not None:
        metrics.inc("onlooker_verdicts_total", verdict=str(judged.objective.verdict))
        worst = irreversible_verdict(action, judged.objective)
        if worst is not None:
            metrics.inc("onlooker_irreversible_verdicts_total", verdict=str(worst))
    flagged = False
    for finding in (f for p in judged.policy for f in p.findings):
        metrics.inc("onlooker_rule_results_total", rule=finding.rule, result=str(finding.result))
        if finding.result is Result.MATCH and finding.status == "stable":
            metrics.inc("onlooker_findings_total", severity=str(finding.severity))
            flagged = True
    session.counts["flagged"] += flagged


def irreversible_verdict(action: Action, judged: ObjectiveVerdict) -> Verdict | None:
    """The worst verdict on an effect nobody can undo; a verdict on the call as a whole is one on each of them."""
    lost = {at for at, effect in enumerate(action.effects) if effect.reversibility is Reversibility.IRREVERSIBLE}
    said = {entry.verdict for entry in judged.trail if entry.effect is None or entry.effect in lost}
    order = tuple(Verdict)  # mildest first
    return max(said, key=order.index) if lost and said else None
