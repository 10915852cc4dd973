"""Where a browser is sent with the answer to an authorization request, for the client to read there."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode


@dataclass(frozen=True, slots=True)
class Answer:
    """The place for one answer. The client's own address stays as it is, with its query; what we add is escaped.

    Args:
        base: our address: `iss` (RFC 9207), which every answer has exactly once.
        state: the client's own word, given back; it may hold anything.
    """

    base: str
    redirect_uri: str
    state: str | None

    def with_code(self, code: str) -> str:
        """The owner said yes."""
        return self._with({"code": code})

    def with_error(self, error: str, why: str) -> str:
        """The owner said no, or the request is wrong. `why` is a sentence of ours (RFC 6749 §4.1.2.1: plain ASCII)."""
        return self._with({"error": error, "error_description": why})

    def _with(self, members: dict[str, str]) -> str:
        if self.state is not None:
            members["state"] = self.state
        members["iss"] = self.base
        joint = "&" if "?" in self.redirect_uri else "?"
        return self.redirect_uri + joint + urlencode(members, quote_via=quote, safe="", errors="replace")
