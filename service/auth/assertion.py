"""What the public half of a split Strongroom says to the half at home about each request, and how home knows that it is true.

    x-strongroom-assertion: v1.<what is said: JSON, base64url>.<HMAC-SHA256 over all before it, base64url>
    x-strongroom-answer:    <which start of home answers>.<HMAC-SHA256 over that and the request's nonce>

Each key is derived from STRONGROOM_EDGE_KEY for its one purpose. What is said binds the grant with its scopes and folders to
this one request: method, path, body, headers, moment, a nonce, and the start of home it is meant for. So what somebody in
the tunnel recorded is good for nothing: not a second time, not with another body, not after home was restarted (which
forgets the nonces). Reading fails in one way only, whatever was wrong. decisions.md 19; docs/explanation/sign-in.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, TypeAlias

from service.auth.grants import moment_of, seconds_of
from service.auth.model import SCOPES, Grant
from service.clock import Clock

HEADER: Final = b"x-strongroom-assertion"
ANSWER_HEADER: Final = b"x-strongroom-answer"
HEALTH_HEADER: Final = b"x-strongroom-health"
SKEW_S: Final = 60
"""By how much the two clocks may differ, either way."""

MAX_CHARS: Final = 12 * 1024
"""Of a whole assertion: it must fit into a request's head (16 KiB, `protocol.py`) with the other headers."""

MAX_NONCES: Final = 100_000
"""Remembered at once; more requests than that within two minutes are refused rather than forgotten."""

SIGNED_HEADERS: Final = frozenset(
    (b"accept", b"content-type", b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"mcp-session-id")
)
"""The headers that mean something to the protocol, in both eras; with those that begin with SIGNED_PREFIX nothing else is
passed on, and each is covered by the signature."""

SIGNED_PREFIX: Final = b"mcp-param-"
_VERSION: Final = "v1"
_NONCE_CHARS: Final = 32

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]


class TooLongError(Exception):
    """What is to be said does not fit into a request's head."""


@dataclass(frozen=True, slots=True)
class Call:
    """The request that is vouched for. `headers` and `body` are SHA-256 digests, in hex."""

    method: str
    path: str
    headers: str
    body: str

    @staticmethod
    def of(method: str, path: str, headers: Headers, body: bytes) -> Call:
        """Of a request whose `headers` went through `meaningful`."""
        lines = b"".join(name + b":" + value + b"\n" for name, value in sorted(headers))
        return Call(method, path, hashlib.sha256(lines).hexdigest(), hashlib.sha256(body).hexdigest())


@dataclass(frozen=True, slots=True)
class Assertion:
    """One thing said.

    Args:
        call: the request it is said about.
        grant: on whose word the request comes, as kind `edge`; None for a ping.
        to: the start of home it is meant for (`Home.start`); empty for a ping, which asks for it.
        at_ms: when it was said, milliseconds since 1970 by the speaker's clock.
        nonce: random, never said twice; behind the name of the start of the edge that says it.
    """

    call: Call
    grant: Grant | None
    to: str
    at_ms: int
    nonce: str

    @property
    def by(self) -> str:
        """Which start of the edge says it."""
        return self.nonce[:-_NONCE_CHARS]


