"""The composition root, without a network."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from service import app
from service.auth import static
from service.errors import AlreadyServed, BadMount, BadSettings
from service.store.journal import FILE_NAME, Before, Journal, Record, Renamed, digest
from service.store.lock import Lock
from tests.support.disk import at
from tests.support.rooms import settings_for


def test_everything_is_given_back_so_that_the_next_can_begin(tmp_path: Path) -> None:
    """Crash-only: building twice in one process finds the same state."""
    settings = settings_for(tmp_path)
    opened = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        with app.assembled(settings) as appliance:
            assert app.problems(appliance) == ["it is still starting; ask again in a moment."]
            appliance.inside.get()
            grant, _ = static.create(appliance.grants, "laptop")
            appliance.grants.end([grant.id], "owner")
            assert [problem.partition(",")[0] for problem in app.problems(appliance)] == [
                "history: the scheduler does not run"
            ]
    assert len(os.listdir("/proc/self/fd")) <= opened


def test_a_look_at_the_lock_is_no_second_server(tmp_path: Path) -> None:
    """`doctor` and `stdio` take it for an instant to see whether it is held."""
    settings = settings_for(tmp_path)
    looking = Lock(settings.state / "server.lock", "the state")
    assert looking.try_hold() is None
    threading.Timer(0.2, looking.release).start()
    with app.assembled(settings):
        assert looking.holder() is not None


def test_a_second_server_is_refused_by_name(tmp_path: Path) -> None:
    """decisions.md 6."""
    settings = settings_for(tmp_path)
    with app.assembled(settings), pytest.raises(AlreadyServed, match=f"process {os.getpid()}"), app.assembled(settings):
        pass


def test_leftovers_of_a_kill_are_swept_before_any_call_is_answered(tmp_path: Path) -> None:
    """style.md, Crash-only: starting is recovering."""
    settings = settings_for(tmp_path)
    leftover = settings.vault / ".syncthing.strongroom-part-0123456789abcdef.tmp"
    leftover.write_text("half a no")
    with app.assembled(settings) as appliance:
        appliance.inside.get()
        assert not leftover.exists()


@pytest.mark.parametrize("is_sick", [False, True])
def test_a_change_of_many_files_that_a_kill_cut_short_is_taken_back_before_any_call_is_answered(
    tmp_path: Path, *, is_sick: bool
) -> None:
    """And where it cannot be, that stops no start."""
    settings = settings_for(tmp_path)
    note, journal = settings.vault / "a.md", Journal(settings.state)
    note.write_bytes(b"[[New]]")
    (settings.vault / "Old.md").write_bytes(b"")
    before = Before(at("a.md"), b"[[Old]]", digest(b"[[New]]"))
    journal.write(Record((before,), (Renamed(at("Old.md"), at("New.md")),)))
    if is_sick:
        (settings.state / FILE_NAME).unlink()
        (settings.state / FILE_NAME).mkdir()
    with app.assembled(settings) as appliance:
        appliance.inside.get()
        assert note.read_bytes() == (b"[[New]]" if is_sick else b"[[Old]]")
    assert (settings.state / FILE_NAME).exists() == is_sick


def test_what_cannot_work_is_said_before_anything_is_made(tmp_path: Path) -> None:
    """A missing vault leaves no database behind; a tool that is not there leaves no lock held."""
    settings = settings_for(tmp_path, DISABLED_TOOLS="no_such_tool")
    with pytest.raises(BadSettings), app.assembled(settings):
        pass
    assert Lock(settings.state / "server.lock", "the state").holder() is None
    settings.vault.rmdir()
    with pytest.raises(BadMount), app.assembled(settings):
        pass
