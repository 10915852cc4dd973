"""Changing a folder of notes at random, as editors, sync tools and people do; and what is in it, by a plain walk."""

from __future__ import annotations

import os
import random
import shutil
import stat
from pathlib import Path
from typing import Final

NAMES: Final = [
    "a.md",
    "b.md",
    "é.md",
    "e\u0301.md",
    "👍.md",
    "two words.md",
    "line\nbreak.md",
    "p.png",
    "c.canvas",
    ".hid.md",
]
FOLDERS: Final = ["x", "y", "x/z", "é", ".obsidian", ".trash"]
TEXTS: Final = [
    b"",
    b"alpha\n",
    b"beta\r\nalpha\n",
    b"#tag alpha\n",
    b"- [ ] task beta\n",
    b"\xff alpha",
    b"[[a]] <!-- alpha -->\n",
]


def change(vault: Path, dice: random.Random) -> str:
    """Do one thing somewhere in `vault`; what it was."""
    names = [name for name in dir(_Changes) if not name.startswith("_")]
    name = dice.choice(names)
    try:
        getattr(_Changes(vault, dice), name)()
    except OSError:
        return f"{name} (in vain)"
    return name


def files_in(vault: Path) -> dict[str, tuple[int, int]]:
    """Every visible regular file with its size and time of change, by a plain walk."""
    found = {}
    for folder, folders, files in os.walk(vault):
        folders[:] = [name for name in folders if _is_seen(name) and not (Path(folder) / name).is_symlink()]
        for name in files:
            path = Path(folder) / name
            seen = path.lstat()
            if stat.S_ISREG(seen.st_mode) and _is_seen(name):
                found[str(path.relative_to(vault))] = (seen.st_size, seen.st_mtime_ns)
    return found


def folders_in(vault: Path) -> set[str]:
    """Every visible folder, the root as an empty name."""
    found = {""}
    for folder, folders, _ in os.walk(vault):
        folders[:] = [name for name in folders if _is_seen(name) and not (Path(folder) / name).is_symlink()]
        found |= {str((Path(folder) / name).relative_to(vault)) for name in folders}
    return found


def _is_seen(name: str) -> bool:
    return not name.startswith(".") and "\n" not in name


class _Changes:
    def __init__(self, vault: Path, dice: random.Random) -> None:
        self._vault = vault
        self._dice = dice

    def write(self) -> None:
        self._place().write_bytes(self._text())

    def write_again(self) -> None:
        self._file().write_bytes(self._text())

    def append(self) -> None:
        with self._file().open("ab") as file:
            file.write(self._text())

    def truncate(self) -> None:
        os.truncate(self._file(), 0)

    def replace_at_once(self) -> None:
        place = self._place()
        temporary = place.with_name(f".{place.name}.tmp")
        temporary.write_bytes(self._text())
        temporary.replace(place)

    def save_as_vim_does(self) -> None:
        place = self._file()
        place.rename(place.with_name(place.name + "~"))
        place.write_bytes(self._text())
        place.with_name(place.name + "~").unlink()

    def set_times_back(self) -> None:
        os.utime(self._file(), (1, self._dice.randrange(5)))

    def remove(self) -> None:
        self._file().unlink()

    def rename(self) -> None:
        self._file().rename(self._place())

    def make_folder(self) -> None:
        (self._vault / self._dice.choice(FOLDERS)).mkdir(parents=True, exist_ok=True)

    def move_folder(self) -> None:
        self._folder().rename(self._vault / self._dice.choice(FOLDERS))

    def move_folder_out_and_in(self) -> None:
        folder, outside = self._folder(), self._vault.parent / "outside"
        folder.rename(outside)
        (outside / "new.md").write_bytes(self._text())
        outside.rename(folder)

    def remove_folder(self) -> None:
        shutil.rmtree(self._folder())

    def make_folder_anew(self) -> None:
        folder = self._folder()
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "a.md").write_bytes(self._text())

    def copy_folder(self) -> None:
        shutil.copytree(self._folder(), self._vault / self._dice.choice(FOLDERS), dirs_exist_ok=True)

    def file_becomes_folder(self) -> None:
        place = self._file()
        place.unlink()
        place.mkdir()
        (place / "in.md").write_bytes(self._text())

    def folder_becomes_file(self) -> None:
        folder = self._folder()
        shutil.rmtree(folder)
        folder.write_bytes(self._text())

    def hard_link(self) -> None:
        file = self._file()
        os.link(file, self._place())
        file.chmod(file.stat().st_mode)  # no event tells that a file got a second name: docs/explanation/search.md

    def symbolic_link(self) -> None:
        self._place().symlink_to(self._file())

    def pipe(self) -> None:
        os.mkfifo(self._place())

    def _text(self) -> bytes:
        return self._dice.choice(TEXTS) * self._dice.randint(1, 3)

    def _place(self) -> Path:
        folder = self._dice.choice([self._vault, *(self._vault / name for name in FOLDERS)])
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / self._dice.choice(NAMES)
        if place.is_fifo():
            raise FileExistsError(place)  # who opens a pipe to write waits for a reader, for ever
        return place

    def _file(self) -> Path:
        found = [path for path in sorted(self._vault.rglob("*")) if path.is_file() and not path.is_symlink()]
        if not found:
            raise FileNotFoundError
        return self._dice.choice(found)

    def _folder(self) -> Path:
        found = [path for path in sorted(self._vault.rglob("*")) if path.is_dir() and not path.is_symlink()]
        if not found:
            raise FileNotFoundError
        return self._dice.choice(found)
