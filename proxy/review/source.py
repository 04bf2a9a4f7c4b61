"""The line of a rule or an objective a record points at, when the file is still there.

In: ``file:line:col`` as records have it (``onlooker:rules/…`` is the shipped library). Out: the line's text, or "".
Only YAML files are read: a record is no way to read anything else.
"""

from __future__ import annotations

from proxy.places import Places, file_of

MAX_TEXT = 240
MAX_FILE_BYTES = 1 << 20


def source_line(at: str | None, places: Places) -> str:
    name, line = _place(at or "")
    path = file_of(name, places) if line and name else None
    if path is None:
        return ""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return ""
        lines = path.read_text("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return ""
    return lines[line - 1].strip()[:MAX_TEXT] if line <= len(lines) else ""


def _place(at: str) -> tuple[str, int]:
    parts = at.rsplit(":", 2)
    return (parts[0], int(parts[1])) if len(parts) == 3 and parts[1].isdigit() else ("", 0)
