"""Reading all files below a folder in one sweep."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from service.errors import NoteNotFound, PathRefused
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store import scan
from service.store.scan import Scanned
from tests.support.desk import Desk, desk_in


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


def scanned(desk: Desk, folder: VaultPath = ROOT, max_bytes: int = 1000) -> list[Scanned]:
    return sorted(
        scan.scan(desk.vault.files, folder, max_bytes=max_bytes, is_wanted=lambda _path: True),
        key=lambda one: one.path.parts,
    )


def test_a_sweep_sees_what_walking_sees_with_its_bytes_and_times(desk: Desk) -> None:
    """Our decision: searching and listing agree on what a note is."""
    desk.put(
        {"a.md": "1", "b/c.TXT": "22", "b/d/e.markdown": "", "f.png": "", ".g.md": "", "~h.md": "", "b/~i.md": "3"}
    )
    desk.put({"j\u200b.md": "", "k\\l.md": "", "node_modules/m.md": "", "n.md/o.md": "4"})
    os.mkfifo(desk.folder / "p.md")
    (desk.folder / "q.md").symlink_to("a.md")
    (desk.folder / "r").symlink_to("b")
    walked = {(entry.path, entry.mtime_ns, entry.size_bytes) for entry in desk.vault.files.walk()}
    assert {(one.path, one.mtime_ns, len(one.data or b"")) for one in scanned(desk)} == walked
    assert [(str(one.path), one.data) for one in scanned(desk)] == [
        ("a.md", b"1"),
        ("b/c.TXT", b"22"),
        ("b/d/e.markdown", b""),
        ("b/~i.md", b"3"),
        ("n.md/o.md", b"4"),
    ]


def test_a_folder_that_is_none_is_refused_as_in_walking(desk: Desk) -> None:
    """Our decision."""
    desk.put({"a.md": ""})
    with pytest.raises(NoteNotFound):
        scanned(desk, paths.folder("missing"))
    with pytest.raises(PathRefused):
        scanned(desk, paths.folder("a.md"))


def test_a_file_over_the_limit_comes_without_its_bytes(desk: Desk) -> None:
    """guards.md 2.3, size."""
    desk.put({"a.md": "x" * 1000, "b.md": "x" * 1001})
    assert [one.data is None for one in scanned(desk)] == [False, True]


def test_a_file_that_grows_while_it_is_read_is_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """guards.md 2.3, size: it may grow while read."""
    desk.put({"a.md": "x" * 999})
    real = os.fstat

    def seen_early(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        with (desk.folder / "a.md").open("ab") as file:
            file.write(b"y" * 10)
        return found

    monkeypatch.setattr(os, "fstat", seen_early)
    assert [one.data for one in scanned(desk)] == [None]
    [grown] = scanned(desk, max_bytes=5000)
    assert (grown.data or b"").startswith(b"x" * 999 + b"y" * 20)  # more than its size said


def test_a_folder_swapped_for_a_link_after_it_was_listed_is_passed_over(desk: Desk, tmp_path: Path) -> None:
    """Complaint 33: also a link made between check and use."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret", encoding="utf-8")
    desk.put({"a/x.md": "x", "b/y.md": "y"})
    seen: list[str] = []
    for one in scan.scan(desk.vault.files, max_bytes=1000, is_wanted=lambda _path: True):
        seen.append(str(one.path))
        for name in ("a", "b"):
            if not seen[0].startswith(name) and not (desk.folder / name).is_symlink():
                (desk.folder / name).rename(tmp_path / name)
                (desk.folder / name).symlink_to(tmp_path / "outside")
    assert len(seen) == 1


def test_what_is_not_wanted_is_not_opened(desk: Desk) -> None:
    """Our decision: a left-out folder costs nothing."""
    desk.put({"a/x.md": "", "a/b/y.md": "", "c.md": ""})
    asked: list[str] = []

    def is_wanted(path: VaultPath) -> bool:
        asked.append(str(path))
        return str(path) != "a"

    found = [str(one.path) for one in scan.scan(desk.vault.files, max_bytes=1000, is_wanted=is_wanted)]
    assert found == ["c.md"]
    assert sorted(asked) == ["a", "c.md"]
