"""How the owner is known: a passphrase that is made here, shown once, and never kept as it is."""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import CHEAPEST, RFC_9106_LOW_MEMORY

from service.auth import words
from service.auth.asked import Asked, Client
from service.auth.passphrase import INITIAL_FILE, Owner
from service.auth.pending import Approvals
from service.auth.tables import SCHEMA
from service.auth.throttle import Throttle
from service.errors import BadArgument, Conflict
from service.store.db import Database
from tests.support.clock import HeldClock

CHEAP = PasswordHasher.from_parameters(CHEAPEST)
CHOSEN = "a goat in nine coats"
CLOCK = HeldClock.at("2026-11-30T12:00:00")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path, (SCHEMA,))
    yield made
    made.close()


@pytest.fixture
def owner(database: Database, tmp_path: Path) -> Owner:
    return Owner(database, tmp_path, CLOCK, CHEAP)


def test_the_first_passphrase_is_made_once_and_shown_once(owner: Owner, tmp_path: Path) -> None:
    """decisions.md 8."""
    assert owner.prepare() is True
    assert owner.prepare() is False
    file = tmp_path / INITIAL_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    shown = owner.reveal_initial()
    assert shown is not None
    assert re.fullmatch(r"[a-z]{3,7}( [a-z]{3,7}){6}", shown)
    assert owner.matches(shown)
    assert owner.reveal_initial() is None
    assert not file.exists()
    assert list(tmp_path.glob(f"{INITIAL_FILE}*")) == []


def test_of_many_who_ask_at_once_one_is_shown_it(owner: Owner) -> None:
    owner.prepare()
    with ThreadPoolExecutor(8) as pool:
        shown = list(pool.map(lambda _: owner.reveal_initial(), range(32)))
    assert len([one for one in shown if one is not None]) == 1


def test_a_kill_between_the_file_and_the_hash_loses_nothing(owner: Owner, database: Database, tmp_path: Path) -> None:
    owner.prepare()
    with database.transaction() as connection:
        connection.execute("DELETE FROM sign_in")
    before = (tmp_path / INITIAL_FILE).read_text().strip()
    assert owner.prepare() is True
    assert owner.reveal_initial() == before
    assert owner.matches(before)


def test_a_file_that_was_cut_short_is_made_anew(owner: Owner, tmp_path: Path) -> None:
    (tmp_path / INITIAL_FILE).write_text("")
    owner.prepare()
    shown = owner.reveal_initial()
    assert shown is not None
    assert owner.matches(shown)


def test_the_list_is_long_enough_and_its_words_can_be_told_apart() -> None:
    """auth.md 6: six words or more; no word is the beginning of another, so none is taken for two."""
    listed = words.listed()
    assert len(set(listed)) == len(listed) == 1173
    assert words.WORDS >= 6
    assert words.WORDS * math.log2(len(listed)) > 71  # bits
    assert all(re.fullmatch(r"[a-z]{3,7}", word) for word in listed)
    assert not [pair for pair in pairwise(listed) if pair[1].startswith(pair[0])]
    assert list(listed) == sorted(listed)


def test_no_two_passphrases_are_alike() -> None:
    made = {words.passphrase() for _ in range(500)}
    assert len(made) == 500
    assert len({word for one in made for word in one.split()}) > 0.8 * len(words.listed())


def test_a_wrong_passphrase_is_wrong(owner: Owner) -> None:
    owner.set(CHOSEN)
    assert owner.matches(CHOSEN)
    for wrong in ("", CHOSEN + "s", CHOSEN.upper(), "\0", "\ud800", "x" * 100_000):
        assert not owner.matches(wrong)


def test_it_does_not_matter_which_keyboard_typed_it(owner: Owner) -> None:
    """RFC 8265 §4.2.2: composed or not, and whichever blank."""
    owner.set("zwölf Bären im Café")
    assert owner.matches("  zwo\u0308lf\u00a0Ba\u0308ren  im Cafe\u0301\n")


