"""Which folders a question over the vault looks into: those at and below one, and the low-trust ones only when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.guards import trust
from service.guards.paths import ROOT, VaultPath
from service.guards.trust import LowTrust
from service.store.listings import Folders, Listing
from service.vault.model import Vault
from service.vault.picture.note import Note


@dataclass(frozen=True, slots=True)
class Reach:
    """What a question looks into.

    Args:
        listings: the folders, without what is low trust.
        left_out: low-trust folders (and notes that are named as such) at and below the one asked for, which are not looked
            into.
    """

    listings: Sequence[Listing[Note]]
    left_out: Mapping[VaultPath, Listing[Note]]


def of(vault: Vault, folders: Folders[Note], folder: VaultPath = ROOT, *, include_low_trust: bool = False) -> Reach:
    """The folders that a question looks into. A low-trust folder is looked into when it is included or asked for.

    Raises:
        NoteNotFound, PathAmbiguous, PathRefused: as `VaultFiles.open_folder`, for `folder`.
    """
    pending = [vault.files.open_folder(folder)]
    low_trust = LowTrust() if include_low_trust or vault.low_trust.holds(folder) else vault.low_trust
    listings: list[Listing[Note]] = []
    left_out: dict[VaultPath, Listing[Note]] = {}
    while pending:
        path = pending.pop()
        listing = folders.get(path)
        if listing is None:
            continue
        below = listing.folders
        if names := low_trust.names_in(path):
            apart = {name for name in below if trust.folded((name,))[0] in names}
            below = tuple(name for name in below if name not in apart)
            left_out.update((path.child(name), folders.get(path.child(name), Listing(path))) for name in sorted(apart))
            if names & vault.picture.kept.of(listing, _file_names):
                listing = _without(listing, low_trust, left_out)
        listings.append(listing)
        pending += map(path.child, below)
    return Reach(listings, left_out)


def _without(listing: Listing[Note], low_trust: LowTrust, left_out: dict[VaultPath, Listing[Note]]) -> Listing[Note]:
    """A folder without those of its files that are named as low trust."""
    apart = {name: note for name, note in listing.files.items() if low_trust.holds(note.path)}
    left_out.update((note.path, Listing(note.path, {name: note})) for name, note in apart.items())
    return replace(listing, files={name: note for name, note in listing.files.items() if name not in apart})


def _file_names(listing: Listing[Note]) -> frozenset[str]:
    return frozenset(trust.folded(tuple(listing.files)))
