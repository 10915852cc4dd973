"""Whether the kernel tells of every change below a folder, or all has to be looked at again: by the file systems there.

Those of this machine tell; what others can change as well (NFS, SMB, FUSE, the shares of Docker Desktop) does not. Source:
inotify(7), Limitations; search.md 5.
"""

from __future__ import annotations

import enum
import os
import re
import select
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOCAL: Final = frozenset(
    {
        *("bcachefs", "btrfs", "ext2", "ext3", "ext4", "exfat", "f2fs", "hfsplus", "jfs", "nilfs2", "ntfs3", "overlay"),
        *("ramfs", "reiserfs", "squashfs", "tmpfs", "udf", "ufs", "vfat", "xfs", "zfs"),
    }
)
"""Types of file systems that are changed through this kernel alone."""

_MOUNTS: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


class Mode(enum.Enum):
    """How the vault is kept up with: by the kernel's events, or by looking at every file again."""

    EVENTS = "events"
    WALK = "walk"


@dataclass(frozen=True, slots=True)
class Choice:
    """A mode, and why it was chosen: the end of a sentence, without names of notes."""

    mode: Mode
    why: str


def choose(asked: str, mounts: str, mount_id: int, folder: str) -> Choice:
    """How to keep up with a folder.

    Args:
        asked: `auto`, `events` or `walk`, as the owner has set it.
        mounts: the text of /proc/self/mountinfo.
        mount_id: of the mount that the folder lies on.
        folder: its real path.
    """
    if asked == Mode.WALK.value:
        return Choice(Mode.WALK, "STRONGROOM_FRESHNESS=walk")
    found = list(_mounts(mounts))
    kinds = [kind for number, _, kind in found if number == mount_id]
    below = folder.rstrip("/") + "/"
    kinds += [kind for _, place, kind in found if place.startswith(below)]
    silent = sorted({kind for kind in kinds if kind not in LOCAL})
    if asked == Mode.EVENTS.value:
        return Choice(
            Mode.EVENTS, "STRONGROOM_FRESHNESS=events" + (f", although {silent[0]} may not tell" if silent else "")
        )
    if not kinds:
        return Choice(Mode.WALK, "the mount of the vault is not known")
    if silent:
        return Choice(Mode.WALK, f"{silent[0]} does not tell of changes that others make")
    return Choice(Mode.EVENTS, f"{kinds[0]} tells of every change")


def mount_id(descriptor: int) -> int:
    """The number of the mount that an open file or folder lies on (fdinfo in proc(5)); 0 when it is not to be had."""
    try:
        told = Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii")
    except OSError:
        return 0
    lines = (line.split() for line in told.splitlines())
    return next((int(words[1]) for words in lines if words[0] == "mnt_id:"), 0)


class Mounts:
    """The mounts of this machine, and whether there are others since they were last looked at.

    Raises:
        OSError: /proc is not there.
    """

    def __init__(self) -> None:
        self._fd = os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        self._closing = weakref.finalize(self, os.close, self._fd)
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLPRI | select.POLLERR)

    def have_changed(self) -> bool:
        """Whether something was mounted or unmounted since this was last asked. One system call."""
        return bool(self._poll.poll(0))

    def text(self) -> str:
        """All of them, as proc(5) has it."""
        os.lseek(self._fd, 0, os.SEEK_SET)
        pieces = []
        while piece := os.read(self._fd, 65_536):
            pieces.append(piece)
        return b"".join(pieces).decode("utf-8", "surrogateescape")

    def close(self) -> None:
        """Give the descriptor back."""
        self._closing()


def _mounts(text: str) -> list[tuple[int, str, str]]:
    """Number, place and type of each mount."""
    found = []
    for line in text.splitlines():
        words = line.split(" ")
        if len(words) > 6 and "-" in words[6:]:
            place = _OCTAL.sub(lambda match: chr(int(match[1], 8)), words[4])
            found.append((int(words[0]), place, words[words.index("-", 6) + 1]))
    return found
