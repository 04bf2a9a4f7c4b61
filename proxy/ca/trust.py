"""How clients come to trust the local authority: a bundle, environment variables, commands for system stores.

In: the authority's folder. Out: ``bundle.pem`` (what this machine trusts, then ours), variables, command lines. No
system store is touched here; ``system_commands`` says what would.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path

from proxy.ca.authority import CERTIFICATE, Authority, CaError, pem, read_certificate, retired

BUNDLE, ADDED = "bundle.pem", "added.pem"
# Variables whose file replaces a program's own list, and those whose file is added to it.
# Source: OpenSSL SSL_CTX_set_default_verify_paths, requests "SSL Cert Verification", curl manual, AWS CLI and git
# references; Node.js CLI and Deno references (read 2026-11).
REPLACES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO")
ADDS = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")


def bundle(folder: Path, environment: Mapping[str, str]) -> Path:
    """Write ``bundle.pem`` anew: the machine's authorities (or those the environment names), ours, retired ones.

    ``added.pem`` is for programs that add a file to what they trust: the one they had, and ours. A retired certificate
    stays until it ends: a running onlooker may still sign with its key.
    """
    ours = [Authority(read_certificate(folder / CERTIFICATE)), *(a for a in retired(folder) if a.valid())]
    certificates = [pem(a.certificate) for a in ours]
    had = next((_named(environment, name, folder) for name in ADDS if environment.get(name)), None) or b""
    _put(folder / ADDED, b"\n".join((had.rstrip(), *certificates)).lstrip())
    return _put(folder / BUNDLE, b"\n".join((_machine(folder, environment).rstrip(), *certificates)))


def variables(folder: Path) -> dict[str, str]:
    """What makes programs trust the local authority besides what they trusted before."""
    return dict.fromkeys(REPLACES, str(folder / BUNDLE)) | dict.fromkeys(ADDS, str(folder / ADDED))


def _put(file: Path, text: bytes) -> Path:
    draft = file.with_name(f".{file.name}.new")
    try:
        draft.unlink(missing_ok=True)
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        with os.fdopen(fd, "wb") as out:
            out.write(text)
        draft.replace(file)
    except OSError as error:
        raise CaError(f"{file}: {error.strerror}") from None
    return file


def _named(environment: Mapping[str, str], name: str, folder: Path) -> bytes | None:
    """The file a variable names; None when it is one of ours or not there."""
    file = Path(environment[name])
    return file.read_bytes() if file.is_file() and file.resolve().parent != folder.resolve() else None


def _machine(folder: Path, environment: Mapping[str, str]) -> bytes:
    paths = ssl.get_default_verify_paths()
    for name in REPLACES:
        if environment.get(name) and (found := _named(environment, name, folder)) is not None:
            return found
    for name in (paths.cafile, paths.openssl_cafile, *_SYSTEM_BUNDLES):
        file = Path(name or "/nonexistent")
        if file.is_file() and file.resolve().parent != folder.resolve():
            return file.read_bytes()
    return b"".join(p.read_bytes() for p in sorted(Path(paths.capath or "/nonexistent").glob("*.pem")))


_SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


def system_commands(folder: Path) -> dict[str, list[list[str]]]:
    """Store → commands that put the certificate into it. Each system's own manual names them."""
    file = str(folder / CERTIFICATE)
    name = f"onlooker-{Authority(read_certificate(folder / CERTIFICATE)).fingerprint[:8]}"
    return {
        "debian": [["cp", file, f"/usr/local/share/ca-certificates/{name}.crt"], ["update-ca-certificates"]],
        "fedora": [["cp", file, f"/etc/pki/ca-trust/source/anchors/{name}.pem"], ["update-ca-trust", "extract"]],
        "arch": [["trust", "anchor", file]],
        "macos": [["security", "add-trusted-cert", "-r", "trustRoot", "-k", _LOGIN_KEYCHAIN, file]],
        "windows": [["certutil", "-addstore", "-user", "Root", file]],
        "java": [["keytool", "-importcert", "-noprompt", "-cacerts", "-alias", name, "-file", file]],
        "nss": [["certutil", "-d", f"sql:{Path.home()}/.pki/nssdb", "-A", "-t", "C,,", "-n", name, "-i", file]],
    }


_LOGIN_KEYCHAIN = "login.keychain-db"
