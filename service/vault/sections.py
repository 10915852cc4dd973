"""Adding to a section of a note: behind its last line, in front of the blank lines that part it from the next.

The section is found in the note's view, and the piece is put in there (`harmless.pieced`). All other headings must stay
what and where they are, and so must the ids of blocks above the piece, which end where their block ends: a piece that would
make one, hide one or swallow one gets a blank line beside it, and if that does not help, nothing is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.errors import BadArgument, SectionAmbiguous, SectionNotFound
from service.guards.paths import VaultPath
from service.vault import harmless, notes, outline, text, through
from service.vault.model import Actor, Vault
from service.vault.notes import Written
from service.vault.parts import blockids, headings
from service.vault.parts.headings import Heading
from service.vault.text import NoteText
from service.vault.through import Piece

MAX_OFFERED: Final = 20
"""Headings that an error names when the asked one is not there."""
MAX_OFFERED_CHARS: Final = 80
MAX_LINES_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class Added:
    """What was added to a section: the heading as it stands in the note, and the first new line, from 1."""

    written: Written
    heading: str
    line: int
    diff: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where to put a piece into a text, and how."""

    at: int
    before: str
    after: str

    def around(self, body: str) -> str:
        return f"{self.before}{body}{self.after}"


def append(
    vault: Vault, actor: Actor, path: VaultPath, heading: str, content: str, *, expected_hash: str = ""
) -> Added:
    """Add lines to the end of the section that `heading` names, subsections included. They take the note's line ends.

    Raises:
        SectionNotFound: no heading is called that; names those there are.
        SectionAmbiguous: several are equally called that; names their lines.
        BadArgument: there is nothing to add, or another heading would not stay one.
        NoteNotFound, NoteChanged, HiddenContent, UnsafeContent, NotText, TooLarge: as `notes.append`.
    """
    text.check_size(content, "the content")
    if not content:
        raise BadArgument("there is nothing to append; give some text.")

    def added(note: NoteText) -> tuple[NoteText, tuple[Heading, int, harmless.Outcome]]:
        shown = through.look(note.text).text
        outline.check(shown, path)
        known = headings.of(shown)
        section = _find(vault, path, known, heading)
        body = _body(content, note.line_end)
        where = place(shown, known, section, body, note.line_end)
        new, outcome = harmless.pieced(vault, path, note, [Piece(where.at, where.at, where.around(body))])
        line = shown.count("\n", 0, where.at) + where.before.count("\n") + 1
        return new, (section, line, outcome)

    with vault.lock.writing():
        written, (section, line, outcome) = notes.change(vault, actor, path, added, expected_hash)
    return Added(replace(written, notice=outcome.notice), section.text, line, outcome.diff)


def _find(vault: Vault, path: VaultPath, known: Sequence[Heading], asked: str) -> Heading:
    found = headings.matching(known, asked)
    if not found:
        # An error carries no label, so it has no words from outside.
        offered = () if vault.low_trust.holds(path) else known[:MAX_OFFERED]
        raise SectionNotFound(str(path), [_offer(heading) for heading in offered], len(known))
    if len(found) > 1:
        raise SectionAmbiguous(str(path), [heading.line for heading in found[:MAX_LINES_NAMED]], len(found))
    return found[0]


def _offer(heading: Heading) -> str:
    written = f"{'#' * heading.level} {heading.text}"
    return written if len(written) <= MAX_OFFERED_CHARS else f"{written[: MAX_OFFERED_CHARS - 1]}…"


def _body(content: str, line_end: str) -> str:
    """The new lines without the last line end, which comes with the place."""
    return text.in_style(content, line_end).removesuffix(line_end)


def place(shown: str, known: Sequence[Heading], section: Heading, body: str, line_end: str) -> Place:
    """Where the body goes: with as few blank lines around it as leave every other heading and block id what it is.

    Only the section and the heading behind it are scanned again: nothing before them can change, and where that heading is
    one as before, so is all that follows.
    """
    around = [one for one in known if section.start <= one.start <= section.section_end]
    end = around[-1].end if around[-1].start == section.section_end else len(shown)
    for where in _places(shown, section, line_end):
        piece = where.around(body)
        after = headings.of(shown[section.start : where.at] + piece + shown[where.at : end])
        if _are_kept(around, after, section.start, where.at, len(piece)) and _ids_are_kept(
            shown[section.start : where.at], piece
        ):
            return where
    raise BadArgument(
        "with this text another heading or block id of the note would no longer be one, or one would appear that nobody wrote (a code "
        "fence, comment or HTML that is not closed?); close what it opens. Nothing was changed."
    )


def _places(shown: str, section: Heading, line_end: str) -> Iterator[Place]:
    """At the end of the section's last line that is not blank: at once, with a blank line behind, before, and both."""
    filled = shown[section.end : section.section_end].rstrip(" \t\r\n")
    following = shown.find("\n", section.end + len(filled)) + 1
    at = following or len(shown)
    opening, closing = ("", line_end) if following else (line_end, line_end)
    for before, after in (("", ""), ("", line_end), (line_end, ""), (line_end, line_end)):
        yield Place(at, opening + before, closing + after)


def _are_kept(before: Sequence[Heading], after: Sequence[Heading], start: int, at: int, size: int) -> bool:
    """Whether the headings outside of what was put in at `at` are those that were there; `after` counts from `start`."""
    was = [(one.level, one.text, one.start + (size if one.start >= at else 0)) for one in before]
    now = [(one.level, one.text, one.start + start) for one in after]
    return was == [one for one in now if not at <= one[2] < at + size]


def _ids_are_kept(above: str, piece: str) -> bool:
    """Whether the blocks of the section still have the ids that links name them by: text right behind one would hide it."""
    lines = above.count("\n") + (not above.endswith("\n"))
    ids = [one.name for one in blockids.of(above)]
    return not ids or ids == [one.name for one in blockids.of(above + piece) if one.line <= lines]
