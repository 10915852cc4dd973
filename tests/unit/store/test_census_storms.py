"""Whatever other programs do to the vault, the next question is answered from what is on the disk then (issue 6; search.md 5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.store.fresh import Mode
from tests.support.census import Watched, watched
from tests.support.storm import elsewhere

_SHORT = 400
_LONG = 10_000


@pytest.mark.parametrize("asked", ["events", "walk"])
@pytest.mark.parametrize("seed", [1, 2])
def test_after_each_change_by_another_program_the_census_is_what_the_disk_holds(
    tmp_path: Path, asked: str, seed: int
) -> None:
    """Issue 6: after each, answers equal a brute-force scan of the disk."""
    _weather(tmp_path, asked, seed, rounds=_SHORT, times=1)


@pytest.mark.parametrize("asked", ["events", "walk"])
def test_after_several_changes_at_once_the_census_is_what_the_disk_holds(tmp_path: Path, asked: str) -> None:
    _weather(tmp_path, asked, 3, rounds=_SHORT // 10, times=20)


@pytest.mark.long
@pytest.mark.parametrize("asked", ["events", "walk"])
def test_after_each_of_ten_thousand_changes_the_census_is_what_the_disk_holds(tmp_path: Path, asked: str) -> None:
    """Issue 6: 10,000 random operations."""
    _weather(tmp_path, asked, 20261130, rounds=_LONG, times=1)


def _weather(folder: Path, asked: str, seed: int, *, rounds: int, times: int) -> None:
    (folder / "outside").mkdir()
    with watched(folder / "vault", asked) as it, elsewhere(it.folder, folder / "outside", seed) as other:
        _same(it, 0)
        for number in range(rounds):
            other.change(times)
            _same(it, number)
        assert it.census.state().choice.mode is Mode(asked)


def _same(it: Watched, number: int) -> None:
    assert it.now() == it.truth(), f"after change {number}"
