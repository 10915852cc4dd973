"""Two vaults for one question: does a client that is limited to folders see just what it would see if there were nothing else?

`Large` has everything and a grant for some folders; `Small` holds the same bytes, times and commits of those folders alone, and
a grant without a limit. What both answer has to be the same, save for what `plain` takes out:

- the ids of commits (they are hashes over the whole vault), the subjects (the limited client gets one of our making) and the
  labels of other grants (it gets `someone else`);
- how many files a commit is said to have added, changed and removed, and how many writes wait for one, once something lies in
  the trash: of the trash a limited client's history tells nothing, and counts a deletion once;
- the present time, and stamps in the trash, which a limited client's deletions always get.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from service.auth.model import SCOPES, Grant
from service.guards import paths
from service.history.limited import SOMEONE_ELSE
from service.history.model import Deletions
from service.tools.context import Room, Rooms
from service.vault import notes
from service.vault.model import Actor
from tests.support.clock import HeldClock
from tests.support.rooms import close, room_for, settings_for
from tests.support.toolpaths import Desk, Said, desk_over
from tests.support.vaults import lay_out

LABEL: Final = "reader"
OTHER: Final = "zqxlabel of another"
SETTINGS: Final = ".obsidian/plugins/periodic-notes/data.json"
"""History leaves this file out by itself, so both worlds may have it."""
_LAID_OUT_S: Final = 1_760_000_000
_STAMP: Final = re.compile(r" \d{8}T\d{6}Z-[0-9a-f]{4}")
_SUBJECT: Final = re.compile(r'"subject":"[^"]*"')
_COUNTS: Final = re.compile(r'"(added|changed|removed|uncommitted)":\d+')
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)")
_ELSEWHERE: Final = ("FORBIDDEN: this token is limited to ", "FORBIDDEN: this vault has no place for ")
_OF_THE_WHOLE: Final = re.compile(r"(UNAVAILABLE|BUSY|NO_SPACE|MISCONFIGURED): .*", re.DOTALL)


@dataclass
class World:
    """One vault with its history, and a client of it."""

    room: Room
    seen: Callable[[], Room]
    folder: Path
    clock: HeldClock
    desk: Desk
    has_deleted: Callable[[], bool]
    is_limited: bool

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        return self.desk.call(tool, arguments)

    def plain(self, said: str) -> str:
        """An answer without what the two worlds differ in by design."""
        for place, link in enumerate(reversed(self.seen().history.log.chain())):
            said = said.replace(link.id, f"<commit {place}>").replace(link.id[:12], f"<commit {place}>")
        said = _STAMP.sub("", _SUBJECT.sub('"subject":""', said))
        if not self.is_limited:
            said = said.replace(OTHER, SOMEONE_ELSE)
        if self.has_deleted():
            said = _COUNTS.sub(r'"\1":0', said)
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        said = _TIME.sub(lambda found: "<now>" if found[0].startswith(today) else found[0], said)
        return _OF_THE_WHOLE.sub(r"\1", said)


@dataclass
class Worlds:
    """The two. `folders` is what the large one's client is limited to."""

    large: World
    small: World
    folders: Sequence[str]

    def put(self, files: Mapping[str, str | bytes]) -> None:
        """Lay files out as another program would; in the small world those of the folders alone. All have one time."""
        lay_out(self.large.folder, files)
        lay_out(self.small.folder, {name: data for name, data in files.items() if self.is_inside(name)})
        for world in (self.large, self.small):
            for name in files:
                if (there := world.folder / name).exists():
                    os.utime(there, (_LAID_OUT_S, _LAID_OUT_S))

    def link(self, name: str, words: str) -> None:
        """Make a symbolic link where nothing stands in its way; in the small world only where it lies in the folders."""
        for world in (self.large, self.small):
            if world is self.small and not self.is_inside(name):
                continue
            there = world.folder / name
            with suppress(FileExistsError, NotADirectoryError):
                there.parent.mkdir(parents=True, exist_ok=True)
                there.symlink_to(words)

    def remove(self, *names: str) -> None:
        """Take files away, where they are."""
        for world in (self.large, self.small):
            for name in names:
                (world.folder / name).unlink(missing_ok=True)

    def write_as_another(self, name: str, text: str) -> None:
        """Make a note under another grant; in the small world only where it lies in the folders."""
        actor = Actor("other1", OTHER, permit=lambda: None)
        for world in (self.large, self.small):
            if world is self.large or self.is_inside(name):
                notes.create(world.room.vault, actor, paths.new_note(name), text)
                os.utime(world.folder / name, (_LAID_OUT_S, _LAID_OUT_S))

    def commit(self) -> None:
        """Commit in both worlds at one moment, and let an hour pass."""
        for world in (self.large, self.small):
            world.room.history.commit("test", deletions=Deletions.ACCEPT)
            world.clock.move(timedelta(hours=1))

    def is_inside(self, name: str) -> bool:
        """Whether a path lies in the folders, or is a setting that both worlds have."""
        return name == SETTINGS or any(name == folder or name.startswith(f"{folder}/") for folder in self.folders)

    def outside(self) -> Mapping[str, bytes | None]:
        """Everything in the large world that is not the client's, by name; None for a folder that leads to nothing of its own."""
        inside = [*self.folders, *(f"{paths.TRASH}/{folder}" for folder in self.folders)]
        ways = {"/".join(name.split("/")[:length]) for name in inside for length in range(1, name.count("/") + 2)}
        found: dict[str, bytes | None] = {}
        for path in sorted(self.large.folder.rglob("*")):
            name = str(path.relative_to(self.large.folder))
            if name in ways or any(name.startswith(f"{folder}/") for folder in inside):
                continue
            found[name] = path.read_bytes() if path.is_file() else None
        return found

    def both(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        """Call a tool in both worlds, and see that they answer alike; what the limited client was told.

        What it may not do because it would be done elsewhere is not done in the small world, where it could be.
        """
        limited = self.large.call(tool, arguments)
        if limited.text.startswith(_ELSEWHERE):
            return limited
        whole = self.small.call(tool, arguments)
        told, would_be = self.large.plain(limited.text), self.small.plain(whole.text)
        at = len(os.path.commonprefix([told, would_be]))  # noqa: RUF071  # characters are meant
        assert told == would_be, (
            f"{tool} {arguments}: ...{told[max(at - 200, 0) : at + 200]!r} and not ...{would_be[max(at - 200, 0) : at + 200]!r}"
        )
        assert limited.is_error == whole.is_error
        return limited


@contextmanager
def worlds(folder: Path, folders: Sequence[str], **settings: str) -> Iterator[Worlds]:
    """Both, empty. `settings` are for both."""
    made = []
    has_deleted = (folder / "small" / "vault" / paths.TRASH).exists
    trouble: Exception | None = None
    with ExitStack() as held:
        for name, limited_to in (("large", tuple(folders)), ("small", ())):
            (folder / name).mkdir()
            clock = HeldClock.at("2026-03-01T12:00:00")
            chosen = settings_for(folder / name, **settings)
            room = room_for(chosen, clock)
            held.callback(close, room)
            grant = Grant(
                f"g-{name}", "static", LABEL, frozenset(SCOPES), datetime(2026, 1, 1, tzinfo=UTC), folders=limited_to
            )
            rooms = Rooms(lambda room=room: room)
            desk = held.enter_context(desk_over(room, grant))
            made.append(
                World(
                    room,
                    lambda rooms=rooms, grant=grant: rooms.of(grant),
                    chosen.vault,
                    clock,
                    desk,
                    has_deleted,
                    bool(limited_to),
                )
            )
        try:
            yield Worlds(*made, folders)
        except Exception as error:  # noqa: BLE001  # raised below: the clients' task groups would wrap it
            trouble = error
    if trouble is not None:
        raise trouble
