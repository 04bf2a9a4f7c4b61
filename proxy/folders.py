"""Folders for this user only, whoever of our commands happens to make them first.

In: a path. Out: it exists; every folder that had to be made has mode 0700 (``Path.mkdir(parents=True)`` gives the mode
to the last one only). A folder that was there is left as it is: who looks after it says what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path


def private_folder(path: Path) -> Path:
    """Raises OSError when it cannot be made."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
    return path
