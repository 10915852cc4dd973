"""Grants: what is stored, how they end, and what other processes see."""

from __future__ import annotations

import stat
from datetime import timedelta
from pathlib import Path

import pytest

from service.auth import static
from service.auth.grants import Grants
from service.auth.model import READ, WRITE, local
from service.auth.tables import SCHEMA
from service.auth.tokens import digest
from service.errors import BadArgument, Conflict, Forbidden
from service.store.db import Database
from tests.support.clock import HeldClock


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-03-01T12:00:00")


@pytest.fixture
def grants(tmp_path: Path, clock: HeldClock) -> Grants:
    return Grants(Database(tmp_path, [SCHEMA]), clock)


def test_a_token_opens_its_grant_and_nothing_else_does(grants: Grants) -> None:
    """auth.md 7.4: opaque, 256 bit, looked up by its hash."""
    grant, token = static.create(grants, "laptop")
    assert token.startswith("srs_")
    assert len(token) == 4 + 43
    assert grants.find(digest(token)) == grant
    assert grant.scopes == {READ, WRITE}
    for wrong in ("", token[:-1], token + "x", token.upper(), "srs_", grant.id):
        assert grants.find(digest(wrong)) is None


def test_only_the_hash_of_a_token_is_on_the_disk(tmp_path: Path, grants: Grants) -> None:
    """auth.md attack line 84; the files are private to their owner."""
    _, token = static.create(grants, "laptop")
    found = list(tmp_path.glob("strongroom.db*"))
    assert found
    for file in found:
        assert token.encode() not in file.read_bytes()
        assert token[4:].encode() not in file.read_bytes()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_ids_are_short_and_can_be_typed(grants: Grants) -> None:
    """The task: ids short and typeable."""
    ids = {static.create(grants, f"n{number}")[0].id for number in range(50)}
    assert len(ids) == 50
    assert all(len(found) == 6 and found.isalnum() and not set(found) & set("ilo01") for found in ids)


def test_a_token_ends_on_its_day(grants: Grants, clock: HeldClock) -> None:
    """auth.md attack line 66."""
    grant, token = static.create(grants, "guest", is_read_only=True, days=2)
    assert grant.scopes == {READ}
    clock.move(timedelta(days=2, seconds=-1))
    assert grants.find(digest(token)) == grant
    grants.check(grant)
    clock.move(timedelta(seconds=1))
    assert grants.find(digest(token)) is None
    with pytest.raises(Forbidden, match="revoked or has expired"):
        grants.check(grant)


def test_another_process_sees_a_revocation_at_once(tmp_path: Path, grants: Grants, clock: HeldClock) -> None:
    """auth.md 7.7: no cache; the epoch goes up in the same transaction."""
    grant, token = static.create(grants, "laptop")
    other, kept = static.create(grants, "phone")
    elsewhere = Grants(Database(tmp_path, [SCHEMA]), clock)
    before = grants.epoch()
    assert [ended.id for ended in elsewhere.end([grant.id], "owner")] == [grant.id]
    assert grants.epoch() > before
    assert grants.find(digest(token)) is None
    assert grants.find(digest(kept)) == other
    assert grants.living([grant.id, other.id]) == {other.id}
    with pytest.raises(Forbidden):
        grants.check(grant)
    grants.check(other)


def test_a_grant_ends_once_and_only_it(grants: Grants) -> None:
    """auth.md 7.7."""
    one, two, three = (static.create(grants, name)[0] for name in ("one", "two", "three"))
    assert [grant.id for grant in grants.end([two.id], "owner")] == [two.id]
    assert [grant.id for grant in grants.end([one.id, two.id, three.id], "owner")] == [one.id, three.id]
    assert grants.end([two.id], "owner") == ()


def test_a_name_is_free_again_once_its_token_has_ended(grants: Grants, clock: HeldClock) -> None:
    """Our decision: living tokens have names of their own, so that a name revokes one."""
    first, _ = static.create(grants, "laptop", days=1)
    with pytest.raises(Conflict, match=first.id):
        static.create(grants, "laptop")
    clock.move(timedelta(days=1))
    second, token = static.create(grants, "laptop")
    assert grants.find(digest(token)) == second
    assert [grant.id for grant in grants.end([second.id], "owner")] == [second.id]


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 61, "-x", "a\u202eb"])
def test_a_name_is_one_readable_line(grants: Grants, name: str) -> None:
    """It stands in the trailer of a commit and in tables."""
    with pytest.raises(BadArgument):
        static.create(grants, name)


@pytest.mark.parametrize("days", [0, -1, 100_000])
def test_a_number_of_days_that_makes_no_sense_is_refused(grants: Grants, days: int) -> None:
    """auth.md attack line 57: no negative lifetimes."""
    with pytest.raises(BadArgument):
        static.create(grants, "x", days=days)


def test_the_last_use_is_written_at_most_once_a_minute(grants: Grants, clock: HeldClock) -> None:
    """auth.md 7.6."""
    grant, _ = static.create(grants, "laptop")
    seen = []
    for _ in range(4):
        grants.touch(grant)
        seen.append(grants.all()[0].last_used)
        clock.move(timedelta(seconds=30))
    assert seen == [clock.now() - timedelta(seconds=s) for s in (120, 120, 60, 60)]


def test_the_owner_at_this_machine_needs_no_row(grants: Grants, clock: HeldClock) -> None:
    """decisions.md 6: the pipe carries the owner's local grant."""
    grants.check(local(clock.now()))
