"""How long reading a command takes: the answering path, both parsers, loading, and hostile texts. Prints one line each.

python benchmarks/classify.py CORPUS_FOLDER    # JSON lines with "command" and "shell"
"""

import importlib.util
import json
import sys
import time
from pathlib import Path

from classifiers.context import Context
from classifiers.knowledge.index import knowledge, sources
from classifiers.shell import classify_shell
from classifiers.surface import CallParts, surface_named


def commands(folder: Path) -> list[str]:
    rows = (
        json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()
    )
    return [row["command"] for row in rows if row.get("shell") == "bash"]


def spread(texts: list[str], *, both: bool) -> tuple[float, float, float]:
    """p50, p99 and the worst, in ms of processor time, after one warming pass."""
    taken = []
    for warm in (True, False):
        for text in texts:
            start = time.thread_time()
            classify_shell(text, both=both)
            if not warm:
                taken.append((time.thread_time() - start) * 1000)
    taken.sort()
    return taken[len(taken) // 2], taken[int(len(taken) * 0.99)], taken[-1]


def loading() -> tuple[int, float]:
    """Programs known, and ms to have the index ready from its cache (every program is built when first asked for)."""
    knowledge()
    knowledge.cache_clear()
    start = time.perf_counter()
    known = knowledge()
    return len(known.blobs), (time.perf_counter() - start) * 1000


# Long rather than deep: what is asked once for each word or statement must not go through all of them.
_WIDE = {
    "taskkill, 350 processes": ("cmd", {"command": "taskkill /f " + " ".join(f"/pid {i}" for i in range(350))}),
    "perl, 400 lines printed": ("code", {"code": "print FH 'abcdefgh';\n" * 400, "language": "perl"}),
}


def hostile() -> dict[str, float]:
    """ms of processor time for each hostile text of the tests."""
    file = Path(__file__).parents[1] / "tests/classifiers/shell/test_never_raises.py"
    spec = importlib.util.spec_from_file_location("hostile", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    classify_shell("true")  # the second parser is imported once
    out = {}
    for name, text in module.PATHOLOGICAL.items():
        start = time.thread_time()
        classify_shell(text, Context())
        out[name] = (time.thread_time() - start) * 1000
    for name, (surface, values) in _WIDE.items():
        reader = surface_named(surface)
        assert reader
        warm = values | {role: "exit" for role in ("command", "code") if role in values}
        reader.classify(CallParts(surface, warm), Context())  # its tables and grammar are loaded once
        start = time.thread_time()
        reader.classify(CallParts(surface, values), Context())
        out[name] = (time.thread_time() - start) * 1000
    return out


def main() -> None:
    count, load_ms = loading()
    print(f"knowledge: {count} programs from {len(sources())} files, ready in {load_ms:.0f} ms")
    if len(sys.argv) > 1:
        texts = commands(Path(sys.argv[1]))
        for both, name in ((False, "answering path"), (True, "both parsers")):
            p50, p99, worst = spread(texts, both=both)
            print(f"{name}: {len(texts)} commands, p50 {p50:.3f} ms, p99 {p99:.2f} ms, worst {worst:.1f} ms")
    times = hostile()
    worst = max(times, key=times.get)
    print(f"hostile: {len(times)} texts, worst {times[worst]:.0f} ms ({worst})")
    for name, ms in sorted(times.items(), key=lambda item: -item[1])[:6]:
        print(f"  {name}: {ms:.1f} ms")


if __name__ == "__main__":
    main()
