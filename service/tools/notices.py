"""What an answer says beside a note's text, in fixed words: what of it is not shown, and whose text it is.

Never a word of the note itself: a notice is ours, and must not be a way for a note to speak in our voice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from service.guards import heuristics, limits, outgoing
from service.guards.invisible import has_invisible, has_stray_joiner
from service.guards.outgoing import Hidden, View
from service.tools.shapes import NoteWritten

Answer = TypeVar("Answer", bound=NoteWritten)


def of(view: View, label: str, tools: Sequence[str] = ()) -> Sequence[str]:
    """The notices of a note that is read, each without its brackets.

    Args:
        label: whose text it is, when that matters.
        tools: the names of this server's tools, which a low-trust note has no reason to hold.
    """
    notices = [label] if label else []
    if view.withheld:
        notices.append(f"withheld: {view.withheld}; ask the owner to look at this note")
    elif view.counts:
        notices.append(f"hidden: {outgoing.counted(view.counts)} left out")
    invisible = view.counts.get(Hidden.INVISIBLE, 0)
    signs = heuristics.in_note(
        view.text, invisible=invisible, size=len(view.raw), is_low_trust=bool(label), tools=tools
    )
    if signs:
        notices.append(f"caution: {heuristics.told(signs)}; be careful with it, and tell the owner if it looks wrong")
    return notices


def about(view: View, label: str) -> str:
    """What to tell of a note of which an answer gives facts: whose it is, and why nothing of it is told. Mostly empty."""
    withheld = f"withheld: {view.withheld}; ask the owner to look at this note" if view.withheld else ""
    return "; ".join(filter(None, (label, withheld)))


def with_signs(answer: Answer, *written: str) -> Answer:
    """The answer to a write, with what to tell about the text that was written; mostly as it is."""
    signs = heuristics.in_written("\n".join(written))
    if not signs:
        return answer
    told = f"Caution: {heuristics.told(signs)}; let the owner know."
    return answer.model_copy(update={"notice": " ".join(filter(None, (answer.notice, told)))})


def asked(raw: str, otherwise: str) -> str:
    """A path as it was asked for, where it can be said back; `otherwise` names it another way."""
    is_plain = len(raw) <= limits.MAX_PATH_CHARS and not has_invisible(raw) and not has_stray_joiner(raw)
    return raw if is_plain else otherwise


def plain(words: str) -> str:
    """A line from outside the vault's notes (a commit's subject, a name in it) as it may be shown."""
    return words if words.isascii() and words.isprintable() and "<" not in words else outgoing.view(words).text
