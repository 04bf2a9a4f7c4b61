"""What assembly says, applied: facts, history, offers, calls, results and what could not be read.

In: events of one exchange, in order. Out: records and session state. Each event is applied once in the life of the
log: what a restart reads again is passed over by its number.
"""

from __future__ import annotations

from audit import record
from classifiers.call import ObservedAt
from proxy.analyzer.around import around
from proxy.analyzer.calls import on_call
from proxy.analyzer.desk import Desk
from proxy.analyzer.results import on_result
from proxy.analyzer.tracked import Tracked
from proxy.events import CallClosed, Event, Facts, HistorySeen, ResultSeen, ToolsOffered, Unread
from proxy.sessions.cwd import stated_in_prompt
from proxy.sessions.session import Session


def apply_events(desk: Desk, tracked: Tracked, events: list[Event]) -> None:
    for event in events:  # the history may stand behind the tool list, and a session is found by it
        _note(tracked, event)
    for event in events:
        tracked.events += 1
        if tracked.events <= tracked.applied:
            continue
        _apply(desk, tracked, event)
        tracked.applied = tracked.events
    if tracked.session is not None:  # its prompt was asked where the agent works
        tracked.assembler.forget_request()


def _note(tracked: Tracked, event: Event) -> None:
    """What only concerns the exchange itself; also done for events an earlier life applied."""
    match event:
        case Facts(values):
            tracked.facts |= {k: v for k, v in values.items() if v is not None}
        case HistorySeen():
            tracked.history = event
        case _:
            pass


def _apply(desk: Desk, tracked: Tracked, event: Event) -> None:
    match event:
        case CallClosed(call):
            session_of(desk, tracked)
            if call.observed_at in _MODEL_SIDE:
                begin_turn(tracked)
            on_call(desk, tracked, call)
        case ResultSeen(result):
            session_of(desk, tracked)
            on_result(desk, tracked, result)
        case ToolsOffered():
            _offered(session_of(desk, tracked), event)
        case Unread():
            _unread(desk, tracked, event)
        case Facts():
            if tracked.session is not None:
                _facts(desk, tracked, tracked.session)
        case HistorySeen():
            pass


def session_of(desk: Desk, tracked: Tracked) -> Session:
    """The exchange's session, found when first needed: by then its request has been read."""
    desk.look_up_peer(tracked)
    if tracked.session is None:
        tracked.session = desk.book.find(
            tracked.exchange, tracked.identity, tracked.facts, tracked.history.prefix_hashes, tracked.wall_s
        )
        _where(desk, tracked, tracked.session)
        if not tracked.session.started:
            tracked.session.started = True
            desk.writer.write(
                record.session_start(around=around(tracked, desk.origin, 1), cwd=tracked.session.cwd.to_json())
            )
    return tracked.session


# Where a call shows that a model answered; a tool server's requests are no turns.
_MODEL_SIDE = {ObservedAt.MODEL_RESPONSE, ObservedAt.AGUI_EVENT, ObservedAt.TEXT}


def begin_turn(tracked: Tracked) -> None:
    """A response of the model (or of the application behind it) is a turn of its session, once."""
    if not tracked.turned and tracked.session is not None and tracked.protocol not in _TOOL_SERVERS:
        tracked.turned = True
        tracked.session.turn += 1


def end_of_exchange(desk: Desk, tracked: Tracked) -> None:
    if tracked.protocol is not None and tracked.exchange.response is not None:
        session_of(desk, tracked)
    session = tracked.session
    if session is None:
        return
    begin_turn(tracked)
    session.counts["exchanges"] += 1
    _facts(desk, tracked, session)
    for kind, amount in (tracked.facts.get("usage") or {}).items():
        if isinstance(amount, int):
            session.usage[kind] += amount
    if tracked.protocol in _TOOL_SERVERS:
        session.counts["bytes_out"] += tracked.bytes_in


# Upstreams that are not models: what is sent to them counts against an objective's budget of bytes.
_TOOL_SERVERS = {"mcp-http", "mcp-stdio", "mcp", "mcp-sse"}


def _where(desk: Desk, tracked: Tracked, session: Session) -> None:
    launch, facts = desk.config.launch, tracked.facts
    session.cwd.state(facts.get("cwd"), facts.get("cwd_source") or "turn_metadata")
    if launch is not None:
        session.cwd.state(launch.cwd, "launcher")
    agent, stated = tracked.identity.agent or session.agent, tracked.stated
    if stated is None:
        session.cwd.state(stated_in_prompt(agent, tracked.exchange.request_json), "prompt")
    else:
        session.cwd.state(stated.get(agent or ""), "prompt")


def _facts(desk: Desk, tracked: Tracked, session: Session) -> None:
    facts = tracked.facts
    said = facts.get("agent") or {}
    session.agent = session.agent or said.get("name")
    session.agent_version = session.agent_version or said.get("version")
    session.cwd.state(facts.get("cwd"), facts.get("cwd_source") or "turn_metadata")
    desk.book.responded(session, facts.get("response_id"))


def _offered(session: Session, event: ToolsOffered) -> None:
    for tool in event.definitions:
        if session.note_tool(tool.name, tool.schema_hash, tool.description_hash):
            session.said.add(f"changed:{tool.name}")


def _unread(desk: Desk, tracked: Tracked, event: Unread) -> None:
    desk.metrics.inc("onlooker_unread_total", reason=event.label)
    desk.metrics.inc("onlooker_unread_bytes_total", event.size_bytes)
    if tracked.session is not None:
        tracked.session.counts["unread"] += 1
        tracked.session.counts["unread_bytes"] += event.size_bytes
    desk.writer.write(
        record.unread(
            content_type=event.content_type,
            size_bytes=event.size_bytes,
            reason=event.reason,
            side=event.side,
            around=around(tracked, desk.origin),
        )
    )
