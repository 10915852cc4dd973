"""Trees: look up, flatten, compare, and rebuild only the folders that changed.

Names are bytes in git's order (a folder sorts as if it ended in `/`). Every function takes `read`, which gives a tree's
raw content by id, so that trees just written and not yet packed are seen too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from dulwich.objects import parse_tree

from service.history.model import FOLDER_MODE, Blob

ReadTree = Callable[[str], bytes]
WriteTree = Callable[[bytes], str]
_ID_BYTES: Final = 20
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def entries(read: ReadTree, tree: str | None) -> dict[bytes, Blob]:
    """The direct entries of one tree; none for None."""
    if tree is None or tree == EMPTY_TREE:
        return {}
    return {name: Blob(mode, sha.decode("ascii")) for name, mode, sha in parse_tree(read(tree), 20)}


def named(read: ReadTree, tree: str | None) -> dict[str, Blob]:
    """The direct entries by name as text (bytes that are no UTF-8 as surrogate escapes)."""
    return {os.fsdecode(name): entry for name, entry in entries(read, tree).items()}


def lookup(read: ReadTree, tree: str | None, path: str) -> Blob | None:
    """What stands at `path`, a folder included; None when nothing does."""
    found = Blob(FOLDER_MODE, tree) if tree else None
    for part in os.fsencode(path).split(b"/") if path else ():
        if found is None or found.mode != FOLDER_MODE:
            return None
        found = entry(read, found.id, part)
    return found


def entry(read: ReadTree, tree: str | None, name: bytes) -> Blob | None:
    """One direct entry of a tree. Others are only hopped over: looking up is done far more often than listing."""
    if tree is None or tree == EMPTY_TREE:
        return None
    raw = read(tree)
    wanted = b" %s\0" % name
    if wanted not in raw:
        return None
    at = 0
    while at < len(raw):
        end = raw.index(b"\0", at) + 1
        if raw.startswith(wanted, raw.index(b" ", at)):
            return Blob(int(raw[at : raw.index(b" ", at)], 8), raw[end : end + _ID_BYTES].hex())
        at = end + _ID_BYTES
    return None


def file_at(read: ReadTree, tree: str | None, path: str) -> Blob | None:
    """The file at `path`, or None when there is none or a folder."""
    found = lookup(read, tree, path)
    return None if found is None or found.mode == FOLDER_MODE else found


def flatten(read: ReadTree, tree: str | None, prefix: str = "") -> Iterator[tuple[str, Blob]]:
    """Every file at or below a tree, with its whole path (`prefix` ends in `/` or is empty)."""
    for name, entry in entries(read, tree).items():
        path = prefix + os.fsdecode(name)
        if entry.mode == FOLDER_MODE:
            yield from flatten(read, entry.id, path + "/")
        else:
            yield path, entry


def differences(
    read: ReadTree, old: str | None, new: str | None, prefix: str = ""
) -> Iterator[tuple[str, Blob | None, Blob | None]]:
    """Every file that differs between two trees: path, before, after. Equal folders are never opened."""
    if old == new:
        return
    before, after = entries(read, old), entries(read, new)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        path = prefix + os.fsdecode(name)
        was_folder = was.id if was and was.mode == FOLDER_MODE else None
        now_folder = now.id if now and now.mode == FOLDER_MODE else None
        was_file, now_file = was if not was_folder else None, now if not now_folder else None
        if was_file or now_file:
            yield path, was_file, now_file
        if was_folder or now_folder:
            yield from differences(read, was_folder, now_folder, path + "/")


def differences_at(
    read: ReadTree, old: str | None, new: str | None, path: str
) -> Iterator[tuple[str, Blob | None, Blob | None]]:
    """As `differences`, for what is at or below `path` alone (empty: everything)."""
    if not path:
        yield from differences(read, old, new)
        return
    was, now = lookup(read, old, path), lookup(read, new, path)
    was_folder = was.id if was and was.mode == FOLDER_MODE else None
    now_folder = now.id if now and now.mode == FOLDER_MODE else None
    was_file, now_file = None if was_folder else was, None if now_folder else now
    if was_file != now_file:
        yield path, was_file, now_file
    yield from differences(read, was_folder, now_folder, path + "/")


def change(read: ReadTree, write: WriteTree, tree: str | None, changes: Mapping[str, Blob | None]) -> str:
    """The id of `tree` with `changes` made to it (None removes). Untouched folders keep their objects.

    A file put where a folder stands takes its place, and the other way round; emptied folders go.
    """
    split = [(os.fsencode(path).split(b"/"), entry) for path, entry in changes.items()]
    return _changed(read, write, tree, split) or write(b"")


def _changed(
    read: ReadTree, write: WriteTree, tree: str | None, changes: list[tuple[list[bytes], Blob | None]]
) -> str | None:
    here = entries(read, tree)
    below: dict[bytes, list[tuple[list[bytes], Blob | None]]] = {}
    placed: set[bytes] = set()
    for parts, entry in changes:
        name = parts[0]
        if len(parts) > 1:
            below.setdefault(name, []).append((parts[1:], entry))
        elif entry is not None:
            here[name] = entry
            placed.add(name)
        elif name in here and here[name].mode != FOLDER_MODE:
            del here[name]
    for name, inner in below.items():
        if name in placed:
            continue  # a file has taken the folder's place; what was below it is gone with it
        standing = here.get(name)
        folder = standing.id if standing and standing.mode == FOLDER_MODE else None
        built = _changed(read, write, folder, inner)
        if built is not None:
            here[name] = Blob(FOLDER_MODE, built)
        elif folder is not None:
            del here[name]
    return write(serialized(here)) if here else None


def serialized(here: Mapping[bytes, Blob]) -> bytes:
    """A tree's raw content, from its entries."""
    ordered = sorted(here.items(), key=lambda item: item[0] + b"/" if item[1].mode == FOLDER_MODE else item[0])
    return b"".join(b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.id)) for name, entry in ordered)
