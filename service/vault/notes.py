"""One note at a time: read, create, append, edit, delete.

Every change happens under the writer lock, against the bytes it was decided on, and is told to `on_change`. An append
or edit without an expected version is decided anew when another program changes the note in between; it is never
applied twice, because a refused write has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from service.errors import BadArgument, NoMatch, NoteChanged
from service.guards import outgoing
from service.guards.outgoing import View
from service.guards.paths import VaultPath
from service.store.files import FileContent, version_of
from service.vault import canvases, diffs, harmless, text, versions
from service.vault.editing import Edit
from service.vault.model import Actor, Change, Vault
from service.vault.text import NoteText

MAX_ATTEMPTS: Final = 5
"""Times that an append or edit without an expected version is decided anew while others write the same note."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it was read. `path` is spelled as on disk; `content` is what the file holds, `view` what may be shown.

    Of a canvas that is an outline, with lines of its own, and `is_outline` tells so.
    """

    path: VaultPath
    content: NoteText
    view: View
    version: str
    size_bytes: int
    is_outline: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A note after a change (of a deleted one: what was deleted). `path` is spelled as on disk.

    `caution` is empty, or a sentence about a write that took place but did not end as it should have. `notice` is empty, or
    says what was not written as it was given, and what may surprise in what was. `diff` shows in short what was appended.
    """

    path: VaultPath
    version: str
    size_bytes: int
    caution: str = ""
    notice: str = ""
    diff: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit did or, when tried only, would do. `replaced` counts the places, `diff` shows them in short."""

    written: Written
    replaced: int
    diff: str


def read(vault: Vault, path: VaultPath) -> Note:
    """Read a note whole. A canvas reads as an outline; one that may be written and hides nothing, as it stands.

    Raises:
        NoteNotFound: names up to three that look alike.
        PathAmbiguous, PathRefused, TooLarge, Unavailable: as `VaultFiles.read`.
    """
    found = vault.files.read(path)
    return of_bytes(vault, found.path, found.data)


def of_bytes(vault: Vault, path: VaultPath, data: bytes) -> Note:
    """A note that holds these bytes, as `read` gives it."""
    content = text.decode(data)
    outline = canvases.of_canvas(content.text) if path.has_suffix((canvases.CANVAS_SUFFIX,)) else None
    is_edited_here = canvases.CANVAS_SUFFIX in vault.write_types and outline is not None and not outline.counts
    if outline is None or is_edited_here:
        return Note(path, content, outgoing.view(content.text), version_of(data), len(data))
    return Note(path, content, outline, version_of(data), len(data), is_outline=True)


def create(vault: Vault, actor: Actor, path: VaultPath, content: str) -> Written:
    """Make a new note, and the folders on its way; never overwrites.

    Raises:
        NoteExists: the name is taken.
        UnsafeContent: it cannot be made harmless.
        TooLarge, BadArgument: as `text.encode`.
    """
    text.check_size(content, "the content")
    path = vault.files.behind_links(path)  # what may be active there is a matter of the folder, not of its name here
    new = harmless.note(vault, path, content)
    data = text.encode(NoteText(new.text), str(path))
    with vault.lock.writing():
        made = vault.files.create(path, data, actor.permit)
        vault.on_change(actor, [Change(made.path, None, made.data)])
    return written(made, new.notice)


def append(vault: Vault, actor: Actor, path: VaultPath, content: str, expected_hash: str = "") -> Written:
    """Add lines to the end of a note that exists. They take its line ends; exactly one line end parts old from new.

    Raises:
        NoteNotFound: it is never made here.
        NoteChanged: it is not the expected version.
        HiddenContent: it would not be seen, or would change what is seen of the rest.
        UnsafeContent: it would make something of the rest run or load, or cannot be made harmless.
        NotText, TooLarge, BadArgument: nothing was changed.
    """
    text.check_size(content, "the content")
    if not content:
        raise BadArgument("there is nothing to append; give some text.")

    def appended(note: NoteText) -> tuple[NoteText, tuple[str, str]]:
        new = harmless.appended(vault, path, note, lines_to_append(note, content))
        shown = outgoing.view(note.text).text
        return note.with_text(new.text), (new.notice, diffs.unified(shown, shown + new.text[len(note.text) :]))

    with vault.lock.writing():
        after, (notice, diff) = change(vault, actor, path, appended, expected_hash)
    return replace(after, notice=notice, diff=diff)


def edit(
    vault: Vault,
    actor: Actor,
    path: VaultPath,
    edits: Sequence[Edit],
    expected_hash: str = "",
    *,
    is_trial: bool = False,
) -> Edited:
    """Replace exact pieces of a note, in order on the evolving text, all or nothing.

    Args:
        is_trial: say what would come out and write nothing.

    Raises:
        NoMatch: a piece does not occur, or nothing would change.
        MatchAmbiguous: a piece occurs more than once and is not meant to be replaced everywhere.
        HiddenContent: what is not shown of the note would be touched, shown, or added to.
        UnsafeContent: text of the note would begin to run or load something.
        NoteNotFound, NoteChanged, NotText, TooLarge, BadArgument: nothing was changed.
    """
    text.check_size("".join(edit.new for edit in edits), "the new text of all edits together")

    def edited(note: NoteText) -> tuple[NoteText, harmless.Outcome]:
        return harmless.edited(vault, path, note, edits)

    if is_trial:
        old = vault.files.read(path, follow_last=False)
        versions.check(old, expected_hash)
        after, outcome = edited(text.decode_exact(old.data, str(old.path)))
        would_be = replace(old, data=_changed_bytes(old, after))
        return Edited(written(would_be, outcome.notice), outcome.replaced, outcome.diff)
    with vault.lock.writing():
        changed, outcome = change(vault, actor, path, edited, expected_hash)
    return Edited(replace(changed, notice=outcome.notice), outcome.replaced, outcome.diff)


def delete(vault: Vault, actor: Actor, path: VaultPath, expected_hash: str = "") -> tuple[Written, VaultPath]:
    """Move a note into `.trash/`, keeping its folders. Returns what was deleted and where it went.

    Raises:
        NoteNotFound, NoteChanged: nothing was changed.
    """
    with vault.lock.writing():
        old = vault.files.read(path, follow_last=False)
        versions.check(old, expected_hash)
        trashed = vault.files.trash(old, actor.permit)
        vault.on_change(actor, [Change(old.path, old.data, None), Change(trashed, None, old.data)])
    return written(old), trashed


def change(
    vault: Vault,
    actor: Actor,
    path: VaultPath,
    decide: Callable[[NoteText], tuple[NoteText, T]],
    expected_hash: str = "",
    *,
    may_stay: bool = False,
) -> tuple[Written, T]:
    """Write what `decide` makes of an existing note; returns that and whatever else it said. The caller holds the lock.

    Args:
        may_stay: a note that is as it should be already is left alone and told of, instead of raising NoMatch.

    Raises:
        NoteChanged: it is not the expected version, or other programs changed it MAX_ATTEMPTS times in a row.
        NoMatch: `decide` changed nothing.
    """
    for attempt in range(MAX_ATTEMPTS):
        old = vault.files.read(path, follow_last=False)
        versions.check(old, expected_hash)
        before = text.decode_exact(old.data, str(old.path))
        after, said = decide(before)
        if may_stay and after == before:
            return written(old), said
        data = _changed_bytes(old, after)
        try:
            new = vault.files.replace(old, data, actor.permit)
        except NoteChanged:
            if expected_hash or attempt == MAX_ATTEMPTS - 1:
                raise
            continue
        vault.on_change(actor, [Change(old.path, old.data, new.data)])
        return written(new), said
    raise AssertionError  # the last attempt returns or raises


def lines_to_append(note: NoteText, content: str) -> str:
    """What to put behind a note's text so that `content` stands on lines of its own, in the note's line ends."""
    line_end = note.line_end
    between = line_end if note.text and not note.text.endswith(text.LF) else ""
    added = text.in_style(content, line_end)
    return between + added + ("" if added.endswith(text.LF) else line_end)


def _changed_bytes(old: FileContent, after: NoteText) -> bytes:
    data = text.encode(after, str(old.path))
    if data == old.data:
        raise NoMatch("the note would stay as it is: old and new text are the same. Nothing was done.")
    return data


def written(content: FileContent, notice: str = "") -> Written:
    """What an answer says of a note that was just written."""
    return Written(content.path, content.version, len(content.data), content.caution, notice)
