"""Credentials out of heads before they are captured: same-length filler in place, a keyed fingerprint beside.

What is forwarded keeps its bytes; only the spool's copy is blanked. The key is made once per installation and never
leaves it, so a fingerprint tells "the same key as before" and nothing else.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import sys
from pathlib import Path

FILLER = b"*"
_KEY_BYTES = 32
_QUERY = re.compile(
    rb"(?<=[?&;])(key|api[_-]?key|sig|signature|token|access_token|x-amz-signature|x-amz-security-token|"
    rb"x-goog-signature|password|secret)=([^&;#\s]++)",
    re.IGNORECASE,
)
_SUBPROTOCOL_KEY = re.compile(rb"[\w.-]*(?:key|token|bearer|authorization)[\w-]*\.([^,\s]++)", re.IGNORECASE)
_KNOWN = 16


def install_key(path: Path) -> bytes:
    """The installation's fingerprint key, made (0600) when the file is not there yet."""
    if not path.exists() and (unsaved := _make(path)) is not None:
        return unsaved
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise ValueError(f"{path}: a fingerprint key has {_KEY_BYTES} bytes, this has {len(key)}")
    return key


def _make(path: Path) -> bytes | None:
    """Put a new key there. A disk that takes none keeps no traffic back: then it is this relay's own, and is said."""
    key = os.urandom(_KEY_BYTES)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # relays start together: whoever links first has made the key, and nobody reads half of one
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as out:
            out.write(key)
            out.flush()
            os.fsync(out.fileno())  # an empty key after a power loss would keep every relay from starting
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
    except OSError as error:
        sys.stderr.write(f"onlooker: {path}: {error.strerror}; until a restart keys have fingerprints of now only\n")
        return key
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return None


def fingerprint(key: bytes, value: bytes) -> str:
    """128 bits of HMAC-SHA256, hex. A Bearer prefix does not count, so one key prints alike in every header."""
    if value[:7].lower() == b"bearer ":
        value = value[7:].lstrip()
    return hmac.digest(key, value, "sha256")[:16].hex()


class Blanker:
    """Blanks the heads of one connection. It remembers prints, by a hash of the value, never a value."""

    __slots__ = ("_key", "_known")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[int, str] = {}

    def blank(self, data: bytes, head_bytes: int, low: bytes, names: list[bytes]) -> tuple[bytearray, bytes]:
        """``data`` with the secret values of its head blanked, and their prints as "name=hex;…".

        ``low`` is the head in lower case; ``names`` the secret headers in it, in order. ``head_bytes`` is 0 for a
        response, which has no target to search.
        """
        out = bytearray(data)
        prints = ""
        at = 0
        for name in names:
            at = low.index(b"\n" + name + b":", at) + len(name) + 2
            stop = low.index(b"\r", at)
            start = stop - len(data[at:stop].lstrip(b" \t"))
            at = stop
            if name == b"set-cookie":  # identifies nobody's key
                pass
            elif name == b"sec-websocket-protocol":
                for m in _SUBPROTOCOL_KEY.finditer(data, start, stop):
                    prints += f"{name.decode()}={self._print(m[1])};"
                    out[m.start(1) : m.end(1)] = FILLER * (m.end(1) - m.start(1))
                continue
            else:
                prints += f"{name.decode()}={self._print(data[start:stop].rstrip())};"
            out[start:stop] = FILLER * (stop - start)
        if head_bytes and data.find(b"?", 0, line_end := data.find(b"\r", 0, head_bytes)) > 0:
            for m in _QUERY.finditer(data, 0, line_end):
                prints += f"?{m[1].decode().lower()}={self._print(m[2])};"
                out[m.start(2) : m.end(2)] = FILLER * (m.end(2) - m.start(2))
        return out, prints.encode()

    def _print(self, value: bytes) -> str:
        """The fingerprint; for a value seen before on this connection without computing it again (3 us)."""
        mark = hash(value)  # 64 bits, keyed per process
        known = self._known.get(mark)
        if known is None:
            known = fingerprint(self._key, value)
            if len(self._known) < _KNOWN:
                self._known[mark] = known
        return known
