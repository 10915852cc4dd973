"""Sign-ins that wait: one answer each, one browser each, and no stranger pushes out the owner's."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from service.auth.asked import Asked, Choice, Client
from service.auth.model import READ, WRITE
from service.auth.pending import LIFETIME_S, Approvals, code_of, forget_who_signed_in, plain_code
from service.auth.tables import SCHEMA
from service.store.db import Database
from tests.support.clock import HeldClock

CLAUDE = Client("https://claude.example/client", "cimd", "Claude", "claude.example", ("https://claude.example/cb",))
ASKED = Asked(
    CLAUDE, "https://claude.example/cb", "st4te", "c" * 43, frozenset({READ, WRITE}), "http://127.0.0.1:8484/mcp"
)
READ_A_WEEK = Choice(frozenset({READ}), ("Projects", "Daily/2026"), 7)


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-11-30T12:00:00")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path, (SCHEMA,))
    yield made
    made.close()


@pytest.fixture
def approvals(database: Database, clock: HeldClock) -> Approvals:
    return Approvals(database, clock)


def test_a_sign_in_gives_back_what_was_asked(approvals: Approvals) -> None:
    """Attack 24: the parameters come from the row and from nowhere else."""
    opened = approvals.open(ASKED, "192.0.2.7")
    found = approvals.find(opened.token, opened.cookie)
    assert found is not None
    assert found.asked == ASKED
    assert (found.is_used, found.decision, found.address) == (False, None, "192.0.2.7")
    assert found.approve_code == opened.approve_code == code_of(opened.token)


def test_another_browser_finds_and_takes_nothing(approvals: Approvals) -> None:
    """Attack 19."""
    mine, other = approvals.open(ASKED), approvals.open(ASKED)
    assert approvals.find(mine.token, other.cookie) is None
    assert approvals.take(mine.token, other.cookie) is None
    assert approvals.find_by_code(mine.approve_code, other.cookie) is None
    assert approvals.take(mine.token, mine.cookie) == ASKED


def test_a_sign_in_is_taken_once(approvals: Approvals) -> None:
    """Attack 22: a replayed form. The page can still say that it was used."""
    opened = approvals.open(ASKED)
    assert approvals.take(opened.token, opened.cookie) == ASKED
    assert approvals.take(opened.token, opened.cookie) is None
    found = approvals.find(opened.token, opened.cookie)
    assert found is not None
    assert found.is_used


def test_the_owner_is_recognised_once_on_one_page_of_one_browser(approvals: Approvals) -> None:
    """auth.md 7.3: no login session; what was typed here counts for this page alone."""
    here, there = approvals.open(ASKED), approvals.open(ASKED)
    assert not approvals.sign_in(here.token, there.cookie)
    assert approvals.sign_in(here.token, here.cookie)
    for opened, is_signed_in in ((here, True), (there, False)):
        found = approvals.find(opened.token, opened.cookie)
        assert found is not None
        assert found.is_signed_in is is_signed_in
    approvals.take(here.token, here.cookie)
    assert not approvals.sign_in(here.token, here.cookie)


def test_what_the_owner_was_known_by_can_be_taken_back_until_the_answer(
    approvals: Approvals, database: Database
) -> None:
    """issue 5 (lost device): a page that a passkey had opened gives nothing once that passkey is forgotten, whatever the
    request that is under way has seen before."""
    opened = approvals.open(ASKED)
    assert approvals.take(opened.token, opened.cookie, needs_sign_in=True) is None
    assert approvals.sign_in(opened.token, opened.cookie)
    with database.transaction() as connection:
        forget_who_signed_in(connection)
    assert approvals.take(opened.token, opened.cookie, needs_sign_in=True) is None
    assert approvals.sign_in(opened.token, opened.cookie)
    assert approvals.take(opened.token, opened.cookie, needs_sign_in=True) == ASKED


def test_of_many_takers_at_once_one_gets_it(approvals: Approvals) -> None:
    opened = approvals.open(ASKED)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: approvals.take(opened.token, opened.cookie), range(32)))
    assert [one for one in taken if one is not None] == [ASKED]


def test_a_sign_in_expires(approvals: Approvals, clock: HeldClock) -> None:
    """Attack 23."""
    opened = approvals.open(ASKED)
    clock.move(timedelta(seconds=LIFETIME_S))
    assert approvals.find(opened.token, opened.cookie) is None
    assert approvals.take(opened.token, opened.cookie) is None
    assert approvals.approve_by_code(opened.approve_code, READ_A_WEEK) is None


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_jumps_a_day_breaks_nothing(approvals: Approvals, clock: HeldClock, days: int) -> None:
    """Attack 57."""
    opened = approvals.open(ASKED)
    clock.move(timedelta(days=days))
    approvals.find(opened.token, opened.cookie)
    again = approvals.open(ASKED)
    assert approvals.take(again.token, again.cookie) == ASKED


def test_the_machine_allows_by_code_and_the_browser_takes_it_once(approvals: Approvals) -> None:
    """The second door (auth.md 7.3)."""
    opened = approvals.open(ASKED)
    assert approvals.take_approved(opened.approve_code, opened.cookie) is None
    approved = approvals.approve_by_code(opened.approve_code.lower().replace("-", " "), READ_A_WEEK)
    assert approved is not None
    assert approved.decision == READ_A_WEEK
    assert approvals.take_approved(opened.approve_code, "another browser's") is None
    assert approvals.take_approved(opened.approve_code, opened.cookie) == (ASKED, READ_A_WEEK)
    assert approvals.take_approved(opened.approve_code, opened.cookie) is None
    assert approvals.approve_by_code(opened.approve_code, READ_A_WEEK) is None


def test_the_machine_cannot_allow_more_than_was_asked(approvals: Approvals) -> None:
    opened = approvals.open(replace(ASKED, scopes=frozenset({READ})))
    approved = approvals.approve_by_code(opened.approve_code, Choice(frozenset({READ, WRITE}), (), 7))
    assert approved is not None
    assert approved.decision == Choice(frozenset({READ}), (), 7)


def test_an_unknown_code_allows_nothing(approvals: Approvals) -> None:
    assert approvals.approve_by_code("0000-0000", READ_A_WEEK) is None


def test_a_code_is_read_as_it_is_meant() -> None:
    assert plain_code(" o0il-1lkq ") == "001111KQ"


def test_two_tabs_of_one_browser_do_not_disturb_each_other(approvals: Approvals) -> None:
    """Claude often begins two sign-ins in one attempt (auth.md 4.1)."""
    first = approvals.open(ASKED)
    second = approvals.open(ASKED, cookie=first.cookie)
    assert second.cookie == first.cookie
    assert second.token != first.token
    assert approvals.take(first.token, second.cookie) == ASKED
    assert approvals.take(second.token, second.cookie) == ASKED


def test_a_cookie_that_we_did_not_give_is_replaced(approvals: Approvals) -> None:
    """Nobody can choose the cookie for somebody else (session fixation)."""
    assert approvals.open(ASKED, cookie="chosen by another site").cookie != "chosen by another site"


def test_a_stranger_pushes_out_only_his_own(database: Database, clock: HeldClock) -> None:
    approvals = Approvals(database, clock, max_rows=50, max_rows_of_one=5)
    owners = approvals.open(ASKED, "192.0.2.7")
    strangers = [approvals.open(ASKED, f"2001:db8::{number:x}") for number in range(1, 200)]
    assert approvals.find(owners.token, owners.cookie) is not None
    alive = [one for one in strangers if approvals.find(one.token, one.cookie) is not None]
    assert alive == strangers[-5:]


def test_a_crowd_without_addresses_pushes_out_its_own(database: Database, clock: HeldClock) -> None:
    """Where some addresses are known and the flood's are not, or the flood has many: whoever holds most gives way."""
    approvals = Approvals(database, clock, max_rows=20, max_rows_of_one=5)
    owners = approvals.open(ASKED, "192.0.2.7")
    for _ in range(100):
        approvals.open(ASKED)
    assert approvals.find(owners.token, owners.cookie) is not None
    count = database.connection().execute("SELECT count(*) FROM pending").fetchone()[0]
    assert count == 20


def test_what_strangers_use_up_is_bounded_too(database: Database, clock: HeldClock) -> None:
    """Attack 61's kind: to ask and to deny takes nobody's word, and each leaves a row with up to 4,096 characters of state."""
    approvals = Approvals(database, clock, max_rows=50, max_rows_of_one=50, max_used_rows=10)
    for number in range(100):
        opened = approvals.open(replace(ASKED, state=f"{number}"))
        assert approvals.take(opened.token, opened.cookie) is not None
    waiting = approvals.open(ASKED)
    used = database.connection().execute("SELECT state FROM pending WHERE used IS NOT NULL ORDER BY rowid").fetchall()
    assert [row["state"] for row in used] == [f"{number}" for number in range(90, 100)]
    assert approvals.find(waiting.token, waiting.cookie) is not None


def test_no_secret_of_a_sign_in_is_in_the_database(approvals: Approvals, database: Database) -> None:
    """Attack 84."""
    opened = approvals.open(ASKED)
    raw = b"".join(path.read_bytes() for path in database.path.parent.glob("strongroom.db*"))
    assert b"st4te" in raw  # what is there is found
    for secret in (opened.token, opened.cookie):
        assert secret.encode() not in raw
