"""Another program that changes a vault at random, one change for each line it is sent: `python -m tests.support.storm`.

What editors and sync programs do is among it: swap and backup files, atomic replacing, files left open, folders moved in and
out. The same seed and the same vault give the same changes.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

_NAMES: Final = (
    "a.md",
    "b.md",
    "\xe9.md",
    "e\u0301.md",
    "\U0001f9e0.md",
    "new\nline.md",
    "c.txt",
    "p.png",
    ".a.md",
    "a.md~",
)
_FOLDERS: Final = ("x", "y", "\xfcber", "\U0001f4c1 z", ".obsidian", ".stash")
_WORDS: Final = ("needle", "hay", "stra\xdfe", "\u4f1a\u8b70", "#tag", "[[a]]")
_DEEPEST: Final = 4


class Storm:
    """Changes `vault`, with `outside` as the place that things are moved to and come back from."""

    def __init__(self, vault: Path, outside: Path, seed: int) -> None:
        self._vault, self._outside = vault, outside
        self._random = random.Random(seed)
        self._open: list[IO[bytes]] = []
        self._changes: tuple[Callable[[], object], ...] = (
            *(
                self._write,
                self._write,
                self._append,
                self._keep_open,
                self._truncate,
                self._replace,
                self._save_as_vim,
            ),
            *(self._sync, self._times, self._permissions, self._remove, self._rename, self._rename, self._make_folder),
            *(self._move_folder, self._move_out, self._move_in, self._copy_folder, self._remove_folder, self._symlink),
            *(self._second_name, self._fifo, self._swap_kind, self._churn),
        )

    def change(self) -> None:
        """One change. What the disk refuses (a name that is taken, a folder moved into itself) is no change."""
        with suppress(OSError, shutil.Error):
            self._random.choice(self._changes)()

    def _words(self) -> bytes:
        words = self._random.choices(_WORDS, k=self._random.randint(0, 4))
        return " ".join([*words, str(self._random.randint(0, 99))]).encode()

    def _folders(self) -> list[Path]:
        return sorted(Path(at) for at, _, _ in os.walk(self._vault))

    def _folder(self) -> Path:
        return self._random.choice(self._folders())

    def _place(self) -> Path:
        place = self._folder() / self._random.choice(_NAMES)
        if place.is_fifo():
            place.unlink()  # to write to it would wait for a reader
        return place

    def _file(self) -> Path:
        files = sorted(Path(at) / name for at, _, names in os.walk(self._vault) for name in names)
        files = [file for file in files if file.is_file() and not file.is_symlink()]
        return self._random.choice(files) if files else self._place()

    def _write(self) -> None:
        self._place().write_bytes(self._words())

    def _append(self) -> None:
        with self._file().open("ab") as file:
            file.write(self._words())

    def _keep_open(self) -> None:
        if len(self._open) > 3:
            self._open.pop(0).close()
        file = self._file().open("r+b", buffering=0)
        self._open.append(file)
        file.write(self._words())

    def _truncate(self) -> None:
        os.truncate(self._file(), self._random.randint(0, 5))

    def _replace(self) -> None:
        place = self._place()
        other = place.with_name(
            self._random.choice((".new.tmp", "4913", f".{place.name}.swp", f".syncthing.{place.name}.tmp"))
        )
        other.write_bytes(self._words())
        other.replace(place)

    def _save_as_vim(self) -> None:
        file = self._file()
        file.rename(f"{file}~")
        file.write_bytes(self._words())
        Path(f"{file}~").unlink()

    def _sync(self) -> None:
        place = self._place()
        place.write_bytes(self._words())
        os.utime(place, (1_500_000_000, 1_500_000_000))

    def _times(self) -> None:
        os.utime(self._file(), (1_400_000_000, 1_400_000_000 + self._random.randint(0, 3)))

    def _permissions(self) -> None:
        self._random.choice((self._file, self._folder))().chmod(self._random.choice((0o700, 0o750)))

    def _remove(self) -> None:
        self._file().unlink()

    def _rename(self) -> None:
        self._file().rename(self._place())

    def _make_folder(self) -> None:
        place = self._folder() / self._random.choice(_FOLDERS)
        if len(place.relative_to(self._vault).parts) <= _DEEPEST:
            place.mkdir()
            (place / self._random.choice(_NAMES)).write_bytes(self._words())

    def _move_folder(self) -> None:
        source, target = self._folder(), self._folder() / self._random.choice(_FOLDERS)
        if source != self._vault and len(target.relative_to(self._vault).parts) <= _DEEPEST:
            source.rename(target)

    def _move_out(self) -> None:
        source = self._folder()
        if source != self._vault:
            source.rename(self._outside / f"{self._random.randint(0, 9)}")

    def _move_in(self) -> None:
        source = self._random.choice(sorted(self._outside.iterdir()) or [self._outside / "none"])
        source.rename(self._folder() / self._random.choice(_FOLDERS))

    def _copy_folder(self) -> None:
        source, target = self._folder(), self._folder() / self._random.choice(_FOLDERS)
        if source != self._vault and not target.is_relative_to(source) and len(self._folders()) < 60:
            shutil.copytree(source, target, symlinks=True, ignore=_odd_ones)

    def _remove_folder(self) -> None:
        source = self._folder()
        if source != self._vault:
            shutil.rmtree(source)

    def _symlink(self) -> None:
        self._place().symlink_to(self._random.choice((self._file, self._folder))())

    def _second_name(self) -> None:
        place, file = self._place(), self._file()
        if "/." not in f"{place}{file}":  # by a hidden name: not told of (docs/explanation/search.md, Never stale)
            place.hardlink_to(file)

    def _fifo(self) -> None:
        os.mkfifo(self._place())

    def _swap_kind(self) -> None:
        place = self._file()
        place.unlink()
        place.mkdir()
        (place / self._random.choice(_NAMES)).write_bytes(self._words())

    def _churn(self) -> None:
        (self._vault / ".obsidian").mkdir(exist_ok=True)
        (self._vault / ".obsidian" / "workspace.json").write_bytes(self._words())


class Elsewhere:
    """A storm in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def change(self, times: int = 1) -> None:
        """Make some changes; they have been made when this returns."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"%d\n" % times)
        self._process.stdin.flush()
        assert self._process.stdout.readline() == b"done\n"


@contextmanager
def elsewhere(vault: Path, outside: Path, seed: int) -> Iterator[Elsewhere]:
    """A storm in another process, which ends with the block."""
    command = [sys.executable, "-m", "tests.support.storm", vault, outside, str(seed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Elsewhere(process)
        assert process.stdin is not None
        process.stdin.close()


def _odd_ones(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not (Path(folder) / name).is_file() and not (Path(folder) / name).is_dir()]


def main() -> None:
    """Change what the command line names, as often as each line says."""
    vault, outside, seed = sys.argv[1:]
    storm = Storm(Path(vault), Path(outside), int(seed))
    for line in sys.stdin:
        for _ in range(int(line)):
            storm.change()
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
