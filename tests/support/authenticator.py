"""An authenticator in software, for passkeys without a browser: P-256, attestation `none`, and every field can be bent.

phone = Authenticator()
text = phone.make(options, origin="https://notes.example.org")      # what navigator.credentials.create answers
text = phone.sign(options, origin="https://notes.example.org")      # what navigator.credentials.get answers
"""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any, Final

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT: Final = 0x01
VERIFIED: Final = 0x04
_ATTESTED: Final = 0x40


def encoded(data: bytes) -> str:
    """base64url without padding, as WebAuthn's JSON has it."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One device with one passkey. `counts`: whether its counter goes up with each use; synced passkeys stay at 0."""

    counts: bool = True
    count: int = 0
    flags: int = PRESENT | VERIFIED
    id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    user: bytes = b""

    def make(self, options: str, *, origin: str, rp_id: str | None = None, **client_data: Any) -> str:
        """Answer PublicKeyCredentialCreationOptions."""
        asked = json.loads(options)
        self.user = decoded(asked["user"]["id"])
        data = self._authenticator_data(rp_id or asked["rp"]["id"], _ATTESTED)
        data += bytes(16) + len(self.id).to_bytes(2, "big") + self.id + self._public_key()
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        said = _said("webauthn.create", asked["challenge"], origin, client_data)
        return self._credential({"clientDataJSON": encoded(said), "attestationObject": encoded(attestation)})

    def sign(self, options: str, *, origin: str, rp_id: str | None = None, **client_data: Any) -> str:
        """Answer PublicKeyCredentialRequestOptions."""
        asked = json.loads(options)
        self.count += self.counts
        data = self._authenticator_data(rp_id or asked["rpId"], 0)
        said = _said("webauthn.get", asked["challenge"], origin, client_data)
        signature = self.key.sign(data + hashlib.sha256(said).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": encoded(said),
            "authenticatorData": encoded(data),
            "signature": encoded(signature),
            "userHandle": encoded(self.user),
        }
        return self._credential(response)

    def copy(self) -> Authenticator:
        """A second device with the same key, as a thief would have."""
        return Authenticator(self.counts, self.count, self.flags, self.id, self.key, self.user)

    def _authenticator_data(self, rp_id: str, more_flags: int) -> bytes:
        flags = self.flags | more_flags
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _public_key(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})  # RFC 9053: EC2, ES256, P-256

    def _credential(self, response: dict[str, str]) -> str:
        return json.dumps(
            {
                "id": encoded(self.id),
                "rawId": encoded(self.id),
                "type": "public-key",
                "response": response,
                "clientExtensionResults": {},
            }
        )


def _said(kind: str, challenge: str, origin: str, more: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": False, **more}).encode()
