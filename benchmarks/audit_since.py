"""How long ``onlooker audit query --since 2h`` takes on a big log. Prints each question's wall time beside its target.

``python -m benchmarks.audit_since [--gib 4] [--hours 24] [--compress]``: writes a log of that size with the product's own
writer, its records spread over the last hours, in a temporary folder (removed afterwards), then asks through the
command line, start-up of the process included. ``--compress``: closed files are zstd, as retention leaves them.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from audit.checkpoint import load_signer
from audit.clock import Clock
from audit.log import AuditLog
from audit.record import Around, action
from audit.retention import compress
from benchmarks.audit import row
from classifiers.call import ToolCall
from classifiers.effects import Action, Domain, Effect, Evidence, Reversibility, Surface, Verb
from policies.verdict import Finding, ObjectiveVerdict, PolicyResult, Result, Severity, TrailEntry, Verdict

TARGET_S = 2.0
QUESTIONS = (
    (),
    ("--effect", "delete", "--domain", "cloud", "--target", "k8s:*:prod:*"),
    ("--severity", "high"),
    ("--verdict", "outside_scope", "--agent", "coder-*"),
    ("--session", "s-17"),
    ("--target", "/srv/nowhere/*"),
    ("--sql", "SELECT tool, verdict, count(*) FROM records GROUP BY ALL ORDER BY 3 DESC"),
)


class SpreadClock(Clock):
    """Time that passes by being told to, so a day of records is written in a minute."""

    def __init__(self, start_ns: int) -> None:
        self.now_ns = start_ns

    def wall_ns(self) -> int:
        return self.now_ns

    def mono_ns(self) -> int:
        return self.now_ns


def varied(n: int, dice: random.Random) -> dict[str, Any]:
    """A record as a session of an agent makes them: mostly reads, one in fifty deletes, one in five hundred flagged."""
    flagged, deletes = n % 500 == 0, n % 50 == 0
    words = [dice.choice(("git", "grep", "ls", "pytest", "sed", "make", "cat", "find")) for _ in range(3)]
    path = f"/srv/{dice.choice(('shop', 'api', 'web'))}/{dice.randrange(10**6):x}"
    if flagged:
        effect = Effect(Domain.CLOUD, Verb.DELETE, f"k8s:c1:prod:pod/{n}", destructive=True,
                        reversibility=Reversibility.IRREVERSIBLE, evidence=Evidence("command", 0, 22))  # fmt: skip
    else:
        verb = Verb.DELETE if deletes else Verb.READ
        effect = Effect(Domain.FILESYSTEM, verb, path, evidence=Evidence("command", 0, 22))
    command = f"{' && '.join(words)} {path} --token-of-chance {dice.getrandbits(256):064x}"
    call = ToolCall(name="Bash", arguments={"command": command}, id=f"toolu_{dice.getrandbits(96):024x}")
    findings = (Finding("cloud.delete-stateful", Result.MATCH, Severity.HIGH, "p.yaml:9:5", "deletes"),) * flagged
    verdict = Verdict.OUTSIDE_SCOPE if flagged else Verdict.CONSISTENT
    around = Around(
        session={"id": f"s-{n // 400}", "turn": n % 400, "source": "header", "strength": "strong"},
        agent={"id": f"coder-{n % 7}", "version": "1"},
        exchange={"id": f"r0-{n}", "protocol": "anthropic-messages", "upstream": "api.model.example:443"},
        src={"writer": "r0", "exchange": n, "ordinal": 0},
    )
    objective = ObjectiveVerdict(
        verdict, Severity.HIGH if flagged else Severity.INFO, trail=(TrailEntry(0, verdict, None),)
    )
    return action(
        call, Action(Surface.SHELL, (effect, effect)), (PolicyResult("acme", "active", findings=findings),), objective, around=around
    )  # fmt: skip


def write(folder: Path, size_bytes: int, span_s: float, *, packed: bool) -> int:
    """How many records; the last one is about now."""
    dice = random.Random(6)
    clock = SpreadClock(time.time_ns() - round(span_s * 1e9))
    after = (lambda _log, path: compress(path)) if packed else None
    log = AuditLog(
        folder / "audit", load_signer(folder / "keys" / "k.pem"), dict, clock=clock, after_rotation=after
    )  # fmt: skip
    end_ns, count = time.time_ns(), 0
    while log.health.written_bytes < size_bytes:
        log.append(varied(count, dice))
        count += 1
        left = max(1, size_bytes - log.health.written_bytes) / (log.health.written_bytes / count)
        clock.now_ns += max(1, round((end_ns - clock.now_ns) / left))
    log.close()
    return count


def ask(folder: Path, *question: str) -> tuple[float, int]:
    command = (sys.executable, "-m", "proxy", "audit", "query", "--state", str(folder), "--since", "2h", *question)
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start, done.stdout.count(b"\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gib", type=float, default=0.25)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--compress", action="store_true")
    parser.add_argument("--keep", type=Path, help="write here (or ask what is here) and leave it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        if not (folder / "audit").exists():
            start = time.perf_counter()
            count = write(folder, round(given.gib * 2**30), given.hours * 3600, packed=given.compress)
            print(
                f"{count:,} records of {given.gib:g} GiB over {given.hours:g} h, {time.perf_counter() - start:.0f} s\n"
            )
        for question in QUESTIONS:
            times = [ask(folder, *question) for _ in range(3)]
            said = " ".join(question)
            row(f"--since 2h {said}"[:52], f"{min(times)[0]:.2f} s, {times[0][1]} rows", f"<= {TARGET_S:g} s")


if __name__ == "__main__":
    main()
