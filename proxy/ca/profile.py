"""The certificate profile: what a certificate of the local authority says, and nothing of where it lies.

In: the allow-listed hosts. Out: a self-signed certificate with its key, in memory; and the hosts such a certificate
permits. Critical NameConstraints (RFC 5280 4.2.1.10), path length 0, server authentication only.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Iterable, Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from proxy.ca.hosts import is_address

BACKDATED = dt.timedelta(hours=1)  # a client's clock may be behind ours
_EVERYWHERE = ("0.0.0.0/0", "::/0")


def self_signed(entries: Sequence[str], days: int) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A fresh key and its certificate, for the hosts listed."""
    key = ec.generate_private_key(ec.SECP256R1())
    mark = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    # each has a name of its own: clients that look issuers up by name never try the wrong one
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"onlooker local CA {mark.digest.hex()[:8]}")])
    begin = dt.datetime.now(dt.UTC) - BACKDATED
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + dt.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(constraints(entries), critical=True)
        .add_extension(key_usage(certificates=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(mark, critical=False)
    )
    return builder.sign(key, hashes.SHA256()), key


def key_usage(*, certificates: bool) -> x509.KeyUsage:
    """What a key signs: certificates, or else handshakes. RFC 5280 4.2.1.3."""
    return x509.KeyUsage(
        digital_signature=not certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=certificates,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def constraints(entries: Sequence[str]) -> x509.NameConstraints:
    """Only these. A kind of name without a permitted one would be free, so it is excluded as a whole."""
    names: list[x509.GeneralName] = [x509.DNSName(e.removeprefix("*.")) for e in entries if not is_address(e)]
    addresses: list[x509.GeneralName] = [x509.IPAddress(ipaddress.ip_network(e)) for e in entries if is_address(e)]
    excluded: list[x509.GeneralName] = []
    if not addresses:
        excluded += [x509.IPAddress(ipaddress.ip_network(n)) for n in _EVERYWHERE]
    if not names:
        excluded.append(x509.DNSName(""))
    return x509.NameConstraints([*names, *addresses], excluded or None)


def permitted(subtrees: Iterable[x509.GeneralName]) -> list[str]:
    """The hosts of permitted subtrees, as they are listed. A constrained name reaches its subdomains too."""
    out: list[str] = []
    for name in subtrees:
        if isinstance(name, x509.DNSName):
            out.append(name.value)
            out += [f"*.{name.value}"] if "." in name.value else []
        elif isinstance(name, x509.IPAddress) and not isinstance(
            name.value, ipaddress.IPv4Address | ipaddress.IPv6Address
        ):
            out.append(str(name.value.network_address))
    return out
