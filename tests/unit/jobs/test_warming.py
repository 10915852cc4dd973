"""Looking into the vault before anybody asks. Issue 6: a cold start does not block serving."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from service import app, logs
from service.auth.model import acting_as, local
from service.errors import VaultMissing
from service.guards import paths
from service.jobs import warming as jobs
from service.jobs.warming import Warming
from service.search.query import Query, search
from service.store import looking
from service.vault import notes
from service.vault.picture.note import Note
from tests.support.desk import Desk, desk_in
from tests.support.rooms import settings_for

WITHIN_S = 20
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Hung:
    """A disk that hangs at a note named `hung.md`, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.let_go = threading.Event(), threading.Event()
        self.by: list[str] = []
        read = Note._bytes_in

        def bytes_of(note: Note, folder: int) -> bytes | None:
            if note.path.name == "hung.md":
                self.by.append(threading.current_thread().name)
                self.reached.set()
                assert self.let_go.wait(WITHIN_S)
            return read(note, folder)

        monkeypatch.setattr(Note, "_bytes_in", bytes_of)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


@pytest.fixture
def hung(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hung]:
    disk = Hung(monkeypatch)
    yield disk
    disk.let_go.set()


def ended(warming: Warming) -> bool:
    warming._thread.join(WITHIN_S)
    return not warming._thread.is_alive()


def test_calls_are_answered_and_shutdown_comes_while_a_disk_hangs(tmp_path: Path, hung: Hung) -> None:
    """What needs no look at all notes does not wait for it; nor does the last commit."""
    settings = settings_for(tmp_path)
    (settings.vault / "hung.md").write_text("x\n")
    (settings.vault / "a.md").write_text("hello\n")
    with app.assembled(settings) as appliance:
        inside = appliance.inside.get()
        inside.begin()
        assert hung.reached.wait(WITHIN_S)
        assert hung.by == ["warming"]
        with acting_as(local(NOW)):
            assert len(anyio.run(appliance.server.list_tools)) > 10
        assert notes.read(inside.vault, paths.parse("a.md")).view.text == "hello\n"
        app.finish(appliance)
        assert not hung.let_go.is_set()
        assert inside.history.status().last_success is not None
    hung.let_go.set()
    assert ended(inside.warming)


def test_a_search_that_comes_before_it_is_done_is_complete(desk: Desk, hung: Hung) -> None:
    """Never stale, and never half: the question settles what is missing."""
    desk.put({f"{number}.md": "word\n" for number in range(40)} | {"hung.md": "word\n"})
    warming = Warming(desk.vault.picture)
    warming.start()
    assert hung.reached.wait(WITHIN_S)
    desk.put({"late.md": "word\n"})
    found: list[int] = []
    asking = threading.Thread(target=lambda: found.append(search(desk.vault, Query("word")).notes))
    asking.start()
    hung.let_go.set()
    asking.join(WITHIN_S)
    assert found == [42]
    assert ended(warming)


def test_once_it_is_done_the_facts_are_known_without_reading(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views first, then links, tags and tasks."""
    desk.put({"a.md": "#tag [[b]]\n- [ ] task\n", "b.md": "plain\n"})
    monkeypatch.setattr(looking, "UNSURE_NS", 0)  # else what has just changed is read again
    warming = Warming(desk.vault.picture)
    warming.start()
    assert ended(warming)
    monkeypatch.setattr(Note, "_bytes_in", None)
    [files] = [listing.files for listing in desk.vault.picture.folders().values()]
    assert [tag.name for tag in files["a.md"].tags] == ["tag"]
    assert {name: len(note.tasks) for name, note in files.items()} == {"a.md": 1, "b.md": 0}


def test_a_vault_that_cannot_be_looked_into_is_said_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing disk is no crash, and fills no log."""
    stream = io.StringIO()
    logs.configure(stream, log_format="json")

    def fail(_: object) -> None:
        raise VaultMissing("the vault is not there.")

    monkeypatch.setattr(type(desk.vault.picture), "now", lambda self, check: fail(check))
    warming = Warming(desk.vault.picture)
    warming.start()
    assert ended(warming)
    [line] = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (line["event"], line["level"]) == ("picture.not_made", "warning")


def test_the_commit_at_the_start_lets_it_go_first_but_not_for_ever(
    desk: Desk, hung: Hung, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both look at all files, and somebody may be waiting for the first search."""
    desk.put({"hung.md": "x\n"})
    warming, order = Warming(desk.vault.picture), list[str]()

    def wait() -> None:
        warming.wait()
        order.append("commit")

    waiting = threading.Thread(target=wait)
    waiting.start()
    warming.start()
    assert hung.reached.wait(WITHIN_S)
    assert order == []
    hung.let_go.set()
    waiting.join(WITHIN_S)
    assert order == ["commit"]
    assert ended(warming)
    monkeypatch.setattr(jobs, "HEAD_START_S", 0.0)
    Warming(desk.vault.picture).wait()  # one that never begins


def test_it_can_be_stopped_before_it_began(desk: Desk) -> None:
    """As a start that is cut short does."""
    warming = Warming(desk.vault.picture)
    warming.stop()
    warming.start()
    assert ended(warming)
    assert not any(note.version for listing in desk.vault.picture.folders().values() for note in listing.files.values())
