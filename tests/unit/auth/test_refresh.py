"""Renewing access: what honest clients do is forgiven, what only a thief does ends the grant."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from service.auth import purge
from service.auth.asked import Client
from service.auth.minting import Issued
from service.auth.refusal import Refusal
from service.auth.tokens import digest
from service.errors import Forbidden
from tests.support.clock import HeldClock
from tests.support.signing_in import SigningIn

READ = ("vault:read",)
LATER = timedelta(seconds=121)


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-03-01T12:00:00")


@pytest.fixture
def rooms(tmp_path: Path, clock: HeldClock) -> SigningIn:
    return SigningIn.over(tmp_path, clock)


@pytest.fixture
def client(rooms: SigningIn) -> Client:
    return rooms.client()


def refused(rooms: SigningIn, client: Client, token: str, scope: str | None = None) -> str:
    with pytest.raises(Refusal) as found:
        rooms.refresh.renew(client.id, token, scope)
    return found.value.error


def is_alive(rooms: SigningIn) -> bool:
    (grant,) = rooms.grants.all()
    return grant.is_alive(rooms.clock.now())


def test_a_refresh_token_gives_the_next_one(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """auth.md 7.5: rotation."""
    issued = rooms.signed_in(client)
    for _ in range(5):
        clock.move(timedelta(hours=8))
        renewed = rooms.refresh.renew(client.id, issued.refresh_token)
        assert renewed.refresh_token != issued.refresh_token
        assert rooms.call(renewed.access_token) is not None
        issued = renewed
    assert is_alive(rooms)


def test_many_at_once_get_the_same_successor(rooms: SigningIn, client: Client) -> None:
    """Attack 48; auth.md 4.4 claude-code#91641; complaint 51: six sessions with one token, in threads."""
    issued = rooms.signed_in(client)
    found: list[Issued] = []
    barrier = threading.Barrier(6)

    def renew() -> None:
        barrier.wait()
        found.append(rooms.refresh.renew(client.id, issued.refresh_token))

    threads = [threading.Thread(target=renew) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.refresh_token for one in found}) == 1
    assert len({one.access_token for one in found}) == 6
    assert all(rooms.call(one.access_token) is not None for one in found)


@pytest.mark.parametrize("seconds", [0, 30, 60, 76, 120])
def test_the_same_answer_comes_again_within_the_grace(
    rooms: SigningIn, client: Client, clock: HeldClock, seconds: int
) -> None:
    """auth.md 4.4 fastmcp#4265 and others: bursts of 33 to 76 s; complaint 51."""
    issued = rooms.signed_in(client)
    first = rooms.refresh.renew(client.id, issued.refresh_token)
    assert rooms.call(first.access_token) is not None
    clock.move(timedelta(seconds=seconds))
    assert rooms.refresh.renew(client.id, issued.refresh_token).refresh_token == first.refresh_token
    assert "refresh_replay_in_grace" in rooms.events()


def test_a_thief_within_the_grace_is_found_at_the_next_rotation(
    rooms: SigningIn, client: Client, clock: HeldClock
) -> None:
    """Attack 49: he gets the same successor; when both go on, the second is an old one."""
    issued = rooms.signed_in(client)
    owners = rooms.refresh.renew(client.id, issued.refresh_token)
    thiefs = rooms.refresh.renew(client.id, issued.refresh_token)
    assert owners.refresh_token == thiefs.refresh_token
    clock.move(timedelta(hours=1))
    next_one = rooms.refresh.renew(client.id, owners.refresh_token)
    assert rooms.call(next_one.access_token) is not None
    clock.move(LATER)
    assert refused(rooms, client, thiefs.refresh_token) == "invalid_grant"
    assert not is_alive(rooms)
    for one in (owners, thiefs, next_one):
        assert rooms.call(one.access_token) is None
    assert "refresh_reuse" in rooms.events()


