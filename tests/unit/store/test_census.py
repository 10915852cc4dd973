"""What there is in the vault is told as it is when somebody asks, whoever changed it: compared with a plain walk."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.errors import VaultMissing
from service.guards import paths
from service.guards.folders import Scope
from service.guards.paths import ROOT, VaultPath
from service.store import inotify, listings, looking
from service.store.census import Census
from service.store.fresh import Mode
from service.store.inotify import Inotify
from service.store.listings import File, Folders
from service.store.root import Root
from tests.support import changing


class Kept:
    """A census, and what whoever keeps something about files knows from being told of changes."""

    def __init__(self, vault: Path, asked: str) -> None:
        self.vault = vault
        self.known: dict[VaultPath, File] = {}
        self.made = 0
        self.census = Census[File](Root(vault), self._make, self._changed, asked)

    def _make(self, path: VaultPath, size_bytes: int, mtime_ns: int, mark: int) -> File:
        self.made += 1
        return File(path, size_bytes, mtime_ns, mark)

    def _changed(self, path: VaultPath, before: File | None, after: File | None, like: File | None) -> None:
        assert self.known.pop(path, None) is before
        if after is not None:
            self.known[path] = after
        assert like is None or before is None or like is before

    def check(self) -> None:
        """What is told is what a plain walk finds, and what was told of changes adds up to it."""
        folders = self.census.now()
        files = _files(folders)
        assert {str(file.path): (file.size_bytes, file.mtime_ns) for file in files} == changing.files_in(self.vault)
        assert set(map(str, folders)) == changing.folders_in(self.vault)
        assert {path: id(file) for path, file in self.known.items()} == {file.path: id(file) for file in files}


def _files(folders: Folders[File]) -> list[File]:
    return [file for listing in folders.values() for file in listing.files.values()]


@pytest.fixture(params=["events", "walk"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    (tmp_path / "vault").mkdir()
    made = Kept(tmp_path / "vault", request.param)
    yield made
    made.census.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Kept]:
    (tmp_path / "vault").mkdir()
    made = Kept(tmp_path / "vault", "events")
    yield made
    made.census.close()


@pytest.mark.parametrize("seed", range(6))
def test_after_each_of_many_changes_it_tells_what_there_is(kept: Kept, seed: int) -> None:
    """issue 6: storms of renames, atomic replaces, editor swap files, folder moves; each followed by a question."""
    dice = random.Random(seed)
    for _ in range(60):
        done = [changing.change(kept.vault, dice) for _ in range(dice.randint(1, 3))]
        try:
            kept.check()
        except AssertionError as error:
            raise AssertionError(f"after {done}") from error


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
def test_after_ten_thousand_changes_it_tells_what_there_is(kept: Kept, seed: int) -> None:
    """issue 6: 10,000 random operations."""
    dice = random.Random(seed)
    for _ in range(1000):
        changing.change(kept.vault, dice)
        kept.check()


STORM = """
import random, sys
from pathlib import Path
from tests.support import changing
dice = random.Random(int(sys.argv[2]))
for _ in range(int(sys.argv[3])):
    changing.change(Path(sys.argv[1]), dice)
"""


@pytest.mark.parametrize("count", [40, pytest.param(3000, marks=pytest.mark.long)])
def test_a_storm_by_three_programs_while_threads_ask_ends_in_what_there_is(kept: Kept, count: int) -> None:
    """search.md 5, model fuzz: three writers, folder renames, and questions all the time."""
    script = [sys.executable, "-c", STORM, str(kept.vault)]
    writers = [subprocess.Popen([*script, str(seed), str(count)]) for seed in range(3)]
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            while any(writer.poll() is None for writer in writers):
                kept.census.now()
        except BaseException as error:  # noqa: BLE001  # told below
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert [writer.wait(10) for writer in writers] == [0, 0, 0]
    assert failures == []
    kept.check()


def test_a_change_is_seen_by_the_next_question(watched: Kept) -> None:
    """issue 6: 0 stale in 1,000 rounds; the change is another program's, of the same size, within one tick of the clock."""
    note = watched.vault / "a.md"
    note.write_bytes(b"0000")
    before = watched.census.now()[ROOT].files["a.md"]
    for number in range(1000):
        note.write_bytes(b"%04d" % number)
        after = watched.census.now()[ROOT].files["a.md"]
        assert after is not before, number
        before = after