@pytest.mark.parametrize(
    "weak", ["", "short", "  spaces    only   ", "aaaaaaaaaaaaaaaaaaaaaa", "abababababababababab", "x" * 600]
)
def test_a_weak_passphrase_is_refused_without_repeating_it(owner: Owner, weak: str) -> None:
    with pytest.raises(BadArgument) as refused:
        owner.set(weak)
    assert not weak.strip() or weak not in str(refused.value)
    assert not owner.has_passphrase()


def test_a_new_passphrase_ends_the_old_one_with_all_that_waits(
    owner: Owner, database: Database, tmp_path: Path
) -> None:
    """auth.md 7.7, decisions.md 22."""
    owner.prepare()
    old = (tmp_path / INITIAL_FILE).read_text().strip()
    approvals, throttle = Approvals(database, CLOCK), Throttle(database, CLOCK)
    client = Client("c", "dcr", "c", None, ("http://127.0.0.1/cb",))
    opened = approvals.open(Asked(client, "http://127.0.0.1/cb", None, "c" * 43, frozenset({"vault:read"}), "r"))
    for _ in range(5):
        throttle.guess()
    new = owner.renew()
    assert owner.matches(new)
    assert not owner.matches(old)
    assert owner.reveal_initial() is None
    assert approvals.find(opened.token, opened.cookie) is None
    assert throttle.wait_s() == 0


def test_it_cannot_be_switched_off_while_there_is_no_passkey(owner: Owner, database: Database) -> None:
    owner.set(CHOSEN)
    with pytest.raises(Conflict, match="no passkey"):
        owner.switch_off()
    with database.transaction() as connection:
        connection.execute("INSERT INTO passkey VALUES (x'01', 'phone', x'02', 0, 'localhost', 0, NULL)")
    owner.switch_off()
    assert not owner.matches(CHOSEN)
    assert not owner.has_passphrase()
    assert owner.prepare() is False
    owner.switch_on()
    assert owner.matches(CHOSEN)


def test_without_a_passphrase_nobody_has_it(owner: Owner) -> None:
    """complaint 46: no password set is no way in."""
    assert not owner.has_passphrase()
    assert not owner.matches("")
    owner.set(CHOSEN)
    assert owner.has_passphrase()


def test_a_hash_of_older_parameters_is_made_anew_in_passing(owner: Owner, database: Database, tmp_path: Path) -> None:
    owner.set(CHOSEN)
    stronger = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    later = Owner(database, tmp_path, CLOCK, stronger)
    assert later.matches(CHOSEN)
    hashed = database.connection().execute("SELECT v FROM sign_in WHERE k = 'passphrase'").fetchone()["v"]
    assert not stronger.check_needs_rehash(hashed)
    assert later.matches(CHOSEN)


def test_the_passphrase_is_kept_as_argon2id_of_the_low_memory_profile_only(database: Database, tmp_path: Path) -> None:
    """RFC 9106 §4, second choice; attack 84."""
    owner = Owner(database, tmp_path, CLOCK)
    owner.set(CHOSEN)
    hashed = database.connection().execute("SELECT v FROM sign_in WHERE k = 'passphrase'").fetchone()["v"]
    found = extract_parameters(hashed)
    assert hashed.startswith("$argon2id$")
    assert (found.memory_cost, found.time_cost) == (RFC_9106_LOW_MEMORY.memory_cost, 3) == (64 * 1024, 3)
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert CHOSEN.encode() not in raw


@pytest.mark.anyio
async def test_it_is_looked_at_away_from_the_event_loop_and_one_at_a_time(database: Database, tmp_path: Path) -> None:
    at_work, most, loop_ran = 0, 0, anyio.Event()

    class Watched(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> bool:
            nonlocal at_work, most
            at_work += 1
            most = max(most, at_work)
            anyio.from_thread.run_sync(loop_ran.set)  # stands still if the loop does
            try:
                return super().verify(hash, password)
            finally:
                at_work -= 1

    owner = Owner(database, tmp_path, CLOCK, Watched(time_cost=1, memory_cost=8, parallelism=1))
    owner.set(CHOSEN)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(owner.verify, f"wrong {number}")
    assert most == 1
    assert loop_ran.is_set()
