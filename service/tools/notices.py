"""What an answer says beside a note's text, in fixed words: what of it is not shown, and whose text it is.

Never a word of the note itself: a notice is ours, and must not be a way for a note to speak in our voice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from service.guards import outgoing
from service.guards.outgoing import Hidden, View

_WORDS: Final[Mapping[Hidden, tuple[str, str]]] = {
    Hidden.COMMENT: ("comment", "comments"),
    Hidden.ELEMENT: ("element", "elements"),
    Hidden.DEFINITION: ("link definition", "link definitions"),
    Hidden.INVISIBLE: ("invisible character", "invisible characters"),
}


def of(view: View, label: str) -> Sequence[str]:
    """The notices of a note that is read, each without its brackets. `label` says whose text it is, when that matters."""
    notices = [label] if label else []
    if view.withheld:
        notices.append(f"withheld: {view.withheld}; ask the owner to look at this note")
    elif view.counts:
        notices.append(f"hidden: {counted(view.counts)} left out")
    return notices


def counted(counts: Mapping[Hidden, int]) -> str:
    """Such as `2 comments, 1 element`."""
    return ", ".join(
        f"{counts[kind]} {one if counts[kind] == 1 else many}"
        for kind, (one, many) in _WORDS.items()
        if counts.get(kind)
    )


def plain(words: str) -> str:
    """A line from outside the vault's notes (a commit's subject, a name in it) as it may be shown."""
    return words if words.isascii() and words.isprintable() and "<" not in words else outgoing.view(words).text
