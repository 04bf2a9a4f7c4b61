"""Signed bundles of policies: a folder, a manifest with a hash of each file, an Ed25519 signature over the manifest.

In: a folder, trusted public keys, the revisions in force, the time. Out: ``Bundle`` (id, revision, policy files), or
``BundleError`` with one sentence. ``manifest.json`` holds ``{"bundle": 1, "id", "revision", "not_before",
"not_after", "files": {path: sha256}}``; ``manifest.sig`` the key's id and the base64 signature of its exact bytes.

Where trust is required an unsigned folder is refused: taking the signature away must not be a way in. Revisions never
go down, so an old bundle that was signed once cannot be put back. Every file must be listed, and no other be there.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from policies.words import instant

MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
MAX_MANIFEST = 1 << 20


class BundleError(ValueError):
    """The bundle is not to be used; the message says why. ``again``: when it could be otherwise by itself."""

    def __init__(self, why: str, again: datetime | None = None) -> None:
        super().__init__(why)
        self.again = again


@dataclass(frozen=True, slots=True)
class Bundle:
    """``signed_by``: id of the key, None for an unsigned folder where trust is not required.

    ``digests``: SHA-256 (hex) of every listed file, to be held against the bytes that are read afterwards.
    """

    id: str
    revision: int
    files: tuple[Path, ...]
    signed_by: str | None
    digests: Mapping[Path, str] = field(default_factory=dict)
    until: datetime | None = None


def key_id(key: Ed25519PublicKey) -> str:
    """The first 16 hex digits of the SHA-256 of the raw public key."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


def read(
    folder: Path,
    keys: Mapping[str, Ed25519PublicKey],
    now: datetime,
    *,
    revisions: Mapping[str, int] | None = None,
    required: bool = True,
) -> Bundle:
    """Verify and open a bundle. Raises BundleError. ``revisions``: bundle id -> the highest that was in force.

    ``required`` False lets an unsigned folder through, unsigned.
    """
    raw = _bytes(folder / MANIFEST)
    signed_by = _verified(folder, raw, keys, required=required)
    manifest = _manifest(raw)
    revision, files = manifest["revision"], manifest["files"]
    last = (revisions or {}).get(manifest["id"], 0)
    if revision < last:
        raise BundleError(f"revision {revision} is older than {last}, which was in force; revisions never go down")
    _in_time(manifest, now)
    _same_files(folder, files)
    paths = tuple(folder / name for name in sorted(files) if name.endswith(".yaml"))
    digests = {folder / name: str(digest) for name, digest in files.items()}
    return Bundle(manifest["id"], revision, paths, signed_by, digests, instant(manifest.get("not_after")))


def _bytes(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BundleError(f"{path.name}: {error.strerror}") from None
    if len(content) > MAX_MANIFEST:
        raise BundleError(f"{path.name} is over {MAX_MANIFEST} bytes")
    return content


def _verified(folder: Path, raw: bytes, keys: Mapping[str, Ed25519PublicKey], *, required: bool) -> str | None:
    if not (folder / SIGNATURE).exists():
        if required:
            raise BundleError(f"there is no {SIGNATURE}, and trust is required")
        return None
    name, _, text = _bytes(folder / SIGNATURE).decode("ascii", "replace").strip().partition(" ")
    key = keys.get(name)
    if key is None:
        raise BundleError(f"signed by key {name[:32]}, which is not trusted here")
    try:
        key.verify(base64.b64decode(text, validate=True), raw)
    except (InvalidSignature, ValueError):
        raise BundleError(f"the signature by key {name} does not fit the manifest") from None
    return name


def _manifest(raw: bytes) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(raw)
    except ValueError as error:
        raise BundleError(f"{MANIFEST} is not JSON: {error}") from None
    shape = isinstance(value, dict) and value.get("bundle") == 1 and isinstance(value.get("id"), str)
    number = shape and isinstance(value.get("revision"), int) and not isinstance(value["revision"], bool)
    if not number or not isinstance(value.get("files"), dict) or not value["files"]:
        raise BundleError(f'{MANIFEST} needs "bundle": 1, an id, a revision and files')
    for name in value["files"]:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise BundleError(f"{MANIFEST}: '{name}' leads out of the bundle")
    return value


def _in_time(manifest: dict[str, Any], now: datetime) -> None:
    for key, wrong in (("not_before", "is not valid before"), ("not_after", "was valid until")):
        if manifest.get(key) is None:
            continue
        moment = instant(manifest[key])
        if moment is None:
            raise BundleError(f"{MANIFEST}: {key} is no time with an offset")
        if (now < moment) if key == "not_before" else (now >= moment):
            raise BundleError(f"the bundle {wrong} {manifest[key]}", moment if now < moment else None)


def _same_files(folder: Path, files: dict[str, str]) -> None:
    present = {
        p.relative_to(folder).as_posix()
        for p in folder.rglob("*")
        if p.is_file() and p.relative_to(folder).as_posix() not in {MANIFEST, SIGNATURE}
    }
    if extra := sorted(present - set(files)):
        raise BundleError(f"'{extra[0]}' is in the folder and not in the manifest")
    for name, digest in files.items():
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise BundleError(f"'{name}' of the manifest: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise BundleError(f"'{name}' is not what the manifest says")


def sign(folder: Path, ident: str, revision: int, key: Ed25519PrivateKey, *, not_after: str | None = None) -> str:
    """Write manifest and signature for every file of the folder; answers the key's id."""
    files = {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.relative_to(folder).as_posix() not in {MANIFEST, SIGNATURE}
    }
    manifest = {
        "bundle": 1,
        "id": ident,
        "revision": revision,
        "not_before": None,
        "not_after": not_after,
        "files": files,
    }
    raw = (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
    name = key_id(key.public_key())
    (folder / MANIFEST).write_bytes(raw)
    (folder / SIGNATURE).write_text(f"{name} {base64.b64encode(key.sign(raw)).decode()}\n", "ascii")
    return name
