"""What an instance that ended leaves in the memory file system. Standard library only: the supervisor uses it too.

In: the spool's folder. Out: whether captures wait in it to be read; without any, the memory is given back.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from proxy.inbox import inbox_file


def clear_memory(spool_dir: str) -> None:
    """Give the memory file system back what an ended instance had there, unless captures wait in it to be read."""
    spool = Path(spool_dir)
    if spool.is_dir() and not captures_wait(spool):
        shutil.rmtree(spool, ignore_errors=True)
        shutil.rmtree(inbox_file(spool_dir).parent, ignore_errors=True)


def captures_wait(spool: Path) -> bool:
    """Whether an ended instance left captures that are not all recorded: a writer's folder goes once it is read."""
    return spool.is_dir() and any(p.is_dir() for p in spool.iterdir())
