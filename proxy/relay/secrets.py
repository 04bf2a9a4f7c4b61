"""Credentials out of heads before they are captured: same-length filler in place, a keyed fingerprint beside.

What is forwarded keeps its bytes; only the spool's copy is blanked. The key is made once per installation and never
leaves it, so a fingerprint tells "the same key as before" and nothing else.
"""

from __future__ import annotations

import hmac
import os
import re
from pathlib import Path

FILLER = b"*"
_KEY_BYTES = 32
_QUERY = re.compile(
    rb"(?<=[?&;])(key|api[_-]?key|sig|signature|token|access_token|x-amz-signature|x-amz-security-token|"
    rb"x-goog-signature|password|secret)=([^&;#\s]++)",
    re.IGNORECASE,
)
_SUBPROTOCOL_KEY = re.compile(rb"[\w.-]*(?:key|token|bearer|authorization)[\w-]*\.([^,\s]++)", re.IGNORECASE)
_UNPRINTED = frozenset((b"set-cookie",))  # blanked, no fingerprint: it identifies nobody's key


def install_key(path: Path) -> bytes:
    """The installation's fingerprint key, made (0600) when the file is not there yet."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        key = path.read_bytes()
        if len(key) != _KEY_BYTES:
            raise ValueError(f"{path}: a fingerprint key has {_KEY_BYTES} bytes, this has {len(key)}") from None
        return key
    with os.fdopen(fd, "wb") as out:
        key = os.urandom(_KEY_BYTES)
        out.write(key)
    return key


def fingerprint(key: bytes, value: bytes) -> str:
    """128 bits of HMAC-SHA256, hex. A Bearer prefix does not count, so one key prints alike in every header."""
    if value[:7].lower() == b"bearer ":
        value = value[7:].lstrip()
    return hmac.digest(key, value, "sha256")[:16].hex()


def blank(data: bytes, head_bytes: int, low: bytes, names: list[bytes], key: bytes) -> tuple[bytearray, bytes]:
    """``data`` with the secret values of its head blanked, and their prints as "name=hex;…".

    ``low`` is the head in lower case; ``names`` the secret headers in it, in order.
    """
    out = bytearray(data)
    prints: list[str] = []
    at = 0
    for name in names:
        at = low.index(b"\n" + name + b":", at) + len(name) + 2
        end = low.index(b"\r", at)
        value = data[at:end]
        start = end - len(value.lstrip(b" \t"))
        if name == b"sec-websocket-protocol":
            for m in _SUBPROTOCOL_KEY.finditer(data, at, end):
                prints.append(f"{name.decode()}={fingerprint(key, m[1])}")
                out[m.start(1) : m.end(1)] = FILLER * (m.end(1) - m.start(1))
            continue
        if name not in _UNPRINTED:
            prints.append(f"{name.decode()}={fingerprint(key, data[start:end].rstrip())}")
        out[start:end] = FILLER * (end - start)
        at = end
    if b"?" in data[: data.find(b"\r")]:
        for m in _QUERY.finditer(data, 0, data.find(b"\r", 0, head_bytes)):
            prints.append(f"?{m[1].decode().lower()}={fingerprint(key, m[2])}")
            out[m.start(2) : m.end(2)] = FILLER * (m.end(2) - m.start(2))
    return out, ";".join(prints).encode()
