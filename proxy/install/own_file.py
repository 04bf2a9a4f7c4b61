"""A file that is wholly ours, put into a folder where something else finds it, and taken away again.

In: its place, its text, the line by which it is known as ours. Out: plans; a file somebody else wrote is left alone.
"""

from __future__ import annotations

from pathlib import Path

from proxy.install import ConfigFileError, Plan, backup_of


def plan_put(path: Path, after: bytes, mark: str, says: str) -> Plan | None:
    """None when it is there already, the same."""
    before = _ours(path, mark)
    return None if before == after else Plan(path, before, after, (f"+   {says}",))


def plan_remove(path: Path, mark: str, says: str) -> Plan | None:
    if _ours(path, mark) is None:
        return None
    return Plan(path, path.read_bytes(), None, (f"-   {says}",), ends_backup=backup_of(path).exists())


def _ours(path: Path, mark: str) -> bytes | None:
    """The file's bytes, None when there is none. ConfigFileError when it is not one of ours."""
    if not path.exists():
        return None
    raw = path.read_bytes()
    if mark.encode() not in raw[:400]:
        raise ConfigFileError(f"{path}: not written by onlooker; it is left alone")
    return raw
