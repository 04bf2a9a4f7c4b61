"""The review over many records: how long a page takes, and how long the first indexing. ``python -m benchmarks review``

ONLOOKER_REVIEW_RECORDS (default 100000) records are generated into a temporary log, so that one million can be measured
by hand: it needs about 2 GB of disk and two minutes. Each page is asked through the real application, five times; printed
are the median and the worst.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import tempfile
import time
from pathlib import Path

import orjson
from aiohttp.test_utils import TestClient, TestServer

from proxy.control.app import make_app
from proxy.review.index import Index
from proxy.settings import Config, SpoolSettings

COUNT = int(os.environ.get("ONLOOKER_REVIEW_RECORDS", "100000"))
LOG, SEGMENT = "node1-000000-w0", 20_000
DOMAINS = ["filesystem"] * 6 + ["vcs", "network", "packages", "process", "cloud", "database", "secrets"]
VERBS = ["read"] * 6 + ["modify", "create", "execute", "send", "delete"]
RULES = [f"team.rule-{n}" for n in range(60)]
SEVERITIES = ["low"] * 6 + ["medium"] * 3 + ["high", "critical"]
PAGES = {
    "overview": "/review/",
    "overview, 7 days": "/review/?days=7",
    "actions, first page": "/review/actions",
    "newest first": "/review/actions?order=newest",
    "one rule": "/review/actions?rule=team.rule-7",
    "domain and effect": "/review/actions?domain=cloud&effect=delete",
    "two broad filters": "/review/actions?domain=filesystem&verdict=undetermined",
    "nothing fits": "/review/actions?domain=filesystem&session=none",
    "agent by glob": "/review/actions?agent=coder-1*",
    "text in many targets": "/review/actions?q=src",
    "text in one target": "/review/actions?q=file-4711.py",
    "text in no target": "/review/actions?q=not-there",
    "text and severity": "/review/actions?q=src&severity=high",
    "one day": "/review/actions?since=2026-11-29&until=2026-11-29",
    "three filters, newest": "/review/actions?domain=network&verdict=outside_scope&severity=medium&order=newest",
    "sessions": "/review/sessions",
    "one session": "/review/sessions/s-17",
    "policies": "/review/policies",
    "objectives": "/review/objectives",
}
LIMITS_MS = {"overview": 300, "actions, first page": 300}


def main():
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        (state / "audit").mkdir()
        size = generate(state / "audit", COUNT)
        started = time.perf_counter()
        index = Index(state / "audit", state / "review")
        index.catch_up()
        took = time.perf_counter() - started
        disk = sum(p.stat().st_size for p in (state / "review").iterdir())
        index.close()
        print(
            f"{COUNT:,} records, {size / 1e6:,.0f} MB; indexed in {took:.1f} s ({COUNT / took:,.0f}/s), {disk / 1e6:,.0f} MB"
        )
        asyncio.run(ask(state))


async def ask(state):
    config = Config(state=str(state), spool=SpoolSettings(str(state / "spool")))
    async with TestClient(TestServer(make_app(config, "t", dict))) as client:
        headers = {"Authorization": "Bearer t"}
        await client.get("/review/login", headers=headers)
        print(f"{'page':<24}{'median ms':>10}{'worst ms':>10}{'limit ms':>10}")
        for name, path in PAGES.items():
            took = []
            for _ in range(5):
                started = time.perf_counter()
                answer = await client.get(path, headers=headers)
                await answer.read()
                took.append((time.perf_counter() - started) * 1e3)
                assert answer.status in {200, 404}, (path, answer.status)
            print(f"{name:<24}{statistics.median(took):>10.0f}{max(took):>10.0f}{LIMITS_MS.get(name, 500):>10}")


def generate(folder, count):
    """Lines in the record's shape; the chain is not made: nothing here is verified."""
    chosen = random.Random(7)
    size, seq, file = 0, 0, None
    while seq < count:
        if seq % SEGMENT == 0:
            if file:
                file.close()
            file = (folder / f"{LOG}.{seq // SEGMENT + 1:06d}.jsonl").open("wb")
            if seq:
                close_segment(folder, seq)
        record = action(chosen, seq) if seq % 2 == 0 else outcome(seq)
        size += file.write(orjson.dumps(record) + b"\n")
        seq += 1
    file.close()
    return size


