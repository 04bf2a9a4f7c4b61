"""The local certificate authority on disk: made, read, replaced, deleted.

In: a folder (``<state>/ca``) and the allow-listed hosts. Out: ``ca.pem``, ``ca.key`` (0600) and ``retired/*.pem``, or
``CaError`` with one sentence. It can sign for the allow-listed hosts and nothing else: critical NameConstraints
(RFC 5280 4.2.1.10), path length 0, server authentication only, 90 days at most.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from proxy.ca.hosts import Listed
from proxy.ca.profile import permitted, self_signed
from proxy.folders import private_directory, private_folder

CERTIFICATE, KEY, RETIRED = "ca.pem", "ca.key", "retired"
MAX_DAYS = 90


class CaError(Exception):
    """One sentence for the operator; ``code`` is the exit code."""

    def __init__(self, message: str, code: int = 3) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate and, when it may sign, its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey | None = None

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Both halves, checked: they belong together, only this user reads the key, the time is right."""
        certificate, file = read_certificate(folder / CERTIFICATE), folder / KEY
        try:
            info = file.stat()
            text = file.read_bytes()
        except FileNotFoundError:
            raise CaError(f"{file}: the key is not there; onlooker ca rotate makes a new pair") from None
        except OSError as error:
            raise CaError(f"{file}: {error.strerror}") from None
        if info.st_mode & 0o077 or info.st_uid != os.geteuid():
            raise CaError(f"{file}: others may read the key (mode {info.st_mode & 0o777:o}); rotate it")
        try:
            key = serialization.load_pem_private_key(text, None)
        except (ValueError, TypeError):
            raise CaError(f"{file}: not a private key; onlooker ca rotate makes a new pair") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
            raise CaError(f"{file}: not the key of {CERTIFICATE}; onlooker ca rotate makes a new pair")
        made = cls(certificate, key)
        if not made.valid():
            raise CaError(
                f"{folder / CERTIFICATE}: expired on {made.until:%Y-%m-%d}; onlooker ca rotate makes a new one"
            )
        return made

    @property
    def until(self) -> dt.datetime:
        return self.certificate.not_valid_after_utc

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate, hex."""
        return self.certificate.fingerprint(hashes.SHA256()).hex()

    @property
    def listed(self) -> Listed:
        """The hosts it may sign for. A constrained name reaches its subdomains too: that is how X.509 says it."""
        found = self.certificate.extensions.get_extension_for_class(x509.NameConstraints).value
        return Listed(permitted(found.permitted_subtrees or ()))

    def valid(self, now: dt.datetime | None = None) -> bool:
        now = now or dt.datetime.now(dt.UTC)
        return self.certificate.not_valid_before_utc <= now < self.until


def read_certificate(file: Path) -> x509.Certificate:
    """A certificate of ours: one that signs itself and carries name constraints."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        raise CaError(f"{file}: no local authority yet; make one with onlooker ca create") from None
    except OSError as error:
        raise CaError(f"{file}: {error.strerror}") from None
    try:
        found = x509.load_pem_x509_certificate(text)
        found.verify_directly_issued_by(found)
        found.extensions.get_extension_for_class(x509.NameConstraints)
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        raise CaError(f"{file}: not a certificate of onlooker; onlooker ca rotate makes a new one") from None
    return found


def create(folder: Path, hosts: Iterable[str], days: int = MAX_DAYS) -> Authority:
    """A new authority where there is none."""
    for name in (CERTIFICATE, KEY):
        if os.path.lexists(folder / name):
            raise CaError(f"{folder / name}: is there already; onlooker ca rotate replaces it")
    made = issue(hosts, days)
    _folder(folder)
    _write(folder / KEY, _private(made), 0o600)
    _write(folder / CERTIFICATE, pem(made.certificate), 0o644)
    return made


def rotate(folder: Path, hosts: Iterable[str], days: int = MAX_DAYS) -> Authority:
    """A new pair; the old certificate stays in ``retired/``, the old key is gone from the disk."""
    file = folder / CERTIFICATE
    if not file.exists():
        raise CaError(f"{file}: no local authority yet; make one with onlooker ca create")
    made = issue(hosts, days)
    _folder(folder)
    try:
        old = read_certificate(file)
    except CaError:
        pass  # what is no certificate of ours is not worth keeping
    else:
        retired = private_directory(folder / RETIRED)
        kept = retired / f"{Authority(old).fingerprint[:16]}.pem"
        if not kept.exists():
            _write(kept, pem(old), 0o644)
    for name, data, mode in ((KEY, _private(made), 0o600), (CERTIFICATE, pem(made.certificate), 0o644)):
        draft = folder / f".{name}.new"
        draft.unlink(missing_ok=True)
        _write(draft, data, mode)
        draft.replace(folder / name)
    return made


def retired(folder: Path) -> list[Authority]:
    """Certificates that were replaced, newest end first; a damaged file is passed over."""
    found = []
    for file in (folder / RETIRED).glob("*.pem"):
        try:
            found.append(Authority(read_certificate(file)))
        except CaError:
            continue
    return sorted(found, key=lambda a: a.until, reverse=True)


def delete(folder: Path) -> list[Path]:
    """Remove everything of the authority; returns what was removed."""
    gone = [p for p in (*folder.glob(f"{RETIRED}/*.pem"), *(folder / n for n in _FILES)) if os.path.lexists(p)]
    if not gone:
        raise CaError(f"{folder}: there is no local authority to delete")
    for file in gone:
        file.unlink()
    for emptied in (folder / RETIRED, folder):
        try:
            emptied.rmdir()
        except OSError:
            pass  # not there, or somebody keeps a file of their own in it
    return gone


_MADE = (KEY, CERTIFICATE, "bundle.pem", "added.pem")
_FILES = (*_MADE, *(f".{name}.new" for name in _MADE))


def issue(hosts: Iterable[str], days: int = MAX_DAYS) -> Authority:
    """A fresh key and its certificate, in memory."""
    if not 1 <= days <= MAX_DAYS:
        raise CaError(f"{days} days; expected 1 to {MAX_DAYS}", 2)
    try:
        entries = Listed(hosts).entries
    except ValueError as error:
        raise CaError(str(error), 2) from None
    if not entries:
        raise CaError("no host is listed for interception: an authority for nothing is not made", 2)
    return Authority(*self_signed(entries, days))


def pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(made: Authority) -> bytes:
    assert made.key
    return made.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _folder(folder: Path) -> None:
    try:
        private_folder(folder.parent)
        private_directory(folder)
    except OSError as error:
        raise CaError(error.args[0] if error.strerror is None else f"{folder}: {error.strerror}") from None


def _write(file: Path, data: bytes, mode: int) -> None:
    try:
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(fd, "wb") as out:
            out.write(data)
    except OSError as error:
        raise CaError(f"{file}: {error.strerror}") from None
