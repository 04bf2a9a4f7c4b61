"""Clients' configuration files: what onlooker would change in them, and the change made or taken back.

A plan says which file becomes which bytes; nothing is written before ``write`` is called. ``uninstall`` gives back the
bytes of the backup when nobody else changed the file meanwhile, and else only takes out what was put in.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_FILE_BYTES = 64 << 20
BACKUP = ".onlooker-backup"
Change = Callable[[dict[str, Any]], list[str]]  # changes the value in place; says each change, one line or more


class ConfigFileError(ValueError):
    """A file that is there and cannot be changed safely; the message is ``file: what; what was expected``."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``after`` None: the file goes. ``lines`` is the diff a person reads: changed entries only, no environments."""

    path: Path
    before: bytes | None
    after: bytes | None
    lines: tuple[str, ...]
    ends_backup: bool = False


def plan_install(path: Path, change: Change, *, create: bool = False) -> Plan | None:
    """None when the file is not there, or has nothing to change."""
    if not path.exists() and not create:
        return None
    before = _read(path) if path.exists() else None
    value = {} if before is None else _parsed(path, before)
    lines = _changed(path, change, value)
    return Plan(path, before, _rendered(value, before or b""), tuple(lines)) if lines else None


def plan_uninstall(path: Path, put_in: Change, take_out: Change) -> Plan | None:
    """``put_in`` is what install does: it tells whether the file is still the one install wrote."""
    if not path.exists():
        return None
    before, backup = _read(path), backup_of(path)
    value = _parsed(path, before)
    lines = _changed(path, take_out, value)
    if not lines:
        return None
    if not backup.exists():
        return Plan(path, before, _rendered(value, before), tuple(lines))
    original = _read(backup)
    again = _parsed(path, original) if original else {}
    _changed(path, put_in, again)
    same = _rendered(again, original) == before
    ours_alone = not original and not value  # we made it, and nobody has put anything else in
    after = (original or None) if same or ours_alone else _rendered(value, before)
    return Plan(path, before, after, tuple(lines), ends_backup=True)


def write(plan: Plan) -> None:
    """Backup first (kept when there is one already), then the file, replaced as a whole with its mode kept."""
    real = plan.path.resolve()
    now = _read(plan.path) if plan.path.exists() else None
    if now != plan.before:
        raise ConfigFileError(f"{plan.path}: changed while it was read; run the command again")
    backup, mode = backup_of(plan.path), 0o600 if now is None else real.stat().st_mode & 0o777
    real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not plan.ends_backup and not backup.exists():
        _replace(backup, plan.before or b"", 0o600)
    if plan.after is None:
        real.unlink()
    else:
        _replace(real, plan.after, mode)
    if plan.ends_backup:
        backup.unlink()


def backup_of(path: Path) -> Path:
    """Beside the file. An empty backup says that there was no file."""
    real = path.resolve()
    return real.with_name(real.name + BACKUP)


def _replace(path: Path, data: bytes, mode: int) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as out:
        out.write(data)
        os.fchmod(out.fileno(), mode)
    draft.replace(path)


def _read(path: Path) -> bytes:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ConfigFileError(f"{path}: {path.stat().st_size} bytes; at most 64 MiB was expected")
    return path.read_bytes()


def _parsed(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_once) if raw.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigFileError(f"{path}: {error}; plain JSON was expected, so it is left alone") from None
    if not isinstance(value, dict):
        raise ConfigFileError(f"{path}: not a JSON object; it is left alone")
    return value


def _changed(path: Path, change: Change, value: dict[str, Any]) -> list[str]:
    try:
        return change(value)
    except (TypeError, AttributeError, KeyError) as error:
        raise ConfigFileError(f"{path}: not shaped as its client writes it ({error}); it is left alone") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is there twice")
    return value


def _rendered(value: dict[str, Any], like: bytes) -> bytes:
    """JSON with the indentation and last line end of ``like``."""
    found = re.search(rb"\n([ \t]+)\"", like)
    indent: str | int = 2 if found is None else found[1].decode()
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text.encode() + (b"\n" if like.endswith(b"\n") or not like else b"")
