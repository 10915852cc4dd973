"""Questions to a vault of many notes: the promise of complaint 5. How long they take is measured in tests/bench."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from service.errors import Unavailable
from service.search.query import Mode, Query, search
from service.vault import tasks
from tests.support.desk import Desk, desk_in
from tests.support.vaults import generate

pytestmark = pytest.mark.timeout(900)  # to lay out and look through 10,000 notes takes its time on a busy machine

SEARCH_S = {Mode.LITERAL: 2.0, Mode.RANKED: 2.0}

TASKS_S = 5.0


@pytest.fixture(
    scope="module",
    params=[pytest.param(1_000, id="1000 notes"), pytest.param(10_000, id="10000 notes", marks=pytest.mark.long)],
)
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("many")
    desk = desk_in(folder)
    generate(desk.folder, request.param)
    assert any(_is_looked_through(desk) for _ in range(10))
    return desk


def _is_looked_through(desk: Desk) -> bool:
    """Whether a search has got through all notes; what is hidden in one is looked for once, as far as each search has time."""
    with suppress(Unavailable):
        return search(desk.vault, Query("warm up")).skipped == 0
    return False


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("words", ["garden project", "系統", "no such words at all zzqx"])
def test_a_search_of_many_notes_ends_in_time(desk: Desk, mode: Mode, words: str) -> None:
    """Complaint 5: search times out on more than 9,000 notes; here two seconds of the processor for 10,000."""
    began = time.process_time()
    search(desk.vault, Query(words, mode))
    assert time.process_time() - began < SEARCH_S[mode]


def test_the_tasks_of_many_notes_are_listed_in_time(desk: Desk) -> None:
    """Complaint 5: list_tasks of 10,000 notes in five seconds of the processor, once their tasks are known."""
    first = tasks.find(desk.vault, tasks.Query())
    began = time.process_time()
    assert tasks.find(desk.vault, tasks.Query()).page.total == first.page.total > 0
    assert time.process_time() - began < TASKS_S