def meaningful(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Those of a request's headers that are passed on: each name once, its values joined (RFC 9110 §5.3)."""
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        if name in SIGNED_HEADERS or name.startswith(SIGNED_PREFIX):
            found.setdefault(name, []).append(value.strip(b" \t"))
    return [(name, b", ".join(values)) for name, values in sorted(found.items())]


def said(call: Call, grant: Grant | None, to: str, clock: Clock, by: str = "") -> Assertion:
    """A new assertion, now, by this start of the edge."""
    nonce = by + secrets.token_hex(_NONCE_CHARS // 2)
    return Assertion(call, grant, to, int(clock.now().timestamp() * 1000), nonce)


def at_work(nonces: Iterable[str]) -> bytes:
    """The body of a ping: the requests that the edge still stands for."""
    return "\n".join(sorted(nonces)).encode()


def still_at_work(body: bytes) -> frozenset[str]:
    """The reverse."""
    return frozenset(body.decode("utf-8", "replace").split("\n"))


@dataclass(frozen=True, slots=True)
class Heard:
    """An assertion that was believed, and the key for the answer: the twin of the one it was signed with."""

    one: Assertion
    _key: bytes = field(repr=False)

    def answer(self, start: str) -> str:
        """The value of ANSWER_HEADER, by this start of home."""
        return f"{start}.{_text(_mac(self._key, f'{self.one.nonce}.{start}'.encode()))}"


class Keys:
    """What both halves share: the first key speaks, every one of them is believed, so that it can be changed without a gap.

    Args:
        shared: the values of STRONGROOM_EDGE_KEY, one or two.
    """

    def __init__(self, shared: Iterable[str]) -> None:
        values = [value.encode() for value in shared]
        self._ask = [_derived(value, b"ask") for value in values]
        self._answer = [_derived(value, b"answer") for value in values]
        self.health = tuple(_derived(value, b"health").hex().encode() for value in values)
        """What the health check at home shows in HEALTH_HEADER: a tunnel also ends on loopback, so that alone is no proof."""

    def sign(self, one: Assertion) -> str:
        """The value of HEADER.

        Raises:
            TooLongError: it does not fit into a request's head: the grant has too many folders.
        """
        body = f"{_VERSION}.{_text(_packed(one))}"
        text = f"{body}.{_text(_mac(self._ask[0], body.encode()))}"
        if len(text) > MAX_CHARS:
            raise TooLongError
        return text

    def read(self, values: Sequence[bytes]) -> Heard | None:
        """What the values of HEADER say, or None when they are not exactly one that was signed with a key of ours."""
        text = values[0] if len(values) == 1 and len(values[0]) <= MAX_CHARS else b""
        body, _, mac = text.rpartition(b".")
        # The texts are compared, not what they decode to: base64 has several spellings for the same bytes.
        matches = [hmac.compare_digest(mac, _text(_mac(key, body)).encode()) for key in self._ask]
        version, _, packed = body.partition(b".")
        one = _unpacked(packed) if any(matches) and version == _VERSION.encode() else None
        return None if one is None else Heard(one, self._answer[matches.index(True)])

    def answered(self, to: Assertion, text: str) -> str | None:
        """Which start of home answered `to`; None when this is not its answer."""
        start, _, mac = text.rpartition(".")
        expected = [_text(_mac(key, f"{to.nonce}.{start}".encode())) for key in self._answer]
        matches = [hmac.compare_digest(mac.encode(), one.encode()) for one in expected]
        return start if any(matches) else None


class Once:
    """Refuses what was said too long ago, or before. Lives in one event loop and as long as one start of home."""

    def __init__(self, clock: Clock, max_nonces: int = MAX_NONCES) -> None:
        self._clock, self._max_nonces = clock, max_nonces
        self._seen: OrderedDict[str, int] = OrderedDict()
        self._forgotten_ms = 0

    def why_not(self, one: Assertion) -> str | None:
        """Take note of it; a few words for the log when it must not be believed, None when it may."""
        now_ms = int(self._clock.now().timestamp() * 1000)
        while self._seen and next(iter(self._seen.values())) < now_ms - SKEW_S * 1000:
            self._forgotten_ms = max(self._forgotten_ms, self._seen.popitem(last=False)[1])
        if one.at_ms <= self._forgotten_ms:  # also where the clock was set back since
            return "said at a time of which nothing is remembered any more: it was recorded, or a clock was set back"
        if abs(now_ms - one.at_ms) > SKEW_S * 1000:
            return "the edge's clock differs from this one by more than a minute, or it was recorded and sent again"
        if one.nonce in self._seen:
            return "said before: it was recorded and sent again"
        if len(self._seen) >= self._max_nonces:
            return "too many requests within two minutes"
        self._seen[one.nonce] = one.at_ms
        return None


# -- how it is written ---------------------------------------------------------------------------------------------------


def _packed(one: Assertion) -> bytes:
    grant = one.grant
    told = None if grant is None else {
        "id": grant.id,
        "name": grant.name,
        "scopes": sorted(grant.scopes),
        "folders": list(grant.folders),
        "client": grant.client_id,
        "created": seconds_of(grant.created),
        "expires": None if grant.expires is None else seconds_of(grant.expires),
    }  # fmt: skip
    whole = {"call": asdict(one.call), "grant": told, "to": one.to, "at": one.at_ms, "nonce": one.nonce}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _unpacked(packed: bytes) -> Assertion | None:
    """The reverse; None when the other half is of a version that says something else."""
    try:
        whole = json.loads(base64.urlsafe_b64decode(packed + b"=" * (-len(packed) % 4)))
        return Assertion(
            Call(**whole["call"]), _grant(whole["grant"]), str(whole["to"]), int(whole["at"]), str(whole["nonce"])
        )
    except (binascii.Error, ValueError, KeyError, TypeError, OverflowError):
        return None


def _grant(told: dict[str, object] | None) -> Grant | None:
    if told is None:
        return None
    match told:
        case {
            "id": str(id_),
            "name": str(name),
            "scopes": list(scopes),
            "folders": list(folders),
            "client": str() | None as client,
            "created": int(created),
            "expires": int() | None as expires,
        } if set(scopes) <= set(SCOPES) and all(isinstance(folder, str) for folder in folders):
            ends = None if expires is None else moment_of(expires)
            return Grant(
                id_, "edge", name, frozenset(scopes), moment_of(created), ends, folders=tuple(folders), client_id=client
            )
    raise ValueError("a grant that says something else")


def _derived(shared: bytes, purpose: bytes) -> bytes:
    return _mac(shared, b"strongroom edge " + purpose + b" " + _VERSION.encode())


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
