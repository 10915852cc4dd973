"""Where the letters of a view stand in the raw text, found the slow way: letter by letter."""

from __future__ import annotations

from service.guards.outgoing import View


def raw_span(view: View, start: int, end: int) -> tuple[int, int]:
    """What `view.text[start:end]` stands for, without what is hidden at its edges; an empty span lies before it."""
    kept = shown_places(view)
    raw_end = kept[end - 1] + 1 if end else 0
    return (kept[start] if start < end else raw_end), raw_end


def hides_in(view: View, start: int, end: int) -> bool:
    """Whether something hidden lies in `view.raw[start:end]`."""
    return len([at for at in shown_places(view) if start <= at < end]) < end - start


def shown_places(view: View) -> list[int]:
    """The place of each letter of the view, in order."""
    hidden = {at for start, end in view.removed for at in range(start, end)}
    return [at for at in range(len(view.raw)) if at not in hidden]
