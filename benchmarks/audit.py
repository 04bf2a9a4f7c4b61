"""What the audit log costs: append, redaction, verification, queries. Prints figures beside their targets.

``python -m benchmarks.audit [--records N]``; one process, one core but for DuckDB, in a temporary
folder. CPU time where a machine that is shared would lie.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from audit import record as records
from audit.checkpoint import load_signer
from audit.log import AuditLog
from audit.privacy import Guard
from audit.redact import Redactor, TokenKeys
from audit.verify import verify
from audit.writer import Limits
from classifiers.call import ToolCall
from classifiers.effects import Action, Domain, Effect, Evidence, Reversibility, Surface, Verb
from policies.verdict import Finding, ObjectiveVerdict, PolicyResult, Result, Severity, TrailEntry, Verdict

KEYS = TokenKeys("k1", {"k1": b"0" * 32})
CLEAN = "git status && ls -la src && pytest -q tests/unit && grep -rn handler src | head -20\n"
SECRET = "export DB_PASSWORD=hunter2x; curl -H 'Authorization: Bearer q8W2eR4tY6uI8oP0' https://h.example/x\n"


def example(command: str = "rm -rf /srv/shop/cache") -> dict[str, Any]:
    effect = Effect(
        Domain.FILESYSTEM, Verb.DELETE, "/srv/shop/cache", destructive=True,
        reversibility=Reversibility.IRREVERSIBLE, evidence=Evidence("arguments.command", 0, 22),
    )  # fmt: skip
    call = ToolCall(name="Bash", arguments={"command": command}, id="toolu_1", arguments_valid=True)
    finding = Finding("fs.delete-protected-tree", Result.MATCH, Severity.HIGH, "policy.yaml:21:5", "would delete")
    objective = ObjectiveVerdict(
        Verdict.OUTSIDE_SCOPE, Severity.HIGH, trail=(TrailEntry(0, Verdict.OUTSIDE_SCOPE, None),)
    )
    around = records.Around(
        session={"id": "s-1", "turn": 7, "source": "header", "strength": "strong"},
        agent={"id": "coder", "version": "1"},
        exchange={"id": "r0-12", "protocol": "anthropic-messages", "upstream": "api.model.example:443"},
        src={"writer": "r0", "exchange": 12, "ordinal": 0},
    )
    policy = PolicyResult("acme", "active", findings=(finding,))
    return records.action(
        call, Action(Surface.SHELL, (effect,), parsers=("tree-sitter", "bashlex")), (policy,), objective, around=around
    )


def each_us(work: Callable[[], object], times: int) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for _ in range(times):
            work()
        best = min(best, (time.process_time() - start) / times)
    return best * 1e6


def row(what: str, value: str, target: str = "") -> None:
    print(f"{what:<52} {value:>18}   {target}")


def append_speed(folder: Path, guard: Any, count: int) -> tuple[float, float, AuditLog]:
    """(CPU seconds of this process, wall seconds, log)."""
    log = AuditLog(folder / "audit", load_signer(folder / "keys" / "k.pem"), guard, limits=Limits(idle_s=60))
    record = example()
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        log.append(record)
    log.wait_acknowledged(log.next_seq - 1, 30)
    return time.process_time() - cpu, time.perf_counter() - start, log


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=100_000)
    count = parser.parse_args().records
    size = len(orjson.dumps(example()))
    print(f"one action record: {size / 1024:.1f} kB, {count:,} records\n")
    row("build a record", f"{each_us(example, 2000):.1f} us")
    with tempfile.TemporaryDirectory() as temporary:
        cpu, spent, log = append_speed(Path(temporary), dict, count)
        log.close()
        row("append, no guard (chain, write, fdatasync), CPU", f"{cpu / count * 1e6:.1f} us", "<= 60 us")
        row("  sustained, per CPU second", f"{count / cpu:,.0f} records/s", ">= 15,000")
        row("  sustained, wall", f"{count / spent:,.0f} records/s")
        start, cpu = time.perf_counter(), time.process_time()
        report = verify(Path(temporary) / "audit")[0]
        cpu, spent = time.process_time() - cpu, time.perf_counter() - start
        row(f"verify ({report.answer}), per CPU second", f"{report.records / cpu:,.0f} records/s", ">= 90,000")
        row("  wall", f"{report.records / spent:,.0f} records/s")
        queries(Path(temporary), count)
    with tempfile.TemporaryDirectory() as temporary:
        cpu, spent, log = append_speed(Path(temporary), Guard(KEYS), count)
        log.close()
        row("append with the privacy guard, CPU", f"{cpu / count * 1e6:.1f} us")
        row("  sustained, wall", f"{count / spent:,.0f} records/s")
    redaction()
    acknowledged()


def redaction() -> None:
    redactor = Redactor(KEYS, budget_s=60)
    for what, line, target in (("no secret", CLEAN, "<= 0.02"), ("secrets", SECRET, "<= 0.5")):
        text = line * (4096 // len(line))
        spent = each_us(lambda text=text: (redactor.start(), redactor.redact(text)), 200)
        row(f"redaction of text, {what}", f"{spent / 1000 / (len(text) / 1024):.4f} ms/kB", f"{target} ms/kB")
    guard = Guard(KEYS)
    for what, command in (("no secret", CLEAN * 10), ("secrets", SECRET * 4)):
        record = example(command)
        spent = each_us(lambda record=record: guard(record), 200)
        row(f"guard of a whole record, {what}", f"{spent / 1000 / (len(orjson.dumps(record)) / 1024):.4f} ms/kB")


def acknowledged() -> None:
    """One record at a time, each waited for."""
    with tempfile.TemporaryDirectory() as temporary:
        log = AuditLog(Path(temporary) / "audit", load_signer(Path(temporary) / "k.pem"), dict)
        waits = []
        for _ in range(30):
            start = time.perf_counter()
            log.append(example())
            written = time.perf_counter() - start
            log.wait_acknowledged(log.next_seq - 1)
            waits.append((written, time.perf_counter() - start))
        log.close()
    row("written (write(2) returned), p50", f"{sorted(w for w, _ in waits)[15] * 1e3:.2f} ms", "<= 10 ms")
    row(
        "acknowledged (fdatasync returned), p50",
        f"{sorted(a for _, a in waits)[15] * 1e3:.1f} ms",
        "<= 50 ms",
    )


def queries(folder: Path, count: int) -> None:
    try:
        from audit.needles import Filters
        from audit.query import find, open_records, run, search
        from audit.read import records as read_records
        from audit.sinks.parquet import SINK
    except ImportError:
        return
    start = time.perf_counter()
    with open_records(folder) as connection:
        found = len(find(connection, Filters(action="delete", target="/srv/*"), 10))
    row(f"query over JSON lines ({found} rows)", f"{count / (time.perf_counter() - start):,.0f} records/s")
    last = list(read_records(folder / "audit"))[-1]["ts"]
    start = time.perf_counter()
    search(folder, Filters(since=last), 10)
    row("query --since the last moment", f"{(time.perf_counter() - start) * 1e3:.0f} ms", "<= 2,000 ms on 4 GB")
    batch = [r for r, _ in zip(read_records(folder), range(20_000), strict=False)]
    sink = SINK.open({}, folder / "lake")
    start = time.perf_counter()
    sink.send(batch)
    row("Parquet written", f"{len(batch) / (time.perf_counter() - start):,.0f} records/s")
    with open_records(folder / "lake", parquet=True) as connection:
        part = next((folder / "lake").glob("*/*.parquet"))
        copies = 10_000_000 // len(batch)
        run(
            connection,
            f"CREATE TABLE many AS SELECT r.* EXCLUDE (record, what) FROM read_parquet('{part}') r, range({copies})",
        )
        run(connection, f"COPY many TO '{folder}/many.parquet' (FORMAT parquet, COMPRESSION zstd)")
        start = time.perf_counter()
        run(
            connection,
            f"SELECT tool, verdict, severity, count(*) FROM read_parquet('{folder}/many.parquet') GROUP BY ALL",
        )
        spent = time.perf_counter() - start
    row("10 million rows of Parquet aggregated", f"{spent:.2f} s", "<= 3 s")


if __name__ == "__main__":
    main()
