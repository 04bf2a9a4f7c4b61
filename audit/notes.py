"""Reading checkpoints: the C2SP signed note and the public key it is checked with. Stdlib only; ships in every bundle.

In: note text, PEM bytes. Out: ``Note`` values, and whether a signature holds.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:  # a machine without onlooker: slower, the same answer
    Ed25519PublicKey = None  # type: ignore[assignment,misc]

try:
    from audit import ed25519
except ImportError:  # lying beside this file in a bundle
    import ed25519  # type: ignore[no-redef,import-not-found]

_SPKI = bytes.fromhex("302a300506032b6570032100")  # RFC 8410: an Ed25519 SubjectPublicKeyInfo is this and 32 bytes


@dataclass(frozen=True)
class Note:
    """``body`` is what was signed."""

    origin: str
    size: int
    root: bytes
    body: bytes
    hint: bytes
    signature: bytes


def parse_note(text: str) -> Note:
    """Raises ValueError saying what is wrong."""
    body, separator, rest = text.partition("\n\n")
    lines = body.split("\n")
    if not separator or len(lines) < 3:
        raise ValueError("not a checkpoint note: expected origin, size, root, a blank line and a signature")
    words = rest.split("\n")[0].split(" ")
    if len(words) != 3 or words[0] != "\u2014" or words[1] != lines[0]:
        raise ValueError("not a checkpoint note: the signature line is not of the note's origin")
    try:
        size, root = int(lines[1]), base64.b64decode(lines[2], validate=True)
        packed = base64.b64decode(words[2], validate=True)
    except (ValueError, binascii.Error) as error:
        raise ValueError(f"not a checkpoint note: {error}") from None
    if size < 0 or str(size) != lines[1] or len(root) != 32 or len(packed) != 68:
        raise ValueError("not a checkpoint note: wrong sizes")
    return Note(lines[0], size, root, f"{body}\n".encode(), packed[:4], packed[4:])


def parse_public_pem(pem: bytes) -> bytes:
    """The 32 raw bytes. Raises ValueError."""
    middle = b"".join(line for line in pem.splitlines() if not line.startswith(b"-----"))
    try:
        der = base64.b64decode(middle, validate=True)
    except binascii.Error:
        der = b""
    if len(der) != 44 or not der.startswith(_SPKI):
        raise ValueError("not an Ed25519 public key in PEM form")
    return der[12:]


def key_id(public: bytes) -> str:
    return "ed25519:" + hashlib.sha256(public).hexdigest()[:16]


def signed_by(note: Note, public: bytes) -> bool:
    hint = hashlib.sha256(note.origin.encode() + b"\n\x01" + public).digest()[:4]
    return hint == note.hint and _verify(public, note.body, note.signature)


def _verify(public: bytes, message: bytes, signature: bytes) -> bool:
    if Ed25519PublicKey is None:
        return ed25519.verify(public, message, signature)
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