def test_nothing_is_looked_at_again_when_nothing_happened(watched: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """search.md 5: an empty queue is the fence; what is hidden makes no work either."""
    (watched.vault / ".obsidian").mkdir()
    (watched.vault / "x").mkdir()
    (watched.vault / "x/a.md").write_text("1", encoding="utf-8")
    told, made = watched.census.now(), watched.made
    monkeypatch.setattr(os, "scandir", _refuse)
    monkeypatch.setattr(os, "stat", _only_the_root(watched.vault))
    (watched.vault / ".obsidian/workspace.json").write_text("{}", encoding="utf-8")
    (watched.vault / "x/.a.md.swp").write_text("1", encoding="utf-8")
    assert watched.census.now() is told
    assert watched.made == made


def test_one_changed_file_is_looked_at_alone(watched: Kept) -> None:
    """issue 6: parsed facts once per change."""
    for name in ("a.md", "b.md", "c.md"):
        (watched.vault / name).write_text(name, encoding="utf-8")
    before = dict(watched.census.now()[ROOT].files)
    (watched.vault / "b.md").write_text("more", encoding="utf-8")
    after = watched.census.now()[ROOT].files
    assert [name for name in before if before[name] is not after[name]] == ["b.md"]
    assert watched.made == 4


def test_a_moved_folder_s_files_are_told_with_what_stood_for_them(
    watched: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that nobody has to find out again what they hold."""
    monkeypatch.setattr(looking, "UNSURE_NS", 0)
    likes: dict[str, str] = {}
    (watched.vault / "x").mkdir()
    (watched.vault / "x/a.md").write_text("1", encoding="utf-8")
    watched.census.now()
    changed = watched.census._on_change

    def noted(path: VaultPath, before: File | None, after: File | None, like: File | None) -> None:
        if after is not None and like is not None:
            likes[str(path)] = str(like.path)
        changed(path, before, after, like)

    monkeypatch.setattr(watched.census, "_on_change", noted)
    (watched.vault / "x").rename(watched.vault / "y")
    watched.check()
    assert likes == {"y/a.md": "x/a.md"}


def test_a_queue_that_overflowed_is_made_up_for(watched: Kept) -> None:
    """inotify(7): IN_Q_OVERFLOW; 20,000 changes that nobody took note of."""
    watched.check()
    for number in range(inotify.MAX_QUEUED // 3 + 2000):
        place = watched.vault / f"{number % 50}.md"
        place.write_bytes(b"%d" % number)
        place.unlink()
    (watched.vault / "last.md").write_bytes(b"x")
    watched.check()


def test_a_vault_that_was_removed_and_made_anew_is_looked_at_anew(kept: Kept) -> None:
    """issue 6: deleted and remounted vault."""
    (kept.vault / "a.md").write_bytes(b"1")
    kept.check()
    kept.vault.rename(kept.vault.with_name("old"))
    with pytest.raises(VaultMissing):
        kept.census.now()
    kept.vault.mkdir()
    (kept.vault / "b.md").write_bytes(b"2")
    kept.check()
    (kept.vault / "c.md").write_bytes(b"3")
    kept.check()


def test_a_file_of_two_names_may_be_changed_by_the_one_outside(watched: Kept) -> None:
    """search.md 5: no event tells of a write through another link."""
    outside = watched.vault.parent / "outside.md"
    outside.write_bytes(b"1")
    os.link(outside, watched.vault / "a.md")
    for text in (b"22", b"333", b"444"):
        outside.write_bytes(text)
        before = watched.known.get(paths.note("a.md"))
        watched.check()
        assert watched.known[paths.note("a.md")] is not before


def test_what_cannot_be_read_is_empty_until_it_can(kept: Kept) -> None:
    """A folder without permission for us; root is let in anyway, and sees it all along."""
    (kept.vault / "x").mkdir()
    (kept.vault / "x/a.md").write_bytes(b"1")
    (kept.vault / "x").chmod(0)
    kept.census.now()
    (kept.vault / "x").chmod(0o755)
    kept.check()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENOSYS])
def test_without_watches_all_is_looked_at_each_time(
    watched: Kept, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """issue 6: chosen by itself; the limits of the kernel are no reason to be stale."""

    def refuse(self: Inotify, folder: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Inotify, "add", refuse)
    (watched.vault / "a.md").write_bytes(b"1")
    watched.check()
    (watched.vault / "a.md").write_bytes(b"22")
    watched.check()
    assert watched.census.state().choice.mode is Mode.WALK


def test_watching_is_tried_again_after_a_while(watched: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit may be raised, and a storm of moved folders ends: looking at everything must not stay for that."""

    def refuse(self: Inotify, folder: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Inotify, "add", refuse)
        watched.check()
    watched.check()
    assert watched.census.state().choice.mode is Mode.WALK
    monkeypatch.setattr(watched.census, "_try_again_at", 0.0)
    watched.check()
    assert watched.census.state().choice.mode is Mode.EVENTS


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO, errno.ENOMEM])
@pytest.mark.parametrize("call", ["scandir", "stat"])
def test_what_could_not_be_looked_at_for_the_moment_is_looked_at_by_the_next_question(
    watched: Kept, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """Nobody tells that a fault has gone: it must not stand for the truth until the next change."""
    (watched.vault / "x").mkdir()
    (watched.vault / "x/a.md").write_bytes(b"1")
    watched.check()
    real = getattr(os, call)

    def fail(path: object = ".", **more: object) -> object:
        if call == "stat" and path != "b.md":
            return real(path, **more)
        raise OSError(number, os.strerror(number))

    (watched.vault / "y").mkdir()
    (watched.vault / "y/b.md").write_bytes(b"1")
    (watched.vault / "b.md").write_bytes(b"1")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        watched.census.now()
    watched.check()


def test_a_question_given_up_half_way_loses_nothing(kept: Kept) -> None:
    """A deadline passes while folders are looked at: the next question looks at what was missed."""
    for name in ("x", "y", "z"):
        (kept.vault / name).mkdir()
        (kept.vault / name / "a.md").write_bytes(b"1")
    for allowed in range(5):
        with pytest.raises(TimeoutError):
            kept.census.now(_ending_after(0))
        kept.check()
        for name in ("x", "y", "z"):
            (kept.vault / name / f"{allowed}.md").write_bytes(b"1")
            (kept.vault / f"{name}{allowed}").mkdir()
            (kept.vault / f"{name}{allowed}/b.md").write_bytes(b"1")
        with pytest.raises(TimeoutError):
            kept.census.now(_ending_after(allowed))
        kept.check()


def test_within_a_scope_there_is_nothing_else(kept: Kept) -> None:
    """issue 5, folders: above them a bare way."""
    for name in ("Work/a.md", "Work/Sub/b.md", "Other/c.md", "d.md", "Deep/er/e.md", "Deep/f.md"):
        (kept.vault / name).parent.mkdir(parents=True, exist_ok=True)
        (kept.vault / name).write_bytes(b"1")
    scope = Scope.of([paths.folder("Work"), paths.folder("Deep/er"), paths.folder("Gone")])
    limited = listings.within(kept.census.now(), scope)
    assert sorted(str(file.path) for file in _files(limited)) == ["Deep/er/e.md", "Work/Sub/b.md", "Work/a.md"]
    assert sorted(map(str, limited)) == ["", "Deep", "Deep/er", "Work", "Work/Sub"]
    assert limited[ROOT].folders == ("Deep", "Work")


def _refuse(*_: object, **__: object) -> Iterator[os.DirEntry[str]]:
    raise AssertionError("a folder was listed")


def _only_the_root(vault: Path) -> Callable[..., os.stat_result]:
    stat = os.stat

    def only(path: object, **more: object) -> os.stat_result:
        assert path == vault, "a file was looked at"
        return stat(vault)

    return only


def _ending_after(count: int) -> Callable[[], None]:
    left = iter(range(count))

    def check() -> None:
        if next(left, None) is None:
            raise TimeoutError

    return check
