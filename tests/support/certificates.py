"""A certificate authority for one test, and a TLS server's certificate by it."""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def contexts(folder: Path, host: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS for a server that is `host`, and for a client that trusts nobody else. Files go into `folder`."""
    authority, its_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = _certificate("Test authority", "Test authority", authority, authority, is_authority=True)
    leaf = _certificate(host, "Test authority", its_key, authority, is_authority=False)
    pem = serialization.Encoding.PEM
    (folder / "root.pem").write_bytes(root.public_bytes(pem))
    key = its_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(key + leaf.public_bytes(pem))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.pem")
    return server, ssl.create_default_context(cafile=str(folder / "root.pem"))


def _certificate(
    name: str,
    issuer: str,
    key: ec.EllipticCurvePrivateKey,
    signed_by: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    usage = dict.fromkeys(("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False)
    return (
        x509.CertificateBuilder()
        .subject_name(_called(name))
        .issuer_name(_called(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name.replace(" ", "-"))]), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=is_authority,
                crl_sign=is_authority,
                encipher_only=False,
                decipher_only=False,
                **usage,
            ),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signed_by.public_key()), critical=False)
        .sign(signed_by, hashes.SHA256())
    )


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
