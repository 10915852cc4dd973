"""What of a change is written: the input guard, applied to whole notes before and after, whichever way they change.

Used by everything that writes what a model gave; not by a restore, which brings back the owner's own bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from service.errors import HiddenContent, TooLarge
from service.guards import incoming, limits, outgoing
from service.guards.incoming import Incoming
from service.guards.outgoing import Hidden, View
from service.guards.paths import VaultPath
from service.vault import changes, diffs, editing, text, through
from service.vault.editing import Edit
from service.vault.model import Vault
from service.vault.text import NoteText
from service.vault.through import Piece


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a row of edits came to: places replaced, a short diff, and what there is to say about what was written."""

    replaced: int
    diff: str
    notice: str


def note(vault: Vault, path: VaultPath, content: str) -> Incoming:
    """The text of a new note. It may hide something, unlike what is added to a note: the answer says so.

    Raises:
        UnsafeContent: as `incoming.guard`.
    """
    new = incoming.guard("", content, [(0, len(content))], may_be_active=vault.may_be_active.holds(path))
    return replace(new, warnings=(*new.warnings, *_unseen(new.text)))


def replaced(vault: Vault, path: VaultPath, old: NoteText, content: str, *, may_discard: bool) -> tuple[NoteText, str]:
    """A note with another text in the place of its own, and what there is to say about that.

    What is active in it and was so before may stay: whoever read the note may write it back.

    Args:
        may_discard: what is hidden in the note, which nobody who read it has seen, may be lost.

    Raises:
        HiddenContent: it would be.
        UnsafeContent: as `incoming.guard`.
    """
    was = through.look(old.text)
    new = incoming.guard(
        old.text,
        content,
        changes.between(old.text, content),
        wrote=[(0, len(content))],
        may_be_active=vault.may_be_active.holds(path),
    )
    now = outgoing.view(new.text)
    lost = Counter(was.raw[start:end] for start, end in was.removed)
    lost.subtract(now.raw[start:end] for start, end in now.removed)
    said = [new.notice, *_unseen(new.text)]
    if +lost:
        counts = Counter(was.counts) - Counter(now.counts) or Counter(was.counts)
        count = counts.total()
        what = "thing" if count == 1 else "things"
        if not may_discard:
            raise HiddenContent(
                f"this note holds {count} {what} that a read does not show ({outgoing.counted(counts)}), and replacing it would "
                "lose them; change it with edit_note, or set discard_hidden if the owner wants that. Nothing was changed."
            )
        said.append(f"{count} {what} that a read did not show are gone ({outgoing.counted(counts)}).")
    return old.with_text(new.text), " ".join(filter(None, said))


def _unseen(written: str) -> Iterator[str]:
    """What of a text cannot be read again, comments aside, which the guard itself tells of."""
    counts = outgoing.view(written).counts
    count = counts.get(Hidden.ELEMENT, 0) + counts.get(Hidden.DEFINITION, 0)
    if count:
        what = "piece of this is" if count == 1 else "pieces of this are"
        yield (
            f"{count} {what} not shown when the note is read (a hidden element, or a link definition that nothing uses); "
            "to change that, write it so that it shows."
        )


def appended(vault: Vault, path: VaultPath, old: NoteText, added: str) -> Incoming:
    """The text of a note with `added` behind it.

    Raises:
        HiddenContent: that would not be seen as it stands, or would change what is seen of the rest.
        UnsafeContent: as `incoming.guard`.
    """
    after = old.text + added
    changed = [(len(old.text), len(after))]
    new = incoming.guard(old.text, after, changed, may_be_active=vault.may_be_active.holds(path))
    through.appended(old.text, new.text)
    return new


def edited(vault: Vault, path: VaultPath, old: NoteText, edits: Sequence[Edit]) -> tuple[NoteText, Outcome]:
    """A note with edits made.

    Raises:
        NoMatch, MatchAmbiguous, TooLarge, HiddenContent: as `editing.apply`.
        UnsafeContent: as `incoming.guard`.
    """
    edits, hidden = _without_invisible(edits)
    after, outcome = editing.apply(old, edits)
    changed = changes.between(old.text, after.text)
    # Words that replace in many places do so with little around them; a change and the words are then the same.
    words = [text.in_style(edit.new, old.line_end) for edit in edits if not edit.everywhere]
    new = incoming.guard(
        old.text,
        after.text,
        changed,
        wrote=changes.words_of(after.text, words, changed),
        may_be_active=vault.may_be_active.holds(path),
    )
    diff = outcome.diff
    if new.text != after.text:
        diff = diffs.unified(through.look(old.text).text, through.as_hidden(after.text, new.text).text)
    said = replace(new, counts=Counter(new.counts) + hidden)
    return old.with_text(new.text), Outcome(outcome.replaced, diff, said.notice)


def pieced(vault: Vault, path: VaultPath, old: NoteText, pieces: Sequence[Piece]) -> tuple[NoteText, Outcome]:
    """A note with pieces of its view replaced (sorted, disjoint, in the note's line ends): for tools that know the place.

    What is hidden at the place of a mere insertion stays behind it, or before it where only that keeps it hidden.

    Raises:
        HiddenContent: what is not shown of the note would be touched, shown, or added to.
        UnsafeContent: as `incoming.guard`.
        TooLarge: the note would be too large.
    """
    visible = [replace(piece, new=incoming.visible(piece.new)) for piece in pieces]
    hidden = sum(len(piece.new) - len(kept.new) for piece, kept in zip(pieces, visible, strict=True))
    now = through.look(old.text)
    added = "".join(piece.new for piece in visible)
    if len(now.raw) + len(added) > limits.MAX_NOTE_BYTES:
        raise TooLarge(
            f"{str(path)!r} with this change", len(now.raw) + len(added), limits.MAX_NOTE_BYTES, "characters"
        )
    try:
        after = _put_in(now, visible, added, is_after_hidden=False)
    except HiddenContent:
        if now.is_whole:
            raise
        after = _put_in(now, visible, added, is_after_hidden=True)
    new = incoming.guard(
        old.text, after.raw, changes.between(old.text, after.raw), may_be_active=vault.may_be_active.holds(path)
    )
    shown = after if new.text == after.raw else through.as_hidden(after.raw, new.text)
    said = replace(new, counts=Counter(new.counts) + Counter({incoming.INVISIBLE: hidden} if hidden else {}))
    return old.with_text(new.text), Outcome(len(visible), diffs.unified(now.text, shown.text), said.notice)


def _put_in(now: View, pieces: Sequence[Piece], added: str, *, is_after_hidden: bool) -> View:
    return through.changed(now, *through.pieced(now, pieces, is_after_hidden=is_after_hidden), added)


def _without_invisible(edits: Sequence[Edit]) -> tuple[list[Edit], Counter[str]]:
    """The edits without characters that nobody sees, which could not be part of the note's view; and how many they were."""
    seen = [incoming.visible(edit.new) for edit in edits]
    hidden = sum(len(edit.new) - len(new) for edit, new in zip(edits, seen, strict=True))
    kept = [replace(edit, new=new) for edit, new in zip(edits, seen, strict=True)]
    return kept, Counter({incoming.INVISIBLE: hidden} if hidden else {})
