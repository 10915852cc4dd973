"""One file of the vault in the picture: what was found in its bytes, each thing when it is first asked for.

A file that changes gets a new object (`service.store.census`), so nothing here is ever out of date; and since nothing else
has to be kept, the text itself is not: it is read again from the disk where it is needed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, overload

from service.errors import AppError
from service.guards import limits
from service.guards.paths import VaultPath
from service.store.listings import File
from service.store.reading import READ_FLAGS, version_of
from service.store.root import Root
from service.vault import frontmatter, text, views
from service.vault.parts import aliases, canvas, links, tags, tasks
from service.vault.parts.links import LinkUse
from service.vault.parts.tags import TagUse
from service.vault.parts.tasks import Task
from service.vault.picture import packing

T = TypeVar("T")

_PIECE_BYTES: Final = 1 << 20
_KNOWN: Final = (
    "_aliases",
    "_canvas_links",
    "_front_lines",
    "_links",
    "_raw_links",
    "_tags",
    "_tasks",
    "cuts",
    "is_shown",
    "version",
)


@dataclass(frozen=True, slots=True)
class Packing(Generic[T]):
    """How what was found is kept: `pack` makes fewer bytes of it, `unpack` the same again."""

    pack: Callable[[Sequence[T]], bytes]
    unpack: Callable[[bytes], Sequence[T]]


_LINKS: Final = Packing(packing.pack_links, packing.links)
_TAGS: Final = Packing(packing.pack_tags, packing.tags)
_TASKS: Final = Packing(packing.pack_tasks, packing.tasks)


class Fact(Generic[T]):
    """A kind of thing that notes hold: found when it is first asked for, kept as long as the note is as it is.

    Args:
        slot: where a note keeps it.
        find: what a text holds.
        may_hold: whether bytes may hold any, at the price of a glance; where it says no, `find` is not asked.
        packing: to fewer bytes and back, where there are many of them.
        is_raw: whether it is found in the bytes of the file, not in those of its view.
    """

    def __init__(
        self,
        slot: str,
        find: Callable[[str], Sequence[T]],
        may_hold: Callable[[bytes], bool],
        packing: Packing[T] | None = None,
        *,
        is_raw: bool = False,
    ) -> None:
        self._slot = slot
        self._find = find
        self._may_hold = may_hold
        self._packing = packing
        self._is_raw = is_raw

    @overload
    def __get__(self, note: None, owner: type[Note]) -> Fact[T]: ...
    @overload
    def __get__(self, note: Note, owner: type[Note]) -> Sequence[T]: ...

    def __get__(self, note: Note | None, owner: type[Note]) -> Fact[T] | Sequence[T]:
        if note is None:
            return self
        known: Sequence[T] | bytes | None = getattr(note, self._slot)
        if known is None:
            return self._found(note)
        return self._unpacked(known)

    def learn(self, note: Note) -> bool:
        """Find it if it is not known yet; whether it is known now: not when the file has changed, or could not be read."""
        if getattr(note, self._slot) is None:
            self._found(note)
        return getattr(note, self._slot) is not None

    def packed(self, note: Note) -> bytes:
        """What `packing` made of it, empty when there is none; `packing` is there. Found first if it is not known."""
        assert self._packing is not None
        known: Sequence[T] | bytes | None = getattr(note, self._slot)
        if isinstance(known, bytes):
            return known
        found = self._found(note) if known is None else known
        return self._packing.pack(found) if found else b""

    def _unpacked(self, known: Sequence[T] | bytes) -> Sequence[T]:
        if not isinstance(known, bytes):
            return known
        assert self._packing is not None
        return self._packing.unpack(known)

    def _found(self, note: Note) -> Sequence[T]:
        read = note.read()
        if read is None:
            return ()
        data, shown = read
        words = data if self._is_raw else shown
        found = tuple(self._find(text.decode(words).text)) if self._may_hold(words) else ()
        if note.version == version_of(data):  # else it has changed meanwhile, and another object stands for it soon
            setattr(note, self._slot, self._packing.pack(found) if self._packing is not None and found else found)
        return found


class Note(File):
    """One visible file. What it holds is known once it was looked at (`Picture`); of other files only that they are there.

    `version` is as in `FileContent`; empty before it was looked at, and when it could not be read.
    `is_shown`: it was read, and may be shown at least in part.
    """

    __slots__ = ("_root", *_KNOWN)

    tags = Fact[TagUse]("_tags", tags.of, tags.may_hold, _TAGS)
    tasks = Fact[Task]("_tasks", tasks.of, tasks.may_hold, _TASKS)
    raw_links = Fact[LinkUse]("_raw_links", links.of, links.may_hold, _LINKS, is_raw=True)
    links = Fact[LinkUse]("_links", links.of, links.may_hold, _LINKS)
    raw_canvas_links = Fact[LinkUse]("_raw_links", canvas.every_link, canvas.may_hold, _LINKS, is_raw=True)
    aliases = Fact[str]("_aliases", aliases.of, aliases.may_hold)
    canvas_links = Fact[LinkUse]("_canvas_links", canvas.links_in, canvas.may_hold, _LINKS, is_raw=True)

    def __init__(self, root: Root, path: VaultPath, size_bytes: int, mtime_ns: int, mark: int) -> None:
        super().__init__(path, size_bytes, mtime_ns, mark)
        self._root = root
        self.version = ""
        self.cuts: Sequence[int] | None = views.NOTHING
        self.is_shown = False
        self._front_lines: int | None = None
        self._tags: Sequence[TagUse] | bytes | None = None
        self._tasks: Sequence[Task] | bytes | None = None
        self._links: Sequence[LinkUse] | bytes | None = None
        self._aliases: Sequence[str] | None = None
        self._raw_links: Sequence[LinkUse] | bytes | None = None
        self._canvas_links: Sequence[LinkUse] | bytes | None = None

    def look(self, before: Note | None, max_new_bytes: int | None = None, folder: int | None = None) -> bytes | None:
        """Read the file and look at what may be shown of it; the bytes of its view, None when there is nothing to show.

        Args:
            before: what stood for the file until now. When its bytes are still the same, what is known of them stays known.
            max_new_bytes: a longer note that is not known and may hide something is not looked at: None, and `version` stays
                empty.
            folder: the folder it lies in, open; None to open it here.
        """
        data = self._bytes() if folder is None else self._bytes_in(folder)
        if data is None:
            return None
        version = version_of(data)
        if before is not None and before.version == version:
            self._know(before)
            return views.without(data, self.cuts)
        if max_new_bytes is not None and len(data) > max_new_bytes and views.may_hide(data):
            return None
        self.cuts = views.cuts(data)
        self.version = version
        self.is_shown = self.cuts is not None
        return views.without(data, self.cuts)

    def read(self) -> tuple[bytes, bytes] | None:
        """The file's bytes as they are now, and those of its view (without a byte order mark); None: not to be had."""
        data = self._bytes()
        if data is None:
            return None
        cuts = self.cuts if self.version == version_of(data) else views.cuts(data)
        shown = views.without(data, cuts)
        return None if shown is None else (data, shown)

    def front_lines(self, shown: Callable[[], bytes]) -> int:
        """How many lines its front matter takes, as `frontmatter.line_count`.

        Args:
            shown: gives its folded text, in which the same fences stand as in the file where nothing is hidden.
        """
        known = self._front_lines
        if known is not None:
            return known
        if not self.cuts:
            found = frontmatter.line_count(shown())
        else:
            data = self._bytes()
            if data is None or version_of(data) != self.version:
                return frontmatter.line_count(shown() if data is None else data)
            found = frontmatter.line_count(data)
        self._front_lines = found
        return found

    def _know(self, before: Note) -> None:
        for slot in _KNOWN:
            setattr(self, slot, getattr(before, slot))

    def _bytes(self) -> bytes | None:
        try:
            folder = self._root.open_folder(self.path.parent)
        except (AppError, OSError):
            return None
        try:
            return self._bytes_in(folder)
        finally:
            os.close(folder)

    def _bytes_in(self, folder: int) -> bytes | None:
        try:
            descriptor = os.open(self.path.name, READ_FLAGS, dir_fd=folder)
        except OSError:
            return None
        try:
            seen = os.fstat(descriptor)
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > limits.MAX_SEARCHED_BYTES:
                return None
            data = os.read(descriptor, seen.st_size + 1)
            if len(data) != seen.st_size:
                data = _rest(descriptor, data)
            return data if len(data) <= limits.MAX_SEARCHED_BYTES else None
        except OSError:
            return None
        finally:
            os.close(descriptor)


def _rest(descriptor: int, data: bytes) -> bytes:
    """What `os.read` left: a file that grew meanwhile, or a file system that reads in small pieces."""
    pieces, size = [data], len(data)
    while size <= limits.MAX_SEARCHED_BYTES and (piece := os.read(descriptor, _PIECE_BYTES)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
