"""A process that swaps a folder and a note for links to the outside, thousands of times a second.

Below the vault, `a` is a folder half of the time and a link to the outside else; so is the note `f.md`. What a tool takes
away is put back. Run as `python -m tests.support.swapping VAULT OUTSIDE`; it says `swapping` and goes on until it is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from service.store.syscalls import Kernel

SECRET: Final = "the-secret-of-the-outside"
INSIDE: Final = "one\ntwo\nthree\ninside\n"
NOTE: Final = "n.md"
FOLDERS, NOTES = ("a", "b"), ("f.md", "g.md")


@contextmanager
def swapped(vault: Path, outside: Path) -> Iterator[None]:
    """Lay both out and let them be swapped meanwhile."""
    outside.mkdir()
    (outside / NOTE).write_text(SECRET)
    (vault / "a").mkdir()
    (vault / "a" / NOTE).write_text(INSIDE)
    (vault / "b").symlink_to(outside)
    (vault / "f.md").write_text(INSIDE)
    (vault / "g.md").symlink_to(outside / NOTE)
    swapper = subprocess.Popen(
        [sys.executable, "-m", "tests.support.swapping", vault, outside],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert swapper.stdout is not None
        assert swapper.stdout.readline() == b"swapping\n"
        yield
        assert swapper.poll() is None, "it ended before its time"
    finally:
        swapper.kill()
        swapper.communicate()


def main(vault: str, outside: str) -> None:
    folder, kernel = os.open(vault, os.O_PATH), Kernel()
    inside = os.open(f"{vault}/a", os.O_PATH)  # the real folder, wherever its name is
    print("swapping", flush=True)
    while True:
        for _ in range(100):
            for pair in (FOLDERS, NOTES):
                with suppress(FileNotFoundError):
                    kernel.exchange(folder, *pair)
        _put_back(folder, outside)
        _write_new(inside, NOTE)


def _put_back(folder: int, outside: str) -> None:
    """Make again what a tool has taken away."""
    kinds = {name: _is_link(folder, name) for name in NOTES}
    for name in [name for name, is_link in kinds.items() if is_link is None]:
        if True in kinds.values():
            _write_new(folder, name)
        else:
            with suppress(FileExistsError):
                os.symlink(f"{outside}/{NOTE}", name, dir_fd=folder)
        return


def _is_link(folder: int, name: str) -> bool | None:
    try:
        os.readlink(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError:
        return False
    return True


def _write_new(folder: int, name: str) -> None:
    with suppress(FileExistsError):
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
        os.write(descriptor, INSIDE.encode())
        os.close(descriptor)


if __name__ == "__main__":
    main(*sys.argv[1:])
