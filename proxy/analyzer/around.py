"""What surrounds a record: session, agent, exchange, origin, place in the capture.

In: the exchange being read. Out: ``audit.record.Around``. Absent is null: not known, never a default.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from audit.record import Around
from proxy.analyzer.tracked import Tracked

_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def origin_of_this_machine() -> dict[str, Any]:
    """Host, and pod and namespace where the kubelet tells them (downward API names POD_NAME, POD_NAMESPACE)."""
    namespace = os.environ.get("POD_NAMESPACE")
    if namespace is None and _NAMESPACE.exists():
        namespace = _NAMESPACE.read_text(encoding="ascii").strip()
    return {"host": socket.gethostname(), "pod": os.environ.get("POD_NAME"), "namespace": namespace}


def trust_ceiling(peer: dict[str, Any] | None) -> str | None:
    """``same_user`` when the caller could read our keys and rewrite our log; it cannot be told for remote peers."""
    uid = (peer or {}).get("uid")
    return "same_user" if uid is not None and uid in (os.getuid(), 0) else None


def around(tracked: Tracked, origin: dict[str, Any], slot: int = 0) -> Around:
    return Around(
        session=None if tracked.session is None else tracked.session.to_record(),
        agent=agent(tracked),
        exchange=exchange(tracked),
        origin={**origin, "peer": tracked.exchange.peer},
        src=tracked.src(slot),
        trust_ceiling=trust_ceiling(tracked.exchange.peer),
    )


def agent(tracked: Tracked) -> dict[str, Any]:
    session, said = tracked.session, tracked.facts.get("agent") or {}
    name = tracked.identity.agent or said.get("name") or (session.agent if session else None)
    version = tracked.identity.version or said.get("version") or (session.agent_version if session else None)
    return {
        "id": name,
        "version": version,
        "instance": tracked.identity.agent_id or tracked.facts.get("agent_id"),
        "parent": tracked.identity.parent_agent_id or tracked.facts.get("parent_agent_id"),
        "key": next(iter(tracked.fingerprints.values()), None),
    }


def exchange(tracked: Tracked) -> dict[str, Any]:
    response = tracked.exchange.response
    kind = "" if response is None else response.get("content-type")
    return {
        "id": tracked.place,
        "protocol": tracked.protocol,
        "upstream": tracked.exchange.upstream,
        "route": tracked.exchange.route,
        "model": tracked.facts.get("model"),
        "status": None if response is None else response.status,
        "streamed": None if response is None else tracked.exchange.websocket or "stream" in kind or "ndjson" in kind,
        "bytes_in": tracked.bytes_in,
        "bytes_out": tracked.bytes_out,
        "traceparent": tracked.facts.get("traceparent") or tracked.exchange.request.get("traceparent") or None,
        "usage": tracked.facts.get("usage"),
    }
