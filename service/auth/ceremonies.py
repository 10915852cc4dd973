"""The two ceremonies of WebAuthn, making a passkey and signing in with one; the only door to the webauthn library.

Nothing is kept here: challenges, keys and counters come in and go out (`passkeys.py` keeps them). What a browser answers is
a stranger's word until its signature is checked, and the library stumbles over some of it in its own ways, so whatever
goes wrong inside comes out as one refusal. The library is imported by the first ceremony: it brings cryptography and more,
and most starts are followed by none.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from service.errors import Forbidden

if TYPE_CHECKING:
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

TIMEOUT_MS: Final = 120_000
"""How long the browser lets the owner look for a finger or a PIN."""

COPIED: Final = "counter went back: there may be a copy"
"""`PasskeyRefused.why` when a passkey signed and its counter says that another has its key (WebAuthn §7.2 step 22)."""

_OWNER: Final = "owner"
_NAME: Final = "Strongroom"
_LOCAL: Final = "localhost"


class PasskeyRefused(Forbidden):
    """The answer of a browser does not prove what it should. `why` is ours, for the audit log; the page says less."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__("The passkey was not accepted, and nothing was allowed. Try once more.")


@dataclass(frozen=True, slots=True)
class Site:
    """The web site that passkeys belong to: browsers hand them out to this origin and no other (WebAuthn §5.1.3)."""

    origin: str
    rp_id: str

    @staticmethod
    def of(base: str) -> Site:
        """The site of the address that clients use (`Settings.base_url`)."""
        parts = urlsplit(base)
        host = (parts.hostname or "").lower()
        port = parts.port
        shown = f"[{host}]" if ":" in host else host
        is_usual = port is None or (parts.scheme, port) in (("https", 443), ("http", 80))
        return Site(f"{parts.scheme}://{shown}" + ("" if is_usual else f":{port}"), host)

    @property
    def hindrance(self) -> str | None:
        """Why no browser makes passkeys for this site, a sentence with a way out; None when it can."""
        if _is_address(self.rp_id):
            return (
                f"passkeys belong to a name, and {self.rp_id} is a number: set STRONGROOM_PUBLIC_URL to an https address "
                "with a host name, or to http://localhost and the port."
            )
        is_local = self.rp_id == _LOCAL or self.rp_id.endswith(f".{_LOCAL}")
        if not self.origin.startswith("https://") and not is_local:
            return (
                f"browsers keep passkeys for https alone, and {self.origin} is not: put a proxy or tunnel with TLS in "
                "front and set STRONGROOM_PUBLIC_URL to its https address."
            )
        return None


@dataclass(frozen=True, slots=True)
class Made:
    """A passkey that was just made: its id, its public key (COSE) and where its counter stands."""

    id: bytes
    public_key: bytes
    sign_count: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a browser says it did, taken apart but not believed: which challenge it answers, with which passkey."""

    credential: dict[str, object]
    challenge: bytes
    passkey_id: bytes
    user: bytes | None


def to_make(site: Site, challenge: bytes, user: bytes, known: Sequence[bytes]) -> str:
    """What the browser needs to make a passkey, as JSON (PublicKeyCredentialCreationOptionsJSON).

    Args:
        user: the owner's handle, always the same: a second passkey on the same device takes the first one's place.
        known: the ids that are registered already, so that one device is not registered twice.
    """
    import webauthn
    from webauthn.helpers.structs import (
        AttestationConveyancePreference,
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    return webauthn.options_to_json(
        webauthn.generate_registration_options(
            rp_id=site.rp_id,
            rp_name=_NAME,
            user_name=_OWNER,
            user_display_name=_NAME,
            user_id=user,
            challenge=challenge,
            timeout=TIMEOUT_MS,
            attestation=AttestationConveyancePreference.NONE,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                require_resident_key=True,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=one) for one in known],
            supported_pub_key_algs=_algorithms(),
        )
    )


def to_sign_in(site: Site, challenge: bytes) -> str:
    """What the browser needs to sign in, as JSON. No passkey is named in it, so a stranger learns of none."""
    import webauthn
    from webauthn.helpers.structs import UserVerificationRequirement

    return webauthn.options_to_json(
        webauthn.generate_authentication_options(
            rp_id=site.rp_id,
            challenge=challenge,
            timeout=TIMEOUT_MS,
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def read(text: str) -> Answer:
    """Take a browser's answer apart (RegistrationResponseJSON, AuthenticationResponseJSON).

    Raises:
        PasskeyRefused: it is none.
    """
    from webauthn.helpers import base64url_to_bytes

    with _refusing("malformed"):
        credential = json.loads(text)
        response = credential["response"]
        said = json.loads(base64url_to_bytes(response["clientDataJSON"]))
        if said.get("crossOrigin"):
            raise PasskeyRefused("framed by another site")
        user = response.get("userHandle")
        return Answer(
            credential,
            base64url_to_bytes(said["challenge"]),
            base64url_to_bytes(credential["rawId"]),
            base64url_to_bytes(user) if user else None,
        )


def made(site: Site, answer: Answer) -> Made:
    """Check that a passkey was made for us: origin, rp id, user verified, algorithm (WebAuthn §7.1). The caller has made
    sure that the challenge is one of ours.

    Raises:
        PasskeyRefused: it was not.
    """
    import webauthn

    with _refusing("registration"):
        found = webauthn.verify_registration_response(
            credential=dict(answer.credential),
            expected_challenge=answer.challenge,
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            require_user_verification=True,
            supported_pub_key_algs=_algorithms(),
        )
        return Made(found.credential_id, found.credential_public_key, found.sign_count)


def counted(site: Site, answer: Answer, public_key: bytes) -> int:
    """Check that the passkey of this key signed in to us: origin, rp id, user verified, signature (WebAuthn §7.2).

    Returns its counter as it says. The rule about it is the caller's, who keeps the last one.

    Raises:
        PasskeyRefused: it did not.
    """
    import webauthn

    with _refusing("signature"):
        found = webauthn.verify_authentication_response(
            credential=dict(answer.credential),
            expected_challenge=answer.challenge,
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            credential_public_key=public_key,
            credential_current_sign_count=0,
            require_user_verification=True,
        )
        return found.new_sign_count


def _algorithms() -> list[COSEAlgorithmIdentifier]:
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    return [
        COSEAlgorithmIdentifier.ECDSA_SHA_256,
        COSEAlgorithmIdentifier.EDDSA,
        COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
    ]


@contextmanager
def _refusing(why: str) -> Iterator[None]:
    try:
        yield
    except PasskeyRefused:
        raise
    except Exception as error:  # a KeyError for a key that lacks a field, a RecursionError for deep CBOR, and more
        raise PasskeyRefused(why) from error


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
