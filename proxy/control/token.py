"""The admin API's token: 32 random bytes in a 0600 file of the state folder, made once."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def ensure_token(path: Path) -> str:
    """The token, created if it is not there. Raises OSError when the state folder cannot be written."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        if token := path.read_text(encoding="ascii").strip():
            return token
        path.unlink()  # made as the machine went down: an empty token would let anybody in
        return ensure_token(path)
    token = secrets.token_urlsafe(32)
    with os.fdopen(fd, "w") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    return token
