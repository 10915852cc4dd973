"""A history that a disk or a sync tool has damaged: what is whole is still given, the rest is said. Found by damaging each file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from service.errors import HistoryHeld, RevisionNotFound
from service.history import restore
from service.history.packs import FEW_OBJECTS
from service.history.restore import Asked
from service.vault.model import Actor
from tests.support.timeline import Timeline, again

OWNER = Actor("owner", "owner", permit=lambda: None)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scramble(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 8)


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


DAMAGES = [empty, halve, scramble, become_a_folder, become_a_link]


def damage(path: Path, how: Callable[[Path], None]) -> None:
    path.chmod(0o644)
    how(path)


def loose(line: Timeline, name: str) -> Path:
    object_id = line.git("rev-parse", name)
    return line.git_dir / "objects" / object_id[:2] / object_id[2:]


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("suffix", ["idx", "pack"])
def test_a_damaged_pack_is_said_and_hides_nothing_of_the_others(
    line: Timeline, suffix: str, how: Callable[[Path], None]
) -> None:
    packs = []
    for folder in ("a", "b"):
        for number in range(FEW_OBJECTS + 1):
            line.put(f"{folder}/{number}.md", f"{folder} {number}\n")
        line.commit()
        packs.append({*(line.git_dir / "objects/pack").glob(f"*.{suffix}")})
    blob = line.git("rev-parse", "HEAD:a/1.md")
    (damaged,) = packs[1] - packs[0]
    damage(damaged, how)
    with again(line) as same:
        assert same.history.git.objects.read(blob, b"blob") == b"a 1\n"
        with suppress(HistoryHeld):
            same.commit()  # the branch falls back to the commit before, and takes the notes from the vault once more
            assert same.history.log.read("b/1.md", same.history.log.resolve("HEAD")).data == b"b 1\n"


@pytest.mark.parametrize("how", DAMAGES)
def test_one_damaged_note_does_not_keep_the_others_from_coming_back(
    line: Timeline, how: Callable[[Path], None]
) -> None:
    for name in ("a.md", "b.md"):
        line.put(name, f"{name} then\n")
    line.commit()
    damaged = loose(line, "HEAD:a.md")
    for name in ("a.md", "b.md"):
        line.put(name, f"{name} now\n")
    line.commit()
    damage(damaged, how)
    done = restore.apply(line.history, Asked((), revision="~1"), OWNER)
    assert [failed.path for failed in done.failed] == ["a.md"]
    assert "damaged" in done.failed[0].why
    assert (line.vault / "a.md").read_text() == "a.md now\n"
    assert (line.vault / "b.md").read_text() == "b.md then\n"
    sizes = [version.size_bytes for version in line.history.log.note_history("a.md").items]
    assert sizes == [len("a.md now\n"), None]


@pytest.mark.parametrize("how", [*DAMAGES, os.unlink])
def test_a_hole_in_the_history_is_said_wherever_it_is_met(line: Timeline, how: Callable[[Path], None]) -> None:
    """A chain of commits that breaks off must not look like a young history."""
    began = line.clock.now()
    for number in range(4):
        line.put("a.md", f"{number}\n")
        line.commit()
    oldest = line.git("rev-parse", "HEAD~3")
    damage(loose(line, "HEAD~2"), how)
    with again(line) as same:
        log = same.history.log
        assert len(log.chain()) == 2
        assert "cannot be read" in log.gap()
        for ask in (lambda: log.resolve("~3"), lambda: log.resolve(oldest), lambda: log.as_of(began)):
            with pytest.raises(
                RevisionNotFound, match=r"Older commits cannot be read .* restore the history from a backup"
            ):
                ask()
        same.put("a.md", "after\n")
        same.commit()
        assert len(log.chain()) == 3
        assert log.gap()


def test_a_whole_history_has_no_gap(line: Timeline) -> None:
    assert line.history.log.gap() == ""
    for number in range(3):
        line.put("a.md", f"{number}\n")
        line.commit()
        assert line.history.log.gap() == ""
    with again(line) as same:
        assert same.history.log.gap() == ""


def test_an_object_that_may_not_be_read_is_not_called_damaged(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a git that ran as another user, a backup would be the wrong advice."""
    line.put("a.md", "1\n")
    line.commit()
    shut = str(loose(line, "HEAD:a.md"))

    def opened(path: object, *arguments: object, **more: object) -> object:
        if str(path) == shut:
            raise PermissionError(13, "Permission denied", shut)
        return open(path, *arguments, **more)  # type: ignore[call-overload]  # passed on as it came

    monkeypatch.setattr("service.history.objects.open", opened, raising=False)
    with pytest.raises(HistoryHeld, match=r"Permission denied.*check the owner and mode"):
        line.history.log.read("a.md", line.history.log.resolve("HEAD"))


def test_a_history_without_its_objects_is_said(line: Timeline) -> None:
    line.put("a.md", "1\n")
    line.commit()
    shutil.rmtree(line.git_dir / "objects")
    (line.git_dir / "objects").write_text("not a folder")
    with pytest.raises(HistoryHeld), again(line) as same:
        same.commit()
