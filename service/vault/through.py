"""Changing a note through its view: decided on the text that is shown, done to the text in the file.

What is hidden is neither lost nor brought to light nor added to: a change is good only when the view of the new text is
the old view with just that change made in it. Everything else is HIDDEN_CONTENT, with the note as it was.
Source: docs/explanation/guards.md, editing through the view.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

from service.errors import HiddenContent
from service.guards import outgoing
from service.guards.outgoing import View

_NOTHING_DONE = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Piece:
    """Put `new` in the place of `text[start:end]` of a view. `new` has the note's own line ends."""

    start: int
    end: int
    new: str


class RawOffsets:
    """From offsets in a view to offsets in its raw text. They must be asked for in rising order; all take linear time."""

    def __init__(self, view: View) -> None:
        self._removed = view.removed
        self._passed, self._gone = 0, 0

    def at(self, offset: int, *, is_after_hidden: bool) -> int:
        """Where `text[offset]` stands in the raw text: before or after what is hidden right there."""
        while self._passed < len(self._removed):
            start, end = self._removed[self._passed]
            place = start - self._gone
            if place > offset or (place == offset and not is_after_hidden):
                break
            self._gone += end - start
            self._passed += 1
        return offset + self._gone

    def span(self, start: int, end: int, *, is_after_hidden: bool = False) -> tuple[int, int]:
        """What `text[start:end]` stands for, without what is hidden at its edges.

        An empty span lies before what is hidden there, or behind it with `is_after_hidden`.

        Raises:
            HiddenContent: something hidden lies inside.
        """
        raw_start = self.at(start, is_after_hidden=is_after_hidden or end > start)
        if end == start:
            return raw_start, raw_start
        passed = self._passed
        raw_end = self.at(end, is_after_hidden=False)
        if self._passed != passed:
            raise HiddenContent(
                "in the middle of what this would replace stands something that is not shown; replace smaller pieces, on "
                f"either side of it, or ask the owner to make this change. {_NOTHING_DONE}"
            )
        return raw_start, raw_end


def look(raw: str) -> View:
    """The view of a note that is going to be changed.

    Raises:
        HiddenContent: nothing of it can be shown, so nobody could say what a change would do.
    """
    view = outgoing.view(raw)
    if view.withheld:
        raise HiddenContent(
            f"the text of this note is withheld ({view.withheld}), so it cannot be changed here; ask the owner to do it. "
            f"{_NOTHING_DONE}"
        )
    return view


def pieced(now: View, pieces: Iterable[Piece], *, is_after_hidden: bool = False) -> tuple[str, str]:
    """The raw text and the view with all pieces put in, which must be sorted and disjoint. Neither is looked at here.

    Args:
        is_after_hidden: what is only put in goes behind what is hidden at that place, not before it.

    Raises:
        HiddenContent: something hidden lies in what would be replaced.
    """
    raw = RawOffsets(now)
    written, shown = io.StringIO(newline=""), io.StringIO(newline="")
    raw_done = view_done = 0
    for piece in pieces:
        raw_start, raw_end = raw.span(piece.start, piece.end, is_after_hidden=is_after_hidden)
        written.write(now.raw[raw_done:raw_start])
        written.write(piece.new)
        shown.write(now.text[view_done : piece.start])
        shown.write(piece.new)
        raw_done, view_done = raw_end, piece.end
    written.write(now.raw[raw_done:])
    shown.write(now.text[view_done:])
    return written.getvalue(), shown.getvalue()


def changed(was: View, raw: str, expected: str, added: str) -> View:
    """The view of a note's new text, which must be `expected` and hide what the old one hid.

    The same words may be hidden as part of the note and new: the text that is shown alone would not tell which of them is.

    Args:
        added: the new piece, to tell whether it is that which would not be seen.

    Raises:
        HiddenContent: it is not.
    """
    view = look(raw)
    if view.text != expected or _hidden(view) != _hidden(was):
        raise HiddenContent(_why_not(added))
    return view


def appended(before: str, after: str) -> str:
    """`after`, which is `before` with more text behind it, once it is sure that the new text is shown as it stands.

    Raises:
        HiddenContent: it would not be, or would change what is shown of the rest.
    """
    added = after[len(before) :]
    was = look(before)
    changed(was, after, was.text + added, added)
    return after


def as_hidden(before: str, after: str) -> View:
    """The view of `after`, in which just that is hidden that is in `before`.

    Raises:
        HiddenContent: something else is: making the new text harmless would have shown or hidden something.
    """
    was, now = look(before), look(after)
    if [was.raw[start:end] for start, end in was.removed] != [now.raw[start:end] for start, end in now.removed]:
        raise HiddenContent(_why_not(""))
    return now


def _hidden(view: View) -> str:
    """All that is hidden, in one: what stood apart may stand together once what is shown between is gone."""
    return "".join(view.raw[start:end] for start, end in view.removed)


def _why_not(added: str) -> str:
    if not outgoing.view(added).is_whole:
        return (
            "part of the new text would not be seen again (an HTML comment, a hidden element, a link definition that nothing "
            f"uses, or invisible characters); write it so that it shows, a comment as %% … %%. {_NOTHING_DONE}"
        )
    return (
        "this change would hide text that is shown, or show text that is hidden (the note holds an HTML comment, a hidden "
        "element or a code fence that is not closed, or this would open one); write it elsewhere or otherwise, or ask the "
        f"owner to look at the note. {_NOTHING_DONE}"
    )
