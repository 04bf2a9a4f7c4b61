"""Where the two shell parsers differ over corpora: counts per 10,000 commands, and each difference. Prints Markdown.

python benchmarks/parsers.py CORPUS_FOLDER [--show]
"""

import json
import sys
from collections import Counter
from pathlib import Path

from classifiers.shell.second import second_reading
from classifiers.shell.treesitter import TooDeepError, TooLongError, parse


def main() -> None:
    folder, show = Path(sys.argv[1]), "--show" in sys.argv
    total, answers, reasons, kinds, shown = 0, Counter(), Counter(), Counter(), []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row.get("shell") != "bash":
                continue
            total += 1
            try:
                reading = second_reading(row["command"], parse(row["command"]))
            except (TooDeepError, TooLongError):
                reasons["first parser's caps"] += 1
                continue
            answers[reading.agrees] += 1
            if reading.agrees is None:
                reasons[reading.why] += 1
            elif not reading.agrees:
                kinds[reading.why] += 1
                shown.append((row["id"], reading.why, reading.first, reading.second))
    per = 10_000 / max(total, 1)
    print("| | commands | per 10,000 |\n|---|---|---|")
    for name, count in (("read", total), ("both read, agree", answers[True]), ("both read, differ", answers[False]),
                        *((f"differ in {k}", n) for k, n in kinds.items()), ("no second reading", answers[None])):  # fmt: skip
        print(f"| {name} | {count} | {count * per:.0f} |")
    print("\nWhy there is no second reading: " + "; ".join(f"{k} {n}" for k, n in reasons.most_common()))
    for row in shown if show else ():
        print(*row, sep="\t")


if __name__ == "__main__":
    main()
