"""Refresh tokens under any order of events: an owner who retries and loses answers, a thief, restarts, a clock that moves.

Three claims of auth.md 7.5: a grant never has two refresh tokens that could go on; an owner without a thief is never put out;
and where there is a thief, he or the owner finds the grant ended as soon as both have gone on.
"""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.auth.minting import Issued
from service.auth.refusal import Refusal
from tests.support.clock import HeldClock
from tests.support.signing_in import SigningIn

WITHIN_GRACE = timedelta(seconds=50)
AFTER_GRACE = timedelta(seconds=121)


class Renewing(RuleBasedStateMachine):
    """One grant. `owner` and `thief` are the tokens that each holds; None: the thief has not stolen yet."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = HeldClock.at("2026-03-01T12:00:00")
        self.rooms = self.opened()
        self.client = self.rooms.client()
        self.owner: Issued = self.rooms.signed_in(self.client, days=180)
        self.thief: Issued | None = None

    def opened(self) -> SigningIn:
        return SigningIn.over(Path(self.folder.name), self.clock)

    def teardown(self) -> None:
        try:
            self.ends_the_thief()
        finally:
            self.rooms.database.close()
            self.folder.cleanup()

    # -- what happens --------------------------------------------------------------------------------------------------

    @rule(is_used=st.booleans())
    def owner_renews(self, is_used: bool) -> None:
        self.owner = self.renewed(self.owner, is_used=is_used) or self.owner

    @rule(times=st.integers(1, 3))
    def owner_renews_at_once(self, times: int) -> None:
        """Several sessions with one token."""
        found = [one for one in (self.renewed(self.owner, is_used=True) for _ in range(times)) if one]
        assert len({one.refresh_token for one in found}) <= 1
        self.owner = found[-1] if found else self.owner

    @rule()
    def owner_loses_the_answer(self) -> None:
        self.renewed(self.owner, is_used=False)

    @rule()
    def owner_calls(self) -> None:
        self.rooms.call(self.owner.access_token)

    @rule(by=st.sampled_from([timedelta(seconds=1), WITHIN_GRACE, AFTER_GRACE, timedelta(hours=9)]))
    def time_passes(self, by: timedelta) -> None:
        self.clock.move(by)

    @rule()
    def the_service_restarts(self) -> None:
        self.rooms.database.close()
        self.rooms = self.opened()

    @precondition(lambda self: self.has_thief)
    @rule()
    def thief_copies(self) -> None:
        self.thief = self.owner

    @precondition(lambda self: self.thief is not None)
    @rule(is_used=st.booleans())
    def thief_renews(self, is_used: bool) -> None:
        assert self.thief is not None
        self.thief = self.renewed(self.thief, is_used=is_used) or self.thief

    # -- what is always so ---------------------------------------------------------------------------------------------

    has_thief = True

    @invariant()
    def one_token_at_most_can_go_on(self) -> None:
        rows = self.rooms.database.connection().execute(
            "SELECT count(*) AS n FROM token WHERE kind = 'r' AND rotated IS NULL AND revoked IS NULL"
        )
        assert rows.fetchone()["n"] == 1

    @invariant()
    def without_a_thief_the_owner_stays(self) -> None:
        assert self.thief is not None or self.is_alive

    def ends_the_thief(self) -> None:
        """Owner, thief, owner, each at his leisure: then it is found out."""
        if self.thief is None:
            assert self.renewed(self.owner, is_used=True) is not None
            return
        for _ in range(2):
            self.owner = self.renewed(self.owner, is_used=True) or self.owner
            self.clock.move(AFTER_GRACE)
            self.thief = self.renewed(self.thief, is_used=True) or self.thief
            self.clock.move(AFTER_GRACE)
        assert not self.is_alive
        assert self.rooms.call(self.owner.access_token) is None
        assert self.rooms.call(self.thief.access_token) is None

    # -- how -----------------------------------------------------------------------------------------------------------

    @property
    def is_alive(self) -> bool:
        (grant,) = self.rooms.grants.all()
        return grant.is_alive(self.clock.now())

    def renewed(self, held: Issued, *, is_used: bool) -> Issued | None:
        try:
            found = self.rooms.refresh.renew(self.client.id, held.refresh_token)
        except Refusal:
            assert not self.is_alive, "refused without ending the grant"
            return None
        if is_used:
            assert self.rooms.call(found.access_token) is not None
        return found


class RenewingAlone(Renewing):
    """Nobody but the owner."""

    has_thief = False


_QUICK = settings(max_examples=25, stateful_step_count=20)
TestRenewing = Renewing.TestCase
TestRenewing.settings = _QUICK
TestRenewing.__doc__ = "Attack 49, attack 51, attack 52: whatever the order, a thief is found out."
TestRenewingAlone = RenewingAlone.TestCase
TestRenewingAlone.settings = _QUICK
TestRenewingAlone.__doc__ = "Attack 48, attack 50: whatever the order, an honest client is not put out."
