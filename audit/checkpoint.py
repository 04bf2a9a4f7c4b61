"""Checkpoints: a C2SP signed note over the tree's root, and the Ed25519 key that signs it.

In: origin, size, root. Out: the note's text. Format: C2SP tlog-checkpoint and signed-note (c2sp.org, read 2026-11).
The key lives outside the log's directory; only its public half is written beside the log.
"""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, slots=True)
class Signer:
    key: Ed25519PrivateKey

    @property
    def public_raw(self) -> bytes:
        return self.key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    @property
    def public_pem(self) -> bytes:
        public = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.key.public_key().public_bytes(serialization.Encoding.PEM, public)

    @property
    def key_id(self) -> str:
        """Fingerprint of the public key, as the segment header names it."""
        return "ed25519:" + hashlib.sha256(self.public_raw).hexdigest()[:16]

    def note(self, origin: str, size: int, root: bytes) -> str:
        body = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"
        hint = hashlib.sha256(origin.encode() + b"\n\x01" + self.public_raw).digest()[:4]
        signature = base64.b64encode(hint + self.key.sign(body.encode())).decode()
        return f"{body}\n\u2014 {origin} {signature}\n"


def load_signer(path: Path) -> Signer:
    """Read the private key at ``path``, or make one there (0600, created exclusively)."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raw = _create(path)
    key = serialization.load_pem_private_key(raw, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path}: not an Ed25519 private key")  # noqa: TRY004 - the file's content is at fault
    return Signer(key)


def _create(path: Path) -> bytes:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    plain = serialization.NoEncryption()
    raw = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain
    )
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())  # what is signed from now on needs it after a power loss too
    return raw