def test_a_lost_answer_is_forgiven_days_later(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """Attack 50; auth.md 4.4 claude-code#66210: nothing of the successor was ever used."""
    issued = rooms.signed_in(client)
    lost = rooms.refresh.renew(client.id, issued.refresh_token)
    clock.move(timedelta(days=4))
    found = rooms.refresh.renew(client.id, issued.refresh_token)
    assert found.refresh_token != lost.refresh_token
    assert rooms.call(found.access_token) is not None
    assert "refresh_lost_response" in rooms.events()


def test_a_lost_answer_is_forgiven_after_a_restart(
    tmp_path: Path, rooms: SigningIn, client: Client, clock: HeldClock
) -> None:
    """auth.md 2.4: what was remembered for the grace is gone; complaint 50."""
    issued = rooms.signed_in(client)
    lost = rooms.refresh.renew(client.id, issued.refresh_token)
    again = SigningIn.over(tmp_path, clock)
    found = again.refresh.renew(client.id, issued.refresh_token)
    assert found.refresh_token != lost.refresh_token
    assert again.call(lost.access_token) is None
    assert again.call(found.access_token) is not None


def test_what_was_put_aside_ends_the_grant_when_it_turns_up(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """Attack 51: somebody had the answer that was not lost after all."""
    issued = rooms.signed_in(client)
    superseded = rooms.refresh.renew(client.id, issued.refresh_token)
    clock.move(LATER)
    found = rooms.refresh.renew(client.id, issued.refresh_token)
    assert rooms.call(superseded.access_token) is None
    assert refused(rooms, client, superseded.refresh_token) == "invalid_grant"
    assert rooms.call(found.access_token) is None
    assert not is_alive(rooms)


@pytest.mark.parametrize("how", ["access", "refresh"])
def test_an_old_one_ends_the_grant_when_its_successor_was_used(
    rooms: SigningIn, client: Client, clock: HeldClock, how: str
) -> None:
    """Attack 52; complaint 51: by its access token or by being exchanged."""
    issued = rooms.signed_in(client)
    successor = rooms.refresh.renew(client.id, issued.refresh_token)
    if how == "access":
        assert rooms.call(successor.access_token) is not None
    else:
        rooms.refresh.renew(client.id, successor.refresh_token)
    clock.move(LATER)
    assert refused(rooms, client, issued.refresh_token) == "invalid_grant"
    assert not is_alive(rooms)
    assert refused(rooms, client, successor.refresh_token) == "invalid_grant"


def test_the_use_of_a_token_is_remembered_after_the_token_is_cleared_away(
    rooms: SigningIn, client: Client, clock: HeldClock
) -> None:
    """auth.md 7.5, attack 52: an access token that expired and was purged was used all the same."""
    issued = rooms.signed_in(client)
    successor = rooms.refresh.renew(client.id, issued.refresh_token)
    assert rooms.call(successor.access_token) is not None
    clock.move(timedelta(days=3))
    purge.purge(rooms.database, clock)
    row = rooms.database.connection().execute("SELECT 1 FROM token WHERE hash = ?", (digest(successor.access_token),))
    assert row.fetchone() is None
    assert refused(rooms, client, issued.refresh_token) == "invalid_grant"
    assert not is_alive(rooms)


def test_a_grandparent_ends_the_grant_even_within_the_grace(rooms: SigningIn, client: Client) -> None:
    """Attack 53."""
    first = rooms.signed_in(client)
    second = rooms.refresh.renew(client.id, first.refresh_token)
    rooms.refresh.renew(client.id, second.refresh_token)
    assert refused(rooms, client, first.refresh_token) == "invalid_grant"
    assert not is_alive(rooms)


def test_with_reject_an_old_one_fails_and_nothing_else(tmp_path: Path, clock: HeldClock) -> None:
    """auth.md 7.5: the policy for clients that keep old tokens (4.4 claude-code#66210)."""
    rooms = SigningIn.over(tmp_path, clock, REFRESH_REUSE="reject")
    client = rooms.client()
    issued = rooms.signed_in(client)
    successor = rooms.refresh.renew(client.id, issued.refresh_token)
    assert rooms.call(successor.access_token) is not None
    clock.move(LATER)
    assert refused(rooms, client, issued.refresh_token) == "invalid_grant"
    assert is_alive(rooms)
    assert rooms.refresh.renew(client.id, successor.refresh_token)
    assert "refresh_reuse" in rooms.events()


def test_without_a_grace_a_second_use_is_a_lost_answer_or_a_theft(tmp_path: Path, clock: HeldClock) -> None:
    """STRONGROOM_REFRESH_GRACE=0."""
    rooms = SigningIn.over(tmp_path, clock, REFRESH_GRACE="0")
    client = rooms.client()
    issued = rooms.signed_in(client)
    first = rooms.refresh.renew(client.id, issued.refresh_token)
    second = rooms.refresh.renew(client.id, issued.refresh_token)
    assert first.refresh_token != second.refresh_token
    assert rooms.call(second.access_token) is not None
    assert refused(rooms, client, issued.refresh_token) == "invalid_grant"
    assert not is_alive(rooms)


def test_another_client_gets_nothing_and_takes_nothing(rooms: SigningIn, client: Client) -> None:
    """Attack 54."""
    issued = rooms.signed_in(client)
    assert refused(rooms, rooms.client(), issued.refresh_token) == "invalid_grant"
    assert rooms.refresh.renew(client.id, issued.refresh_token)


def test_nothing_is_renewed_after_the_end(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """Attack 55: 180 days, however often it was renewed meanwhile."""
    issued = rooms.signed_in(client, days=10_000)
    for _ in range(3):
        clock.move(timedelta(days=59))
        issued = rooms.refresh.renew(client.id, issued.refresh_token)
    clock.move(timedelta(days=3))
    assert refused(rooms, client, issued.refresh_token) == "invalid_grant"
    assert rooms.call(issued.access_token) is None


def test_nothing_is_renewed_after_sixty_idle_days(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """auth.md 7.4; and the owner's list says so (`idle`)."""
    issued = rooms.signed_in(client, days=10_000)
    clock.move(timedelta(days=60))
    assert refused(rooms, client, issued.refresh_token) == "invalid_grant"
    assert purge.purge(rooms.database, clock) == 1
    assert not is_alive(rooms)


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_jumps_a_day_does_no_harm(rooms: SigningIn, client: Client, clock: HeldClock, days: int) -> None:
    """Attack 57: no crash, no lifetime below nothing, and the client goes on."""
    issued = rooms.signed_in(client)
    assert rooms.call(issued.access_token) is not None
    clock.move(timedelta(days=days))
    renewed = rooms.refresh.renew(client.id, issued.refresh_token)
    assert renewed.expires_in_s > 0
    assert rooms.call(renewed.access_token) is not None
    clock.move(timedelta(days=-days))
    again = rooms.refresh.renew(client.id, renewed.refresh_token)
    assert again.expires_in_s > 0
    assert rooms.call(again.access_token) is not None


def test_scopes_get_fewer_and_never_more(rooms: SigningIn, client: Client) -> None:
    """Attack 47: asked for less it is less for good, in the access token too."""
    issued = rooms.signed_in(client)
    narrowed = rooms.refresh.renew(client.id, issued.refresh_token, "vault:read")
    assert narrowed.scopes == {"vault:read"}
    grant = rooms.call(narrowed.access_token)
    assert grant is not None
    assert not grant.may_write
    assert refused(rooms, client, narrowed.refresh_token, "vault:read vault:write") == "invalid_scope"
    assert refused(rooms, client, narrowed.refresh_token, "vault:write") == "invalid_scope"
    for scope in (None, "", "vault:read", "vault:read offline_access", "offline_access"):
        narrowed = rooms.refresh.renew(client.id, narrowed.refresh_token, scope)
        assert narrowed.scopes == {"vault:read"}


@pytest.mark.parametrize("scope", ["vault:read vault:write", "vault:write", "admin", "vault:read admin"])
def test_a_read_only_grant_stays_one(rooms: SigningIn, client: Client, scope: str) -> None:
    """Attack 47: a refused widening does not use the token up."""
    issued = rooms.signed_in(client, scopes=READ)
    assert refused(rooms, client, issued.refresh_token, scope) == "invalid_scope"
    assert rooms.refresh.renew(client.id, issued.refresh_token).scopes == {"vault:read"}


def test_within_the_grace_nobody_gets_more_than_the_successor_has(rooms: SigningIn, client: Client) -> None:
    """Attack 47 together with attack 48."""
    issued = rooms.signed_in(client)
    rooms.refresh.renew(client.id, issued.refresh_token, "vault:read")
    assert refused(rooms, client, issued.refresh_token, "vault:write") == "invalid_scope"
    assert rooms.refresh.renew(client.id, issued.refresh_token).scopes == {"vault:read"}


def test_of_a_revocation_and_renewals_at_once_no_token_survives(rooms: SigningIn, client: Client) -> None:
    """Attack 79: threads renew while the grant ends; whatever they got is dead."""
    issued = rooms.signed_in(client)
    (grant,) = rooms.grants.all()
    got, barrier = [issued], threading.Barrier(4)

    def renew() -> None:
        token = issued.refresh_token
        barrier.wait()
        try:
            for _ in range(30):
                renewed = rooms.refresh.renew(client.id, token)
                got.append(renewed)
                token = renewed.refresh_token
        except Refusal:
            return

    threads = [threading.Thread(target=renew) for _ in range(3)]
    for thread in threads:
        thread.start()
    barrier.wait()
    rooms.grants.end([grant.id], "owner")
    for thread in threads:
        thread.join()
    assert all(rooms.call(one.access_token) is None for one in got)
    assert all(refused(rooms, client, one.refresh_token) == "invalid_grant" for one in got)


# -- giving back ---------------------------------------------------------------------------------------------------------


def test_a_client_can_give_back_what_it_has(rooms: SigningIn, client: Client) -> None:
    """Attack 80; auth.md 7.7: an access token alone, with a refresh token everything."""
    issued = rooms.signed_in(client)
    epoch = rooms.grants.epoch()
    assert rooms.grants.revoke_token(digest(issued.access_token), client.id) is not None
    assert rooms.grants.epoch() > epoch
    assert rooms.call(issued.access_token) is None
    renewed = rooms.refresh.renew(client.id, issued.refresh_token)
    assert rooms.call(renewed.access_token) is not None
    assert rooms.grants.revoke_token(digest(renewed.refresh_token), client.id) is not None
    assert rooms.call(renewed.access_token) is None
    assert not is_alive(rooms)
    assert rooms.grants.revoke_token(digest(renewed.refresh_token), client.id) is None


def test_a_change_that_is_under_way_stops_when_its_token_ends(
    rooms: SigningIn, client: Client, clock: HeldClock
) -> None:
    """Attack 79's kind, auth.md 7.7: the last look before a change becomes visible is at the token it came by, and not only at
    the grant, which lives on: given back alone (RFC 7009), put aside as lost, or expired."""
    issued = rooms.signed_in(client)
    under_way = rooms.grants.find(digest(issued.access_token))
    assert under_way is not None
    rooms.grants.check(under_way)
    rooms.grants.revoke_token(digest(issued.access_token), client.id)
    with pytest.raises(Forbidden):
        rooms.grants.check(under_way)

    lost = rooms.refresh.renew(client.id, issued.refresh_token)
    under_way = rooms.grants.find(digest(lost.access_token))
    assert under_way is not None
    clock.move(timedelta(hours=2))
    kept = rooms.refresh.renew(client.id, issued.refresh_token)
    with pytest.raises(Forbidden):
        rooms.grants.check(under_way)

    under_way = rooms.grants.find(digest(kept.access_token))
    assert under_way is not None
    rooms.grants.check(under_way)
    clock.move(timedelta(seconds=kept.expires_in_s))
    assert rooms.grants.living((under_way.id,)) == {under_way.id}
    with pytest.raises(Forbidden):
        rooms.grants.check(under_way)


def test_what_is_anothers_cannot_be_given_back(rooms: SigningIn, client: Client) -> None:
    """Attack 80: nor a static token, nor what is no token."""
    issued = rooms.signed_in(client)
    other = rooms.client()
    for token in (issued.access_token, issued.refresh_token, "garbage", ""):
        assert rooms.grants.revoke_token(digest(token), other.id) is None
    assert rooms.call(issued.access_token) is not None


# -- clearing away -------------------------------------------------------------------------------------------------------


def test_what_can_be_used_is_not_cleared_away(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """auth.md 7.6: exchanged refresh tokens stay, so that an old one is known for what it is."""
    issued = rooms.signed_in(client)
    renewed = rooms.refresh.renew(client.id, issued.refresh_token)
    assert rooms.call(renewed.access_token) is not None
    for _ in range(10):
        clock.move(timedelta(days=5))
        assert purge.purge(rooms.database, clock) == 0
    assert is_alive(rooms)
    assert refused(rooms, client, issued.refresh_token) == "invalid_grant"
    assert not is_alive(rooms)


def test_a_client_that_renews_in_a_loop_does_not_fill_the_disk(
    rooms: SigningIn, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack 61's kind, by whoever has a grant: each renewal leaves rows. The newest tokens are good, and theft is found out
    for as many generations as there can honestly be."""
    monkeypatch.setattr(purge, "MAX_ACCESS_TOKENS", 10)
    monkeypatch.setattr(purge, "MAX_GENERATIONS", 20)
    other = rooms.signed_in(rooms.client())
    issued = [rooms.signed_in(client)]
    for _ in range(40):
        issued.append(rooms.refresh.renew(client.id, issued[-1].refresh_token))
    purge.purge(rooms.database, rooms.clock)
    counted = rooms.database.connection().execute("SELECT kind, count(*) AS n FROM token GROUP BY kind ORDER BY kind")
    assert [(row["kind"], row["n"]) for row in counted] == [("a", 10 + 1), ("r", 20 + 1 + 1)]
    assert all(rooms.call(one.access_token) for one in [*issued[-10:], other])
    with pytest.raises(Refusal):
        rooms.refresh.renew(client.id, issued[5].refresh_token)
    assert rooms.call(issued[-1].access_token), "a copy of what is no longer known ends nothing"
    with pytest.raises(Refusal):
        rooms.refresh.renew(client.id, issued[25].refresh_token)
    assert not rooms.call(issued[-1].access_token)


def test_a_code_that_nobody_fetched_leaves_no_living_grant(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """The owner's list shows as living what somebody can use."""
    rooms.code(client)
    assert purge.purge(rooms.database, clock) == 0
    clock.move(timedelta(minutes=2))
    assert purge.purge(rooms.database, clock) == 1
    assert not is_alive(rooms)


def test_the_secrets_of_an_ended_grant_are_cleared_away(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """auth.md 7.6: the grant's row stays, since history names it."""
    rooms.signed_in(client)
    (grant,) = rooms.grants.all()
    rooms.grants.end([grant.id], "owner")
    clock.move(timedelta(days=2))
    purge.purge(rooms.database, clock)
    for table in ("token", "code"):
        assert rooms.database.connection().execute(f"SELECT count(*) AS n FROM {table}").fetchone()["n"] == 0
    assert len(rooms.grants.all()) == 1
