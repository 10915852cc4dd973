"""The deletion guard: when most of a vault is gone at once, a lost mount is likelier than a wish.

It compares with the last commit and counts what came from outside only (what a tool deleted was somebody's word). A note
that was moved is not gone; one that became empty is. `.trash/` is there to be emptied and does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from service.history.model import Blob, is_note

MIN_GONE: Final = 20
"""Notes; fewer than this at once is an ordinary day's tidying."""
EMPTY_BLOB: Final = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_TRASH: Final = ".trash/"
_WAY_OUT: Final = (
    "Nothing was committed. If the vault should be mounted, mount it and restart; if this is a new machine, run: strongroom restore --all; "
    "if you mean it, run: strongroom commit --accept-deletions"
)


def objection(committed: Mapping[str, Blob], outside: Mapping[str, Blob | None]) -> str | None:
    """Why these changes look like a loss, as a sentence; None when they do not.

    Args:
        committed: every file of the last commit.
        outside: what changed since, None for what is gone.
    """
    if committed and all(path in outside for path in committed) and not any(outside.values()):
        return f"the vault is empty, but its history holds {_counted(len(committed), 'file')}. {_WAY_OUT}"
    if sum(1 for blob in outside.values() if blob is None or blob.id == EMPTY_BLOB) < MIN_GONE:
        return None
    arrived = {blob.id for path, blob in outside.items() if blob is not None and committed.get(path) != blob}
    for kind, counts in (("note", is_note), ("file", lambda _path: True)):
        held = {path for path in committed if counts(path) and not path.startswith(_TRASH)}
        gone = sum(1 for path, blob in outside.items() if path in held and _is_lost(committed[path], blob, arrived))
        if gone >= MIN_GONE and gone * 2 > len(held):
            return f"{gone} of {_counted(len(held), kind)} are gone or empty at once. {_WAY_OUT}"
    return None


def emptied(committed: Mapping[str, Blob], outside: Mapping[str, Blob | None]) -> tuple[str, ...]:
    """Notes that had text and have none now."""
    return tuple(
        sorted(
            path
            for path, blob in outside.items()
            if blob is not None and blob.id == EMPTY_BLOB and committed.get(path, blob).id != EMPTY_BLOB
        )
    )


def _is_lost(before: Blob, after: Blob | None, arrived: set[str]) -> bool:
    if before.id == EMPTY_BLOB:
        return False
    if after is None:
        return before.id not in arrived
    return after.id == EMPTY_BLOB


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
