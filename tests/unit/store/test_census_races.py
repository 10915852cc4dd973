"""What happens while the vault is being looked at is not lost (search.md 5, rules 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.guards.paths import ROOT, VaultPath
from service.store import inotify
from service.store.census import Census
from service.store.inotify import Event, Inotify
from service.store.listings import File
from service.store.root import Root
from tests.support.census import watched


@pytest.mark.parametrize("name", ["a.md", "new.md"])
def test_what_changes_while_its_folder_is_being_listed_is_told_by_the_next_question(tmp_path: Path, name: str) -> None:
    """Watched before listed, and emptied once more afterwards: either left out loses this change."""
    (tmp_path / "a.md").write_text("1")
    made: list[VaultPath] = []

    def make(path: VaultPath, size_bytes: int, mtime_ns: int, mark: int) -> File:
        made.append(path)
        if len(made) == 1:
            (tmp_path / name).write_text("longer")
        return File(path, size_bytes, mtime_ns, mark)

    root = Root(tmp_path)
    census = Census[File](root, make, lambda *_changed: None, "events")
    census.now()
    assert census.now()[ROOT].files[name].size_bytes == len("longer")
    census.close()
    root.close()


def test_a_file_is_not_missing_while_the_second_half_of_its_move_is_coming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename is two events; the queue may be emptied between them."""
    with watched(tmp_path / "vault") as it:
        (it.folder / "a.md").write_text("1")
        assert it.now() == it.truth()
        kept_back: list[Event] = []
        emptied = Inotify.events

        def halved(queue: Inotify) -> Iterator[Event]:
            found = [*kept_back, *emptied(queue)]
            kept_back.clear()
            for number, event in enumerate(found):
                yield event
                if event.mask & inotify.MOVED_FROM:
                    kept_back.extend(found[number + 1 :])
                    return

        monkeypatch.setattr(Inotify, "events", halved)
        (it.folder / "a.md").rename(it.folder / "b.md")
        assert it.now() == it.truth()
