"""A command of ours in a process of its own, so that a page never waits for a million records.

In: a module's name and its arguments. Out: exit code, output, errors. When the one who waits is cancelled or out of
time, the process is gone too.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT


async def run_module(module: str, *arguments: str, merged: bool = False) -> tuple[int, str, str]:
    """``merged``: errors stand among the output. Raises OSError."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments), env=environment, stdin=DEVNULL, stdout=PIPE,
        stderr=STDOUT if merged else PIPE,
    )  # fmt: skip
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode("utf-8", "replace"), (err or b"").decode("utf-8", "replace")
