"""A company's own authority and what it signed, as PEM files: servers of TLS tests, and who we are to them."""

import datetime as dt
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

API = "api.corp.example"


class Company:
    """An authority of its own and what it signed: ``ca``, ``server`` (API, localhost), ``client``; PEM files."""

    def __init__(self, folder):
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "Company")])
        made = self._sign(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0), usage(signs=True))
        self.ca = self._write("ca.pem", made)
        self.server = self._leaf("server", x509.SubjectAlternativeName([x509.DNSName(API), x509.DNSName("localhost")]))
        self.client = self._leaf("client", x509.SubjectAlternativeName([x509.DNSName("onlooker.example")]))

    def _leaf(self, name, names):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)])
        made = self._sign(subject, key, x509.BasicConstraints(ca=False, path_length=None), usage(), names)
        form = serialization.PrivateFormat.PKCS8
        plain = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        locked = key.private_bytes(serialization.Encoding.PEM, form, serialization.BestAvailableEncryption(b"x"))
        (self.folder / f"{name}.key").write_bytes(plain)
        (self.folder / f"{name}.locked").write_bytes(locked)
        return self._write(f"{name}.pem", made)

    def _sign(self, subject, key, *extensions):
        now = dt.datetime.now(dt.UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - dt.timedelta(days=1))
        builder = builder.not_valid_after(now + dt.timedelta(days=1))
        # what RFC 5280 asks of every certificate: Python 3.13 takes it at its word
        own, issuers = key.public_key(), self._key.public_key()
        named = (
            x509.SubjectKeyIdentifier.from_public_key(own),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuers),
        )
        for extension in (*extensions, *named):
            critical = isinstance(extension, x509.BasicConstraints | x509.KeyUsage)
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._key, hashes.SHA256())

    def _write(self, name, made):
        (self.folder / name).write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return str(self.folder / name)

    def key(self, name, kind="key"):
        return str(self.folder / f"{name}.{kind}")

    def tls(self, *, asks=False):
        """How a server of this company wraps its sockets; ``asks``: who the client is must be shown."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server, self.key("server"))
        if asks:
            context.load_verify_locations(self.ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return lambda sock: context.wrap_socket(sock, server_side=True)


def usage(*, signs=False):
    return x509.KeyUsage(
        digital_signature=not signs, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=signs, encipher_only=False, decipher_only=False,
    )  # fmt: skip
