"""``python -m proxy.relay '<JSON>'`` (or ``@file``, or ``-`` for stdin): one relay; keys in ``serve.py``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from proxy.relay.routes import RouteError
from proxy.relay.serve import serve


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        sys.stderr.write("usage: python -m proxy.relay JSON | @FILE | -\n")
        return 2
    text = argv[0]
    if text == "-":
        text = sys.stdin.read()
    elif text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8")
    try:
        return serve(json.loads(text))
    except (RouteError, PermissionError) as error:
        sys.stderr.write(f"relay: {error}\n")
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
