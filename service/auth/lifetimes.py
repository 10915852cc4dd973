"""How long what we give lasts (auth.md 7.4), from the settings; all in whole seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from service.auth import redirects
from service.settings import Settings

CODE_S: Final = 60
"""An authorization code; it is used at once or never."""

DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """The rules of one appliance.

    Args:
        access_s, native_access_s: an access token, of a hosted client and of one on the owner's machine.
        idle_s: a refresh token that is not used.
        grant_s: everything of one sign-in.
        grace_s: how long a used refresh token gives the same answer again.
        ends_on_reuse: whether an old refresh token that turns up ends the grant.
    """

    access_s: int
    native_access_s: int
    idle_s: int
    grant_s: int
    grace_s: int
    ends_on_reuse: bool

    @staticmethod
    def of(settings: Settings) -> Lifetimes:
        """As the owner set them."""
        return Lifetimes(
            int(settings.access_lifetime_s),
            int(settings.native_access_lifetime_s),
            int(settings.refresh_idle_s),
            int(settings.grant_lifetime_s),
            int(settings.refresh_grace_s),
            settings.refresh_reuse == "revoke",
        )

    def access_for(self, redirect_uri: str) -> int:
        """How long an access token lasts for a client that is reached there."""
        return self.native_access_s if redirects.is_native(redirect_uri) else self.access_s
