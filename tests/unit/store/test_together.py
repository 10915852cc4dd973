"""Many files changed, all or none: with errors and kills at every call, with other programs in between, on weak disks."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.errors import AppError, ChangeUnfinished, DiskFault, Forbidden, NoSpace, NoteChanged, NoteExists
from service.store import journal, together
from service.store.files import VaultFiles
from service.store.journal import Before, Journal, JournalDamaged, Record, Renamed
from service.store.root import Root
from service.store.syscalls import Kernel
from service.store.together import Done, Move, Rewrite
from tests.support.disk import allow, at, texts
from tests.support.kernels import WEAKER, ActingKernel, FailingKernel, RefusingKernel

BEFORE: Mapping[str, bytes] = {
    "a/One.md": b"[[Old]] one\n",
    "b/Two.md": b"two [[Old]]\r\n",
    "Old.md": b"see [[One]]\n",
    "pic.png": b"\x89PNG",
}
AFTER: Mapping[str, bytes] = {
    "a/One.md": b"[[New]] one\n",
    "b/Two.md": b"two [[New]]\r\n",
    "new/New.md": b"see [[a/One]]\n",
    "pic.png": b"\x89PNG",
}
OVERWRITTEN: Mapping[str, bytes] = {
    "a/One.md": b"[[New]] one\n",
    "b/Two.md": b"two [[Old]]\r\n",
    "Old.md": b"see [[One]]\n",
    ".trash/a/pic.png": b"was here",
    "a/pic.png": b"\x89PNG",
}

STATE = "state"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / STATE).mkdir()
    return tmp_path / STATE


def lay(vault: Path, held: Mapping[str, bytes] = BEFORE) -> None:
    for path in sorted(vault.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, data in held.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_bytes(data)


def rewrite(files: VaultFiles, name: str, data: bytes) -> Rewrite:
    return Rewrite(files.read_tracked(at(name)), data)


def moved(files: VaultFiles, kept: Journal, permit: Callable[[], None] = allow) -> Done:
    """A note gets another name in another folder, itself and two others rewritten."""
    rewrites = [
        rewrite(files, "a/One.md", AFTER["a/One.md"]),
        rewrite(files, "b/Two.md", AFTER["b/Two.md"]),
        rewrite(files, "Old.md", AFTER["new/New.md"]),
    ]
    return together.apply(files, kept, rewrites, Move(at("Old.md"), at("new/New.md"), rewrites[2].old), permit)


def folder_moved(files: VaultFiles, kept: Journal, permit: Callable[[], None] = allow) -> Done:
    rewrites = [rewrite(files, "b/Two.md", AFTER["b/Two.md"]), rewrite(files, "a/One.md", AFTER["a/One.md"])]
    return together.apply(files, kept, rewrites, Move(at("a"), at("c/d")), permit)


def overwritten(files: VaultFiles, kept: Journal, permit: Callable[[], None] = allow) -> Done:
    there = files.trash_place(at("a/pic.png"))
    return together.apply(
        files,
        kept,
        [rewrite(files, "a/One.md", AFTER["a/One.md"])],
        Move(at("pic.png"), at("a/pic.png")),
        permit,
        to_trash=Move(at("a/pic.png"), there),
    )


CHANGES: Mapping[str, tuple[Callable[..., Done], Mapping[str, bytes], Mapping[str, bytes]]] = {
    "note": (moved, BEFORE, AFTER),
    "folder": (
        folder_moved,
        BEFORE,
        {
            "c/d/One.md": AFTER["a/One.md"],
            "b/Two.md": AFTER["b/Two.md"],
            "Old.md": BEFORE["Old.md"],
            "pic.png": b"\x89PNG",
        },
    ),
    "overwriting": (overwritten, {**BEFORE, "a/pic.png": b"was here"}, OVERWRITTEN),
}
WEAK = (
    "whole",
    "a FUSE mount",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("without links (EIO)", "without exchange")),
)


class Killed(BaseException):
    """Nothing runs any more."""


class DyingKernel(RefusingKernel):
    """Dies before or after its n-th call, and does nothing from then on."""

    def __init__(self, nth: int, refused: Mapping[str, int], *, after: bool) -> None:
        super().__init__(refused)
        self.left, self.after, self.is_dead = nth, after, False


def _dying(name: str) -> Callable[..., Any]:
    real = getattr(RefusingKernel, name)

    def call(self: DyingKernel, *args: Any) -> Any:
        if self.is_dead:
            raise Killed
        self.left -= 1
        if self.left == 0:
            self.is_dead = True
            if self.after:
                real(self, *args)
            raise Killed
        return real(self, *args)

    return call


for _name in [name for name in vars(Kernel) if not name.startswith("_")]:
    setattr(DyingKernel, _name, _dying(_name))


@pytest.mark.parametrize("weaker", WEAKER)
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_many_files_happens_on_every_kind_of_disk(vault: Path, state: Path, name: str, weaker: str) -> None:
    """Complaint 40."""
    change, before, after = CHANGES[name]
    lay(vault, before)
    root, kernel = Root(vault), RefusingKernel(WEAKER[weaker])
    done = change(VaultFiles(root, kernel), Journal(state, kernel))
    assert texts(vault) == after
    assert done.caution == ""
    assert list(state.iterdir()) == []
    root.close()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("weaker", WEAK)
@pytest.mark.parametrize("name", CHANGES)
def test_a_kill_at_any_call_leaves_all_or_nothing_after_a_restart(
    vault: Path, state: Path, name: str, weaker: str, *, after: bool
) -> None:
    """The issue: all or nothing, with a journal that a crash can resume."""
    change, was, becomes = CHANGES[name]
    root = Root(vault)
    nth, outcomes = 0, set()
    while True:
        nth += 1
        lay(vault, was)
        kernel = DyingKernel(nth, WEAKER[weaker], after=after)
        with contextlib.suppress(Killed):
            change(VaultFiles(root, kernel), Journal(state, kernel))
        again = VaultFiles(root)
        again.sweep()
        together.recover(again, Journal(state))
        found = dict(texts(vault))
        assert found in (was, becomes), f"{nth}: {sorted(found)}"
        outcomes.add(found == becomes)
        assert list(state.iterdir()) == [], nth
        if not kernel.is_dead:
            break
    assert outcomes == {False, True}
    assert nth > 15
    root.close()


@pytest.mark.parametrize("weaker", ["whole", "a FUSE mount"])
@pytest.mark.parametrize("name", ["note", "overwriting"])
def test_an_error_at_any_call_leaves_all_or_nothing(vault: Path, state: Path, name: str, weaker: str) -> None:
    """An error says that nothing was changed; success that everything was."""
    fail_each(vault, state, name, weaker, errno.EIO)


@pytest.mark.long
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EACCES], ids=errno.errorcode.get)
@pytest.mark.parametrize("weaker", WEAKER)
@pytest.mark.parametrize("name", CHANGES)
def test_any_error_at_any_call_on_any_disk_leaves_all_or_nothing(
    vault: Path, state: Path, name: str, weaker: str, number: int
) -> None:
    """The whole of it."""
    fail_each(vault, state, name, weaker, number)


def fail_each(vault: Path, state: Path, name: str, weaker: str, number: int) -> None:
    change, was, becomes = CHANGES[name]
    root = Root(vault)
    nth = 0
    while True:
        nth += 1
        lay(vault, was)
        kernel = FailingKernel(nth, number, WEAKER[weaker])
        where = f"call {nth}, {{}}"
        try:
            change(VaultFiles(root, kernel), Journal(state, kernel))
            is_done = True
        except AppError:
            is_done = False
        VaultFiles(root).sweep()
        found = {held: data for held, data in texts(vault).items() if "(conflict" not in held}
        assert found == (becomes if is_done else was), where.format(kernel.failed)
        together.recover(VaultFiles(root), Journal(state))
        assert {held: data for held, data in texts(vault).items() if "(conflict" not in held} == found
        assert list(state.iterdir()) == []
        if not kernel.failed:
            break
    root.close()


def acting(vault: Path, state: Path, act: Callable[[], object], turn: tuple[str, int]) -> tuple[VaultFiles, Journal]:
    return VaultFiles(Root(vault), ActingKernel({turn: act})), Journal(state)


def test_a_note_that_another_program_changes_stops_all_of_it(vault: Path, state: Path) -> None:
    """The issue: a version check of each note. Its words stay, and nothing else is changed."""
    lay(vault)
    files, kept = acting(vault, state, lambda: (vault / "b/Two.md").write_bytes(b"theirs"), ("exchange", 2))
    with pytest.raises(NoteChanged, match=r"'b/Two\.md' has changed"):
        moved(files, kept)
    files.close()
    assert texts(vault) == {**BEFORE, "b/Two.md": b"theirs"}
    assert list(state.iterdir()) == []


def test_what_another_program_writes_over_a_rewritten_note_is_never_taken_back(vault: Path, state: Path) -> None:
    lay(vault)

    def act() -> None:
        (vault / "a/One.md").write_bytes(b"theirs, after ours")
        (vault / "new").mkdir()
        (vault / "new/New.md").write_bytes(b"taken")

    files, kept = acting(vault, state, act, ("exchange", 3))
    with pytest.raises(NoteExists):
        moved(files, kept)
    files.close()
    assert texts(vault) == {**BEFORE, "a/One.md": b"theirs, after ours", "new/New.md": b"taken"}


def test_a_change_that_was_planned_on_something_else_touches_nothing(vault: Path, state: Path) -> None:
    lay(vault)
    files = VaultFiles(Root(vault))
    rewrites = [rewrite(files, "a/One.md", b"1"), rewrite(files, "b/Two.md", b"2")]
    for act in (lambda: (vault / "b/Two.md").write_bytes(b"longer than it was before"), (vault / "b/Two.md").unlink):
        act()
        with pytest.raises(NoteChanged):
            together.apply(files, Journal(state), rewrites, Move(at("Old.md"), at("New.md")), allow)
        assert (vault / "a/One.md").read_bytes() == BEFORE["a/One.md"]


def test_no_empty_folder_stays_in_the_trash_when_overwriting_fails(vault: Path, state: Path) -> None:
    lay(vault, {**BEFORE, "a/pic.png": b"was here"})
    kernel = RefusingKernel({})
    real, seen = kernel.rename_free, []

    def rename_free(*arguments: Any) -> None:
        seen.append(arguments)
        if len(seen) == 2:
            raise OSError(errno.EIO, "sick")
        real(*arguments)

    kernel.rename_free = rename_free  # type: ignore[method-assign]
    with pytest.raises(DiskFault):
        overwritten(VaultFiles(Root(vault), kernel), Journal(state))
    assert sorted(path.name for path in vault.iterdir()) == ["Old.md", "a", "b", "pic.png"]
    assert (vault / "a/pic.png").read_bytes() == b"was here"


def test_a_grant_that_is_revoked_in_the_middle_has_changed_nothing(vault: Path, state: Path) -> None:
    """decisions.md 20."""
    lay(vault)
    left = [5]

    def permit() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Forbidden("revoked.")

    with pytest.raises(Forbidden):
        moved(VaultFiles(Root(vault)), Journal(state), permit)
    assert texts(vault) == BEFORE


def killed(vault: Path, state: Path) -> VaultFiles:
    """Dead right before the note gets its new name, when all is rewritten."""
    lay(vault)
    root = Root(vault)
    counted = ActingKernel()
    moved(VaultFiles(root, counted), Journal(state))
    nth = len(counted.calls) - 1 - counted.calls[::-1].index("rename_free")
    lay(vault)
    kernel = DyingKernel(nth + 1, {}, after=False)
    with pytest.raises(Killed):
        moved(VaultFiles(root, kernel), Journal(state, Kernel()))
    assert (vault / "a/One.md").read_bytes() == AFTER["a/One.md"]
    assert journal.left_at(state) is not None
    return VaultFiles(root)


def test_the_restart_leaves_what_was_changed_after_a_kill_and_names_it(vault: Path, state: Path) -> None:
    """A note that somebody has changed meanwhile is left as it is and reported."""
    files = killed(vault, state)
    (vault / "a/One.md").write_bytes(b"theirs")
    (vault / "b/Two.md").unlink()
    settled = together.recover(files, Journal(state))
    assert settled is not None
    assert not settled.is_done
    assert set(settled.left) == {at("a/One.md"), at("b/Two.md")}
    assert texts(vault) == {"a/One.md": b"theirs", "Old.md": BEFORE["Old.md"], "pic.png": BEFORE["pic.png"]}
    assert together.recover(files, Journal(state)) is None


def test_what_cannot_be_put_back_now_is_put_back_later(vault: Path, state: Path) -> None:
    files = killed(vault, state)
    sick = VaultFiles(files.root, RefusingKernel({"open_unnamed": errno.EIO}))
    with pytest.raises(ChangeUnfinished, match=r"could not be taken back at 'Old\.md', 'b/Two\.md', 'a/One\.md'"):
        together.recover(sick, Journal(state))
    with pytest.raises(ChangeUnfinished):
        together.apply(sick, Journal(state), [], Move(at("pic.png"), at("p.png")), allow)
    assert journal.left_at(state) is not None
    together.recover(files, Journal(state))
    assert texts(vault) == BEFORE


def test_a_change_that_fails_and_cannot_be_taken_back_says_so(vault: Path, state: Path) -> None:
    lay(vault)
    counted = ActingKernel()
    moved(VaultFiles(Root(vault), counted), Journal(state))
    lay(vault)

    class Worsening(ActingKernel):
        def open_unnamed(self, folder: int) -> int:
            self.calls.append("open_unnamed")
            if self.calls.count("open_unnamed") > 2:
                raise OSError(errno.ENOSPC, "full")
            return Kernel.open_unnamed(self, folder)

    with pytest.raises(ChangeUnfinished):
        moved(VaultFiles(Root(vault), Worsening()), Journal(state))
    together.recover(VaultFiles(Root(vault)), Journal(state))
    assert texts(vault) == BEFORE


def test_a_full_state_folder_is_told_before_anything_changes(vault: Path, state: Path) -> None:
    lay(vault)
    with pytest.raises(NoSpace, match="state"):
        moved(VaultFiles(Root(vault)), Journal(state, RefusingKernel({"write": errno.ENOSPC})))
    assert texts(vault) == BEFORE
    assert list(state.iterdir()) == []


def test_a_journal_that_cannot_be_removed_is_settled_later_without_undoing_anything(vault: Path, state: Path) -> None:
    lay(vault)
    done = moved(VaultFiles(Root(vault)), Journal(state, RefusingKernel({"unlink": errno.EIO})))
    assert done.caution == ""
    assert journal.left_at(state) is None
    (vault / "new/New.md").rename(vault / "Elsewhere.md")
    together.recover(VaultFiles(Root(vault)), Journal(state))
    assert texts(vault)["a/One.md"] == AFTER["a/One.md"]


def test_a_damaged_journal_is_kept_for_the_owner_and_stops_nothing(vault: Path, state: Path) -> None:
    files = killed(vault, state)
    data = bytearray((state / journal.FILE_NAME).read_bytes())
    data[len(data) // 2] ^= 1
    (state / journal.FILE_NAME).write_bytes(data)
    held = dict(texts(vault))
    with pytest.raises(JournalDamaged):
        Journal(state).read()
    assert together.recover(files, Journal(state)) is None
    assert texts(vault) == held
    assert [path.name for path in state.iterdir()] == ["change.journal.damaged"]


def test_a_journal_says_what_was_written_and_nobody_else_can_read_it(state: Path) -> None:
    """Any bytes, any names."""
    record = Record(
        (Before(at("a b/é\u0301.md"), b"\x00\n\xff", "00" * 32), Before(at("x"), b"", "11" * 32)),
        (Renamed(at("p\udcffq"), at("q")),),
    )
    Journal(state).write(record)
    assert Journal(state).read() == record
    assert (state / journal.FILE_NAME).stat().st_mode & 0o777 == 0o600
    Journal(state).drop()
    assert Journal(state).read() is None


def test_no_one_elses_file_of_the_same_bytes_is_taken_for_ours(vault: Path, state: Path) -> None:
    """Both names there after a kill: only a second name of the very same file goes."""
    files = killed(vault, state)
    (vault / "new").mkdir(exist_ok=True)
    (vault / "new/New.md").write_bytes(AFTER["new/New.md"])
    together.recover(files, Journal(state))
    assert texts(vault) == {**BEFORE, "new/New.md": AFTER["new/New.md"]}
