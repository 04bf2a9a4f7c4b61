"""The keys of privacy: HMAC keys for placeholders and fingerprints, one sealing key per day. All outside the log.

``<state>/keys/redaction.json`` {current, keys}, ``<state>/keys/seal/<day>.key``. Rotation keeps old HMAC keys for
matching; deleting a day's sealing key erases what was sealed that day, everywhere it was copied to.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from audit.files import write_atomically
from audit.redact import TokenKeys

ALGORITHM = "chacha20-poly1305"


class SealKeyGoneError(KeyError):
    """The day's key was deleted: the content is erased."""


def load_token_keys(path: Path) -> TokenKeys:
    """Read the keys at ``path``, or make the first one (0600)."""
    try:
        raw = json.loads(path.read_bytes())
    except FileNotFoundError:
        raw = {"current": "k1", "keys": {"k1": secrets.token_hex(32)}}
        _save(path, raw)
    return TokenKeys(raw["current"], {k: bytes.fromhex(v) for k, v in raw["keys"].items()})


def rotate_token_keys(path: Path) -> TokenKeys:
    """A new current key; the old ones stay."""
    old = load_token_keys(path)
    name = f"k{len(old.keys) + 1}"
    keys = {**{k: v.hex() for k, v in old.keys.items()}, name: secrets.token_hex(32)}
    _save(path, {"current": name, "keys": keys})
    return load_token_keys(path)


@dataclass(frozen=True, slots=True)
class Sealer:
    folder: Path

    def seal(self, data: bytes, day: str, bound_to: bytes) -> dict[str, Any]:
        """``bound_to`` (the arguments' HMAC) is authenticated, so a sealed field cannot be moved to another record."""
        nonce = os.urandom(12)
        text = ChaCha20Poly1305(self._key(day, make=True)).encrypt(nonce, data, bound_to)
        return {"alg": ALGORITHM, "day": day, "nonce": nonce.hex(), "text": text.hex()}

    def unseal(self, sealed: dict[str, Any], bound_to: bytes) -> bytes:
        """Raises SealKeyGoneError when the day was erased, ValueError when the field was altered."""
        key = ChaCha20Poly1305(self._key(sealed["day"], make=False))
        try:
            return key.decrypt(bytes.fromhex(sealed["nonce"]), bytes.fromhex(sealed["text"]), bound_to)
        except InvalidTag as error:
            raise ValueError("the sealed field does not belong to this record, or was altered") from error

    def _key(self, day: str, *, make: bool) -> bytes:
        path = self.folder / f"{day}.key"
        try:
            return path.read_bytes()
        except FileNotFoundError:
            if not make:
                raise SealKeyGoneError(day) from None
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, secrets.token_bytes(32))
        return path.read_bytes()


def _save(path: Path, raw: dict[str, Any]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, json.dumps(raw, indent=1).encode())
