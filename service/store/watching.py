"""Which names in which folders have changed, by the events of the kernel; or that only looking at everything can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from service.guards import paths
from service.guards.paths import VaultPath
from service.store import inotify
from service.store.inotify import Event, Inotify

Changes: TypeAlias = Mapping[VaultPath, Mapping[str, bool]]
"""By folder and name; whether something that happened there happened to a folder of that name."""

_LOST = inotify.OVERFLOW | inotify.UNMOUNT | inotify.MOVE_SELF
_MOVED = inotify.MOVED_FROM | inotify.MOVED_TO


class Watching:
    """The folders of one look at the vault, watched from before each was listed. Not thread-safe.

    A watch follows its folder, not the name: once a folder has been moved, what events say is no path any more, so then all is
    to be looked at again with new watches (patching the paths was tried and was wrong in one round of six; search.md 5).

    Raises:
        OSError: as `Inotify`.
    """

    def __init__(self) -> None:
        self._queue = Inotify()
        self._paths: dict[int, VaultPath] = {}
        self.is_lost = False
        """Whether only looking at everything can tell what has changed."""
        self.has_half_a_move = False
        """Whether a file has left its name and its new one was not told of: most often that event is just coming."""

    def __len__(self) -> int:
        return len(self._paths)

    def add(self, path: VaultPath, folder: int) -> None:
        """Watch an open folder. Raises OSError as `Inotify.add`."""
        number = self._queue.add(folder)
        known = self._paths.setdefault(number, path)
        if known != path:
            self.is_lost = True  # moved just now, or mounted at two places

    def changes(self) -> Changes:
        """What has changed since this was last asked; without sense once `is_lost`."""
        found: dict[VaultPath, dict[str, bool]] = {}
        moving: set[int] = set()
        for event in self._queue.events():
            if event.mask & inotify.MOVED_FROM:
                moving.add(event.cookie)
            moving -= {event.cookie} if event.mask & inotify.MOVED_TO else set()
            folder = self._folder(event)
            if folder is not None and is_seen(folder, event.name):
                names = found.setdefault(folder, {})
                names[event.name] = names.get(event.name, False) or bool(event.mask & inotify.IS_FOLDER)
                self.is_lost |= bool(event.mask & _MOVED and event.mask & inotify.IS_FOLDER)
        self.has_half_a_move = bool(moving)
        return found

    def close(self) -> None:
        """Watch nothing any more."""
        self._queue.close()

    def _folder(self, event: Event) -> VaultPath | None:
        """The folder in which something happened to `event.name`."""
        if event.mask & _LOST:
            self.is_lost = True
        elif event.mask & inotify.IGNORED:
            self._paths.pop(event.watch, None)
        elif event.name:
            return self._paths.get(event.watch)
        elif not self._paths.get(event.watch, paths.ROOT).parts:
            self.is_lost = True  # the root itself: nothing above it tells of that
        return None


def is_seen(folder: VaultPath, name: str) -> bool:
    """Whether something of that name in a folder is there for us: it is not hidden, and a path may name it."""
    return paths.is_visible(name) and (bool(folder.parts) or not name.startswith("~"))
