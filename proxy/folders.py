"""Folders for this user only, whoever of our commands happens to make them first.

In: a path. Out: it exists; every folder that had to be made has mode 0700 (``Path.mkdir(parents=True)`` gives the mode
to the last one only). A folder that was there is left as it is: who looks after it says what is wrong with it.
Standard library only: the relay and the supervisor import this.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path


def private_folder(path: Path) -> Path:
    """Raises OSError when it cannot be made."""
    for folder in (*reversed(path.parents), path):
        if folder.exists() and not folder.is_dir():  # mkdir would say that the file exists, which nobody doubts
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
    return path


def private_directory(path: Path) -> Path:
    """``path`` as a directory of ours, mode 0700. PermissionError with one sentence when it is somebody else's."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = path.lstat()
    if replaceable(path.parent.stat()):
        raise PermissionError(f"{path.parent}: others can replace what is in it; nothing of ours is kept there")
    if path.is_symlink() or info.st_uid != os.geteuid():
        raise PermissionError(f"{path}: expected a directory of this user with mode 0700, no link")
    if info.st_mode & 0o077:
        raise PermissionError(
            f"{path}: open to others (mode {info.st_mode & 0o777:o}); expected mode 0700: chmod 700 it"
        )
    return path


def replaceable(folder: os.stat_result, alone: Callable[[int], bool] | None = None) -> bool:
    """Whether another account can rename what is in a folder: not ours, or writable by others and not sticky.

    A group that only we are in is not others: it is the rule where each user has a group, and how a cluster hands a
    volume to a pod (``fsGroup``).
    """
    if folder.st_uid not in {0, os.geteuid()}:
        return True
    if folder.st_mode & 0o1000:
        return False
    return bool(folder.st_mode & 0o002 or (folder.st_mode & 0o020 and not (alone or alone_in)(folder.st_gid)))


def alone_in(gid: int) -> bool:
    """Whether this process is in the group and no other account is. A group without a name has no accounts."""
    if gid not in {os.getegid(), *os.getgroups()}:
        return False
    try:
        named = set(grp.getgrgid(gid).gr_mem)
    except KeyError:
        named = set()
    accounts = pwd.getpwall()
    ours = {a.pw_name for a in accounts if a.pw_uid == os.geteuid()}
    return named <= ours and all(a.pw_uid == os.geteuid() for a in accounts if a.pw_gid == gid)
