"""Server certificates for intercepted hosts, minted when first asked for and kept in memory only.

In: the authority. Out: an ``ssl.SSLContext`` per host that offers HTTP/1.1 and nothing else. One key per process; a
certificate lives 7 days at most, and never past its authority.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import ssl
import tempfile
import time
from collections import OrderedDict

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from proxy.ca.authority import Authority, pem
from proxy.ca.hosts import is_address
from proxy.ca.profile import BACKDATED, key_usage

LEAF_LIFE = dt.timedelta(days=7)
RENEW_S = 86400.0  # a context is used for this long, then minted anew: clients never see the end of its week
KEPT = 256  # hosts; a wildcard entry must not let a client fill memory
_MAX_COMMON_NAME = 64


class Mint:
    """``context(host)`` raises ssl.SSLError or ValueError when it cannot: the caller then tunnels blind."""

    def __init__(self, authority: Authority) -> None:
        assert authority.key
        self._authority = authority
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._kept: OrderedDict[str, tuple[float, ssl.SSLContext]] = OrderedDict()
        self.listed = authority.listed

    def context(self, host: str) -> ssl.SSLContext:
        kept = self._kept.get(host)
        now = time.monotonic()
        if kept is None or now - kept[0] > RENEW_S:
            kept = self._kept[host] = now, self._made(host)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(host)
        return kept[1]

    def certificate(self, host: str) -> x509.Certificate:
        """A fresh certificate for one host."""
        authority = self._authority
        if not authority.valid():
            raise ValueError("the authority is not valid now")
        assert authority.key
        begin = max(dt.datetime.now(dt.UTC) - BACKDATED, authority.certificate.not_valid_before_utc)
        address = is_address(host)
        # an address as common name would be held against the constraints for names
        named = not address and len(host) <= _MAX_COMMON_NAME
        common = [x509.NameAttribute(NameOID.COMMON_NAME, host)] if named else []
        name = x509.IPAddress(ipaddress.ip_address(host)) if address else x509.DNSName(host)
        signer = authority.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name(common))
            .issuer_name(authority.certificate.subject)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(min(begin + LEAF_LIFE, authority.until))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([name]), critical=not common)
            .add_extension(key_usage(certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(signer), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(authority.key, hashes.SHA256())
        )

    def _made(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.num_tickets = 0  # a client resumes nothing here, so none is sent
        _load(context, pem(self.certificate(host)) + pem(self._authority.certificate) + _private(self._key))
        return context


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _load(context: ssl.SSLContext, chain: bytes) -> None:
    """The ssl module reads certificates from files only: one in memory, or (no memfd) one that is gone at once."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("leaf", os.MFD_CLOEXEC), "wb") as out:
            out.write(chain)
            out.flush()
            context.load_cert_chain(f"/proc/self/fd/{out.fileno()}")
        return
    with tempfile.NamedTemporaryFile() as out:
        out.write(chain)
        out.flush()
        context.load_cert_chain(out.name)
