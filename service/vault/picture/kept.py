"""What was worked out of all files of one folder, kept as long as nothing in that folder changes.

Questions about the whole vault then cost what its folders cost, not what its notes do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from service.guards import paths
from service.store.listings import Listing
from service.vault.picture.note import Note

T = TypeVar("T")

Check: TypeAlias = Callable[[], None]
"""Called between two notes; raises to give up."""


class Kept:
    """Remembers by folder and by what was worked out. Thread-safe; two threads may do the same work."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Listing[Note], dict[object, object]] = WeakKeyDictionary()

    def of(self, listing: Listing[Note], work: Callable[[Listing[Note]], T]) -> T:
        """What `work`, a function of a module, makes of the files in a folder as they are, without looking into them."""
        known = self._known.setdefault(listing, {})
        if work not in known:
            known[work] = work(listing)
        return cast("T", known[work])

    def of_notes(self, listing: Listing[Note], work: Callable[[Sequence[Note], Check], T], check: Check) -> T:
        """What `work` makes of what is in the Markdown notes of a folder; not kept while one could not be looked at."""
        known = self._known.setdefault(listing, {})
        if work in known:
            return cast("T", known[work])
        notes = self.of(listing, markdown)
        found = work(notes, check)
        if all(note.version for note in notes):
            known[work] = found
        return found


def markdown(listing: Listing[Note]) -> tuple[Note, ...]:
    """The Markdown notes in a folder."""
    return tuple(note for note in listing.files.values() if note.path.has_suffix(paths.MARKDOWN_SUFFIXES))
