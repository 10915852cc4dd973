"""What has changed from one snapshot of the folders to another: the files that are not the same object any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from service.store.listings import Folders, Listing
from service.vault.picture.note import Note

Change: TypeAlias = tuple[Note | None, Note | None]
"""One path's file before and after; None where there is none."""


def between(before: Folders[Note], after: Folders[Note]) -> Iterator[Change]:
    """Every file that came, went or may have changed. Costs what the folders cost, and the files of those that changed."""
    if before is after:
        return
    for path, listing in after.items():
        known = before.get(path)
        if known is not listing:
            yield from _in_folder(known, listing)
    for path, known in before.items():
        if path not in after:
            yield from ((file, None) for file in known.files.values())


def _in_folder(before: Listing[Note] | None, after: Listing[Note]) -> Iterator[Change]:
    if before is None:
        yield from ((None, file) for file in after.files.values())
        return
    for name, file in after.files.items():
        known = before.files.get(name)
        if known is not file:
            yield known, file
    for name, known in before.files.items():
        if name not in after.files:
            yield known, None
