"""Write each golden case's ``expected.json`` anew: ``python tests/golden/expect.py [api[/case]…]``; then read the diff."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from proxy.assembly.case import assemble_case

HERE = Path(__file__).resolve().parent


def main() -> None:
    for meta in sorted(HERE.glob("*/*/meta.json")):
        name = f"{meta.parent.parent.name}/{meta.parent.name}"
        if len(sys.argv) > 1 and not any(name.startswith(a) for a in sys.argv[1:]):
            continue
        text = json.dumps(assemble_case(meta.parent, detect=True), indent=1, ensure_ascii=False, sort_keys=True)
        meta.with_name("expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
