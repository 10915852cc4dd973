"""Fail the n-th call to the kernel, see that everything is whole, go on to the next until it gets through.

As SQLite tests itself ("How SQLite Is Tested"), in one process and on every kind of file system; tests/unit/store/
test_faults.py does the same to the real system calls, where there is a tracer.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from service.errors import AppError, NoteChanged
from service.store.files import FileContent, VaultFiles
from service.store.root import Root
from tests.support.disk import allow, at, texts
from tests.support.kernels import WEAKER, FailingKernel

OLD, NEW = b"old text\n", b"new text\n"
Change = Callable[[VaultFiles, FileContent], FileContent | None]


def _trash(files: VaultFiles, old: FileContent) -> None:
    files.trash(old, allow)


def _remove(files: VaultFiles, old: FileContent) -> None:
    files.remove(old, allow)


CHANGES: dict[str, tuple[Change, dict[str, bytes]]] = {
    "create": (
        lambda files, _: files.create(at("new/folder/New.md"), NEW, allow),
        {"a/Note.md": OLD, "new/folder/New.md": NEW},
    ),
    "replace": (lambda files, old: files.replace(old, NEW, allow), {"a/Note.md": NEW}),
    "move": (lambda files, old: files.move(old, at("b/c/Moved.md"), allow), {"b/c/Moved.md": OLD}),
    "trash": (_trash, {".trash/a/Note.md": OLD}),
    "put": (lambda files, old: files.put(old.path, NEW, 0o600, allow, old), {"a/Note.md": NEW}),
    "remove": (_remove, {}),
}
"""Each change, and what the vault holds afterwards."""


def calls_until_through(vault: Path, weaker: str, number: int, change: Change, after: dict[str, bytes]) -> int:
    """Fail each call in turn; how many there were."""
    root = Root(vault)
    nth = 0
    while True:
        nth += 1
        reset(vault)
        kernel = FailingKernel(nth, number, WEAKER[weaker])
        is_refused, caution = changed(VaultFiles(root, kernel), change)
        VaultFiles(root).sweep()
        where = f"{errno.errorcode[number]} at call {nth}, {kernel.failed}"
        found = dict(texts(vault))
        copies = {name: found.pop(name) for name in list(found) if "(conflict " in name}
        assert found == ({"a/Note.md": OLD} if is_refused else after), where
        assert set(copies.values()) <= {OLD}, where
        assert not copies or caution, where
        if is_refused:
            assert sorted(path.name for path in vault.iterdir()) == ["a"], where
        if not kernel.failed:
            root.close()
            return nth - 1


def changed(files: VaultFiles, change: Change) -> tuple[bool, str]:
    """Whether it was refused, and the caution of a write that took place."""
    try:
        made = change(files, files.read(at("a/Note.md")))
    except NoteChanged:
        raise  # nobody has changed it
    except AppError:
        return True, ""
    finally:
        files.close()
    return False, "" if made is None else made.caution


def reset(vault: Path) -> None:
    for path in sorted(vault.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (vault / "a").mkdir()
    (vault / "a" / "Note.md").write_bytes(OLD)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EACCES, errno.EROFS], ids=errno.errorcode.get)
@pytest.mark.parametrize("weaker", ["whole", "a FUSE mount", "without links (EIO) and flags"])
@pytest.mark.parametrize("name", CHANGES)
def test_any_call_may_fail(vault: Path, name: str, weaker: str, number: int) -> None:
    """Bar 1 and 9: the old note or the new one, nothing left over, and an error says that nothing was changed."""
    change, after = CHANGES[name]
    assert calls_until_through(vault, weaker, number, change, after) > 2