def close_segment(folder, seq):
    manifest = {
        "log_id": LOG, "number": seq // SEGMENT, "first_seq": seq - SEGMENT, "last_seq": seq - 1, "size_bytes": 0, "sha256": "",
        "first_ts": ts(seq - SEGMENT), "last_ts": ts(seq - 1), "first_prev": "", "last_hash": "",
    }  # fmt: skip
    (folder / f"{LOG}.{seq // SEGMENT:06d}.manifest.json").write_bytes(orjson.dumps(manifest))


def ts(seq):
    day, rest = divmod(seq * 30 * 86400 // COUNT, 86400)
    return f"2026-11-{day + 1:02d}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}.000Z"


def head(kind, seq, session):
    at = {"schema": "onlooker.record/1", "kind": kind, "seq": seq, "ts": ts(seq), "mono_ns": seq, "boot_id": "b"}
    who = {"id": f"coder-{session % 40}", "version": "1", "key": None, "parent": None}
    return at | {"log_id": LOG, "id": f"{LOG}:{seq}", "session": {"id": f"s-{session}", "turn": seq % 50, "strength": "strong"},
                 "agent": who, "exchange": {"id": str(seq), "protocol": "anthropic-messages", "upstream": "api.model.example:443"}}  # fmt: skip


def outcome(seq):
    said = {"action": f"{LOG}:{seq - 1}", "outcome": "ok" if seq % 16 != 1 else "error", "final": True}
    return head("outcome", seq, (seq - 1) // 200) | said


def action(chosen, seq):
    session = seq // 200
    effects = [effect(chosen, seq) for _ in range(chosen.choice([1, 1, 1, 2, 3]))]
    matched = chosen.random() < 0.15
    findings = [{"rule": chosen.choice(RULES), "result": "match", "severity": chosen.choice(SEVERITIES), "status": "stable",
                 "at": "policy.yaml:9:5", "message": "", "effects": [0], "unknown": [], "tags": []}] if matched else []  # fmt: skip
    verdict = chosen.choice(["consistent"] * 6 + ["undetermined"] * 3 + ["outside_scope"])
    call = {"id": f"toolu_{seq}", "name": chosen.choice(["Bash", "Read", "Edit", "run_sql"]), "complete": seq % 500 != 0,
            "arguments": {"command": "x" * 300}, "observed_at": "model_response"}  # fmt: skip
    kind = {"surface": "shell", "complete": seq % 20 != 0, "destructive": any(e["destructive"] for e in effects),
            "reversibility": "unknown", "effects": effects, "flows": [], "opaque": [], "parsers": []}  # fmt: skip
    objective = {"id": f"obj-{session % 30}", "verdict": verdict, "severity": "medium", "trail": []}
    policy = [{"id": "team", "state": "active", "stale": False, "findings": findings}]
    return head("action", seq, session) | {
        "call": call,
        "classification": kind,
        "objective": objective,
        "policy": policy,
    }


def effect(chosen, seq):
    verb, target = chosen.choice(VERBS), f"/home/dev/shop-{seq % 97}/src/file-{chosen.randrange(200_000)}.py"
    return {"domain": chosen.choice(DOMAINS), "action": verb, "target": target, "target_raw": None, "destructive": verb == "delete",
            "reversibility": "irreversible" if verb == "delete" else "reversible", "breadth": "one", "where": "local",
            "privilege": "none", "certainty": "definite", "condition": "always", "dry_run": False, "tags": [], "via": []}  # fmt: skip


if __name__ == "__main__":
    main()
