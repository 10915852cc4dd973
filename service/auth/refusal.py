"""What a client's program is told when it gets nothing: the error codes of OAuth, each with a sentence for its developer."""

from __future__ import annotations

from service.errors import Refused


class Refusal(Refused):
    """An error of the token, registration or revocation endpoint (RFC 6749 §5.2, RFC 7591 §3.2.2, RFC 8707 §2).

    Args:
        error: the protocol's word for it, such as `invalid_grant`.
        why: a sentence of our own; never what was sent.
    """

    def __init__(self, error: str, why: str) -> None:
        self.error = error
        super().__init__(why)


def invalid_grant() -> Refusal:
    """One wording for whatever is wrong with a code or a refresh token, so that nobody learns which."""
    return Refusal("invalid_grant", "this code or refresh token is not good any more; sign in again.")


def invalid_client() -> Refusal:
    """A client that we do not know (any more): good ones register anew (auth.md 4.1)."""
    return Refusal("invalid_client", "this client is not known here; register again.")
