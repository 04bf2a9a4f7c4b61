"""A reported result: which call it answers, and the line that says so.

In: the result and the exchange that showed it. Out: an ``outcome`` record, once per call; a status or approval that
changed gives one too. Results of calls nobody saw are counted, not recorded: a history may claim anything.
"""

from __future__ import annotations

from datetime import UTC, datetime

from audit import record
from classifiers.call import ApprovalState, ToolResult
from classifiers.effects import Action, Surface
from policies.verdict import PolicyResult, Subject
from proxy.analyzer.around import around
from proxy.analyzer.calls import binding_facts, failed
from proxy.analyzer.desk import Desk
from proxy.analyzer.fields import exchange_fields, result_fields
from proxy.analyzer.guard import StageFailedError
from proxy.analyzer.tracked import Tracked
from proxy.sessions.calls import KnownCall, call_key


def on_result(desk: Desk, tracked: Tracked, result: ToolResult) -> None:
    known = _answered(tracked, result) if result.final else _changed(tracked, result)
    if known is None:
        return
    session = tracked.session
    assert session is not None
    if result.final:
        known.answer, known.outcome = result.digest or "", str(result.outcome)
        session.counts["outcomes"] += 1
    if result.status is not None:
        known.status = str(result.status)
    if result.approval.state is not ApprovalState.NONE:
        known.approval = result.approval.state
    policy = _judged(desk, tracked, result, known)
    desk.writer.write(record.outcome(result, action=known.action, around=around(tracked, desk.origin), policy=policy))


def _answered(tracked: Tracked, result: ToolResult) -> KnownCall | None:
    """The call a final result answers; results of one id are counted within the request that lists them."""
    session = tracked.session
    assert session is not None
    key = call_key(result.id, result.name or "")
    nth = tracked.results[key]
    tracked.results[key] += 1
    found = session.calls.answers(result, nth)
    if found is None and session.calls.latest(result.id, result.name) is None:
        session.counts["results_without_call"] += 1
    return found


def _changed(tracked: Tracked, result: ToolResult) -> KnownCall | None:
    """The call whose status or approval this sight changes, or None when it says nothing new."""
    session = tracked.session
    assert session is not None
    known = session.calls.latest(result.id, result.name)
    if known is None:
        return None
    status = None if result.status is None else str(result.status)
    approval = result.approval.state
    says_status = status is not None and status != known.status
    says_approval = approval is not ApprovalState.NONE and approval != known.approval
    return known if says_status or says_approval or result.extra.keys() & _NEWS else None


# What a sight may tell beside status and approval (docs/protocols.md); a provider tells each once.
_NEWS = frozenset({"disagrees", "history_disagrees", "pending_disagrees", "unanswered"})


def _duration_ms(tracked: Tracked, known: KnownCall) -> float | None:
    """From the call to its result. By the monotonic clock, so that a stepping wall clock does not lengthen it."""
    if 0 < known.mono_ns <= tracked.last_mono_ns:
        return (tracked.last_mono_ns - known.mono_ns) / 1e6
    return (tracked.wall_s - known.at) * 1000 if known.at else None


def _judged(desk: Desk, tracked: Tracked, result: ToolResult, known: KnownCall) -> tuple[PolicyResult, ...]:
    """Rules over ``result.*`` are evaluated when the outcome arrives; the action's own verdict stands."""
    fields = {
        "call.id": result.id,
        "call.name": known.name,
        "call.executed_by": known.executed_by,
        **exchange_fields(tracked, desk.config.agents, desk.home(tracked)),
        **result_fields(result, _duration_ms(tracked, known)),
    }
    subject = Subject(Action(Surface(known.surface)), fields, datetime.fromtimestamp(tracked.wall_s, UTC))
    try:
        return tuple(desk.guard.run("result", lambda: desk.judge.judge_result(subject, binding_facts(desk, tracked))))
    except StageFailedError as error:
        failed(desk, tracked, error, None)
        return ()
