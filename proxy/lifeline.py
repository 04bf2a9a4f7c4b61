"""Whether the supervisor that started this process still lives: a pipe it alone holds the writing end of.

In: the reading end as descriptor $ONLOOKER_LIFELINE_FD, as the supervisor hands it to its analyzer and control process.
Out: ``cut``. Nothing is ever written, so a readable end is a closed one. Standard library only.
"""

from __future__ import annotations

import os
import select

VARIABLE = "ONLOOKER_LIFELINE_FD"


def lifeline() -> int | None:
    """The descriptor, or None: nobody supervises this process."""
    said = os.environ.get(VARIABLE, "")
    return int(said) if said.isdigit() else None


def cut(fd: int | None) -> bool:
    return fd is not None and bool(select.select((fd,), (), (), 0)[0])
