"""``python -m proxy.supervisor '<JSON>'``: ``run`` on its own; prints what is running as one JSON line when ready."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from proxy.supervisor import run
from proxy.supervisor.state import Running


def _ready(running: Running) -> None:
    sys.stdout.write(json.dumps(asdict(running)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run(json.loads(sys.argv[1]), _ready))
