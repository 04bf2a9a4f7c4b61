"""Values the audit tests share: one call of each sort, a log in a temporary folder, a clock that is told the time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit import record as records
from audit.checkpoint import Signer, load_signer
from audit.clock import Clock
from audit.log import AuditLog
from audit.writer import Limits
from classifiers.call import Approval, ApprovalState, Definition, ExecutedBy, Outcome, ToolCall, ToolResult
from classifiers.effects import Action, Domain, Effect, Evidence, Opaque, OpaqueReason, Reversibility, Surface, Verb
from policies.verdict import (
    Finding,
    ObjectiveVerdict,
    PolicyResult,
    Reason,
    Result,
    Severity,
    TrailEntry,
    Verdict,
)

AROUND = records.Around(
    session={"id": "s-1", "turn": 7, "source": "header:x-session", "strength": "strong"},
    agent={"id": "coder-1", "version": "2.1", "key": "hmac-sha256:k1:00", "parent": None},
    exchange={"id": "r0-12", "protocol": "anthropic.messages", "upstream": "api.model.example:443", "model": "m-1"},
    origin={"host": "node1", "pod": None, "peer": {"addr": "127.0.0.1:51234", "uid": 1000, "pid": 7, "exe": "agent"}},
    src={"writer": "r0", "exchange": 12, "ordinal": 0},
    trust_ceiling="same_user",
)


@dataclass
class ToldClock(Clock):
    wall: int = 1_796_025_600_000_000_000  # 2026-11-30T08:00:00Z
    mono: int = 5_000_000_000

    def wall_ns(self) -> int:
        return self.wall

    def mono_ns(self) -> int:
        return self.mono

    def pass_s(self, seconds: float) -> None:
        self.wall += int(seconds * 1e9)
        self.mono += int(seconds * 1e9)


def shell_call(command: str = "rm -rf /srv/shop/cache", **more: Any) -> ToolCall:
    return ToolCall(
        name="Bash",
        arguments={"command": command},
        id="toolu_1",
        kind="tool_use",
        executed_by=ExecutedBy.CLIENT,
        arguments_valid=True,
        definition=Definition("Bash", schema_hash="sha256:aa", description_hash="sha256:bb"),
        **more,
    )


def shell_action(target: str = "/srv/shop/cache", start: int = 0, end: int = 22, **more: Any) -> Action:
    effect = Effect(
        Domain.FILESYSTEM,
        Verb.DELETE,
        target,
        destructive=True,
        reversibility=Reversibility.IRREVERSIBLE,
        evidence=Evidence("command", start, end),
    )
    return Action(Surface.SHELL, (effect,), parsers=("tree-sitter", "bashlex"), **more)


def verdicts() -> tuple[tuple[PolicyResult, ...], ObjectiveVerdict]:
    finding = Finding("fs.delete-protected-tree", Result.MATCH, Severity.CRITICAL, "policy.yaml:21:5", "would delete")
    trail = (TrailEntry(0, Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, "objective.yaml:9:7"),)
    policy = PolicyResult("acme.baseline", "active", version="1", hash="sha256:cc", findings=(finding,))
    return (policy,), ObjectiveVerdict(Verdict.OUTSIDE_SCOPE, Severity.HIGH, id="obj-1", trust="launcher", trail=trail)


def action_record(command: str = "rm -rf /srv/shop/cache", **more: Any) -> dict[str, Any]:
    policy, objective = verdicts()
    around = more.pop("around", AROUND)
    action = more.pop("action", None) or shell_action()
    return records.action(shell_call(command, **more), action, policy, objective, around=around)


def every_kind() -> list[dict[str, Any]]:
    """One record of each kind a caller builds (the log writes segment, checkpoint, clock_step, recovered itself)."""
    opaque = Action(Surface.SHELL, opaque=(Opaque(OpaqueReason.DYNAMIC_COMMAND, (0, 4), "$CMD"),))
    result = ToolResult(
        id="toolu_1",
        name="Bash",
        outcome=Outcome.ERROR,
        size_bytes=12,
        digest="ab" * 32,
        approval=Approval(ApprovalState.APPROVED, decided_by="lead@acme.example"),
        parts=({"type": "text", "source": "inline", "mime": "text/plain", "bytes": 12, "digest": "ab"},),
    )
    node = "node1-aaaaaa-w0:3"
    return [
        action_record(),
        records.action(shell_call("$CMD", complete=False), opaque, around=AROUND),
        records.outcome(result, action=node, around=AROUND),
        records.sighting(shell_call(), action=node, leg="mcp_request", around=AROUND),
        records.session_start(around=AROUND, objective={"id": "obj-1", "trust": "launcher", "bound_by": "path"}),
        records.session_changed(around=AROUND, objective={"id": "obj-2", "trust": "operator", "bound_by": "api"}),
        records.session_end(around=AROUND, reason="exit", summary={"calls": 2, "unanswered": 1, "incomplete": 1}),
        records.gap(writer="r0", exchanges=2, bytes_in=10, bytes_out=20, reason="spool full"),
        records.unread(content_type="application/grpc", size_bytes=99, reason="no provider", around=AROUND),
        records.opaque_flow(host="sync.example:443", bytes_in=1, bytes_out=2, duration_ms=3.5, reason="CONNECT"),
        records.refusal(status=400, reason="bare LF in a header", detail={"listener": "127.0.0.1:8790"}),
        records.disposition(action=node, state="benign", reason="restore drill", by="lead@acme.example"),
        records.attestation(statement="review of the week is done", by="lead@acme.example"),
        records.policy_loaded(policies=[{"id": "acme.baseline", "version": "1", "hash": "sha256:cc"}]),
        records.policy_reload_failed(
            file="policy.yaml", errors=["policy.yaml:3:1: unknown key"], active_hash="sha256:c"
        ),
        records.analysis_failed(stage="classifiers", error="ValueError: x", call=shell_call(), around=AROUND),
        records.retention(number=1, first_seq=0, last_seq=9, sha256="ab" * 32, reason="max_age"),
        records.unsealed(action=node, by="uid:1000", reason="incident 12"),
        records.recovered(torn_bytes=3, reason="unclean end", last_seq=7),
        records.clock_step(delta_ms=-3600000.0),
    ]


def signer(folder: Path) -> Signer:
    return load_signer(folder / "keys" / "log-signing.pem")


def open_log(folder: Path, **more: Any) -> AuditLog:
    more.setdefault("limits", Limits(idle_s=30.0, sync_s=0.005))
    return AuditLog(folder / "audit", more.pop("signer", None) or signer(folder), more.pop("guard", dict), **more)
