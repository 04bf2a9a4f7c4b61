"""Policy figures: python -m benchmarks.policy. Time per action at 500 and 5,000 rules, load cold and cached, replay."""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from classifiers.effects import Action, Effect, Surface
from policies.policy_set import load
from policies.replay import replay
from policies.source import STARTER
from policies.state import SessionState
from policies.stored import actions
from policies.verdict import Subject

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DOMAINS = [
    "filesystem",
    "vcs",
    "packages",
    "process",
    "code",
    "network",
    "containers",
    "cloud",
    "database",
    "messaging",
    "services",
    "scheduler",
    "identity",
    "secrets",
    "environment",
]
ACTIONS = ["read", "create", "modify", "delete", "execute", "send", "receive", "control", "grant"]


def rules(count: int) -> str:
    """Rules as people write them: one or two effects entries with a target, half with a where or tools."""
    r = random.Random(1)
    out = ["policy: 1", "id: bench", "rules:"]
    for i in range(count):
        domain, action = r.choice(DOMAINS), r.choice(ACTIONS)
        out += [
            f"  - id: bench.rule-{i}",
            f"    description: Rule number {i} of the benchmark.",
            "    severity: medium",
            "    tags: [attack.T1485]",
            "    match:",
            "      effects:",
            f'        - {{domain: {domain}, action: {action}, target: ["/srv/app{i}/**", "/data/{i}/*.db"]}}',
        ]
        if i % 2:
            out += ["      tools: [bash, 'mcp__fs__*']", "      where: {agent.team: {not: dba}}"]
        out += [
            f"    message: rule {i}",
            "    tests:",
            f'      - {{action: {{tool: bash, effects: ["delete filesystem:/srv/app{i}/x"]}}, expect: no_match}}',
        ]
    return "\n".join(out) + "\n"


def subjects(count: int) -> list[Subject]:
    r = random.Random(2)
    effects = [
        Effect.parse(f"{r.choice(ACTIONS)} {r.choice(DOMAINS)}:/srv/app{r.randrange(600)}/x/y.txt")
        for _ in range(count)
    ]
    fields = {
        "call.name": "Bash",
        "agent.id": "coder",
        "agent.team": "web",
        "session.id": "s",
        "session.strength": "strong",
    }
    return [Subject(Action(Surface.SHELL, (e,)), fields, NOW) for e in effects]


def per_action_us(policies, given) -> tuple[float, float]:
    state = SessionState()
    for subject in given:
        policies.evaluate(subject, state)
    runs = []
    for _ in range(7):
        start = time.thread_time()
        for subject in given:
            policies.evaluate(subject, state)
        runs.append((time.thread_time() - start) / len(given) * 1e6)
    return statistics.median(runs), min(runs)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count, limit in ((500, 15), (5000, 150)):
            file = folder / f"{count}.yaml"
            file.write_text(rules(count))
            start = time.thread_time()
            policies = load([file], now=NOW)
            cold = time.thread_time() - start
            load([file], now=NOW, cache=folder / "cache")
            start = time.thread_time()
            policies = load([file], now=NOW, cache=folder / "cache")
            cached = time.thread_time() - start
            assert policies.policies[0].compiled is not None
            median, best = per_action_us(policies, subjects(2000))
            print(
                f"{count} rules: {median:.1f} us per action (best {best:.1f}; limit {limit}); load cold {cold * 1e3:.0f} ms, cached {cached * 1e3:.0f} ms"
            )
        starter = load([STARTER], now=NOW)
        print("starter library: {:.1f} us per action (best {:.1f})".format(*per_action_us(starter, subjects(2000))))
        log = folder / "log.jsonl"
        with log.open("w") as out:
            for i, subject in enumerate(subjects(20_000)):
                out.write(json.dumps(record(i, subject), separators=(",", ":")) + "\n")
        policy = load([folder / "500.yaml"], now=NOW).policies[0]
        start = time.thread_time()
        diff = replay(actions([str(log)]), None, policy)
        print(
            f"replay: {diff.actions / (time.thread_time() - start):.0f} records/s on one core against 500 rules (limit 20000)"
        )


def record(i: int, subject: Subject) -> dict:
    return {
        "schema": "onlooker.record/1", "kind": "action", "seq": i, "id": f"l:{i}", "ts": "2026-11-30T08:14:03.512Z",
        "session": {"id": "s", "strength": "strong", "turn": 3}, "agent": {"id": "coder", "version": "1"},
        "call": {"id": "t", "name": "Bash", "kind": "tool_use", "executed_by": "client", "advertised": "yes", "complete": True},
        "exchange": {"protocol": "anthropic.messages", "model": "m", "status": 200},
        "classification": subject.action.to_json(),
    }  # fmt: skip


if __name__ == "__main__":
    main()
