"""What a client asks for and what the owner answers: the values that pass between the doors of signing in.

/oauth/authorize ─► asking.read ─► Asked ─► a page for the owner ─► Choice ─► a code, then tokens
                              └─► ShownError (a page) or SentBack (a redirect with an error)
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Client:
    """A program that wants access.

    Args:
        id: as it names itself: ours (registered, RFC 7591) or the URL of its metadata document (CIMD).
        kind: `dcr` (it introduced itself; its name is its own claim) or `cimd` (a document that is pinned here or that the
            owner had fetched).
        name: at most 80 characters, without control and bidi characters.
        domain: the host that stands for it, which is verified; None where nobody but the client says who it is.
        redirect_uris: where it may have the owner sent back.
    """

    id: str
    kind: str
    name: str
    domain: str | None
    redirect_uris: tuple[str, ...]
    is_disabled: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """An authorization request that has passed every check. `challenge` is of PKCE S256; `resource` is ours.

    `taken_at` is the epoch (`grants.py`) at which it was taken for its answer: when everything is revoked after that, the
    answer comes too late. The client's `domain` is None where the answer goes to a program on a device, which nobody can
    verify.
    """

    client: Client
    redirect_uri: str
    state: str | None
    challenge: str
    scopes: frozenset[str]
    resource: str
    taken_at: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ShownError:
    """A request that cannot be trusted enough to send anybody anywhere: the owner gets a page. `why` is plain text."""

    title: str
    why: str
    status: int = 400


@dataclass(frozen=True, slots=True)
class SentBack:
    """An error that goes to the client (RFC 6749 §4.1.2.1); `location` has `error`, `state` and `iss` already."""

    location: str


@dataclass(frozen=True, slots=True)
class Choice:
    """What the owner allows.

    Args:
        scopes: of what was asked for, or less.
        folders: the only folders the client may see, vault-relative; none of them: the whole vault.
        days: how long until the client has to sign in again, at most.
    """

    scopes: frozenset[str]
    folders: tuple[str, ...]
    days: int
