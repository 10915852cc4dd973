"""Writing notes whole: a new one with properties, one in the place of another, more text above or below.

Who overwrites a note has seen its view, not its bytes. So the version that was read must be named, the note's line ends and
byte order mark stay, and what is hidden in it is dropped only on an explicit word. Source: contract.md, write_note;
docs/explanation/decisions.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from service.errors import BadArgument, InvalidFrontmatter, NoteNotFound, VersionNeeded
from service.guards import outgoing, paths
from service.guards.paths import VaultPath
from service.vault import diffs, frontmatter, harmless, notes, properties, property_changes, text, through
from service.vault.model import Actor, Vault
from service.vault.notes import Written
from service.vault.parts import yaml_entries
from service.vault.parts.property_edits import Wanted
from service.vault.parts.yaml import Value
from service.vault.text import NoteText

MAX_NAMED = 50
"""Names of properties that are gone that an answer tells."""


class Mode(StrEnum):
    """What to do with a note that exists: put the text in its place, below it, or above it but below its front matter."""

    OVERWRITE = "overwrite"
    APPEND = "append"
    PREPEND = "prepend"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be written.

    Args:
        values: properties to be set; when a note is replaced these are all that it has, beside those that the content brings.
        expected_hash: the version of the note that is to be changed; needed where it is replaced.
        may_discard: what is hidden in a note that is replaced may be lost.
    """

    content: str
    values: Mapping[str, Value]
    mode: Mode = Mode.OVERWRITE
    expected_hash: str = ""
    may_discard: bool = False


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A note after it was written. `gone` names properties that it had and has no more, at most MAX_NAMED."""

    written: Written
    is_new: bool
    is_changed: bool
    diff: str
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    diff: str
    notice: str
    is_changed: bool
    gone: tuple[str, ...] = ()


def create(vault: Vault, actor: Actor, path: VaultPath, content: str, values: Mapping[str, Value]) -> Written:
    """Make a new note with properties; never overwrites.

    Raises:
        PathRefused: properties are given, and it is no Markdown.
        FrontmatterGiven, BadArgument: as `property_changes.on_top`.
        As `notes.create`.
    """
    text.check_size(content, "the content")
    wanted, notice = _checked(path, values)
    line_end = NoteText(content).line_end
    made = notes.create(vault, actor, path, property_changes.on_top(content, wanted, line_end))
    return replace(made, notice=_joined(notice, made.notice))


def write(vault: Vault, actor: Actor, path: VaultPath, asked: Asked) -> Rewritten:
    """Write a note whole, or add to it. One that is not there is made, if it is to be overwritten and no version is named.

    Raises:
        NoteNotFound: there is nothing to add to, or no such version to replace.
        VersionNeeded: it is there, and no version is named.
        NoteChanged: it is not the expected version.
        HiddenContent: what is hidden would be lost, or the change would touch, hide or show something.
        UnsafeContent, InvalidFrontmatter, NotText, TooLarge, BadArgument: nothing was changed.
    """
    text.check_size(asked.content, "the content")
    if asked.mode is not Mode.OVERWRITE and not asked.content:
        raise BadArgument(f"there is nothing to {asked.mode}; give some text.")
    values, notice = _checked(path, asked.values)
    asked = replace(asked, values=values)
    may_be_new = asked.mode is Mode.OVERWRITE and not asked.expected_hash.strip()
    if not may_be_new or vault.files.answers(path):
        try:
            return _with_notice(_changed(vault, actor, path, asked), notice)
        except NoteNotFound:  # after all: it was taken away meanwhile
            if not may_be_new:
                raise
    made = create(vault, actor, paths.new_note(str(path), vault.write_types), asked.content, asked.values)
    return _with_notice(Rewritten(made, is_new=True, is_changed=True, diff=""), notice)


def _changed(vault: Vault, actor: Actor, path: VaultPath, asked: Asked) -> Rewritten:
    def decided(note: NoteText) -> tuple[NoteText, _Said]:
        match asked.mode:
            case Mode.OVERWRITE:
                return _replaced(vault, path, note, asked)
            case Mode.APPEND | Mode.PREPEND:
                return _added(vault, path, note, asked)

    with vault.lock.writing():
        if asked.mode is Mode.OVERWRITE and not asked.expected_hash.strip():
            raise VersionNeeded(str(vault.files.read(path, follow_last=False).path))
        after, said = notes.change(vault, actor, path, decided, asked.expected_hash, may_stay=True)
    done = replace(after, notice=said.notice)
    return Rewritten(done, is_new=False, is_changed=said.is_changed, diff=said.diff, gone=said.gone)


def _replaced(vault: Vault, path: VaultPath, note: NoteText, asked: Asked) -> tuple[NoteText, _Said]:
    """Another text in the place of a note's, in its line ends."""
    content = text.in_style(asked.content, note.line_end)
    after, notice = harmless.replaced(
        vault, path, note, property_changes.on_top(content, asked.values, note.line_end), may_discard=asked.may_discard
    )
    was, now = through.look(note.text).text, outgoing.view(after.text).text
    gone = [name for name in _names(was) if name not in _names(now)]
    named = tuple(map(properties.shown, gone[:MAX_NAMED]))
    return after, _Said(diffs.unified(was, now), notice, after != note, named)


def _added(vault: Vault, path: VaultPath, note: NoteText, asked: Asked) -> tuple[NoteText, _Said]:
    """A note with text below it, or above it and below its front matter; its properties set first."""
    notice = ""
    before = through.look(note.text).text
    if asked.values:
        note, said = property_changes.put_in(vault, path, note, Wanted(asked.values))
        notice = said.notice
    shown = through.look(note.text).text
    if asked.mode is Mode.APPEND:
        new = harmless.appended(vault, path, note, notes.lines_to_append(note, asked.content))
        after, added_notice = note.with_text(new.text), new.notice
    else:
        after, outcome = harmless.pieced(vault, path, note, [_above(note, shown, asked.content)])
        added_notice = outcome.notice
    now = through.look(after.text).text
    if _front(now) != _front(shown):
        raise BadArgument(
            "with this text at its top the note would have other properties (a line of --- begins or ends them); "
            "give properties as frontmatter. Nothing was changed."
        )
    return after, _Said(diffs.unified(before, now), _joined(notice, added_notice), is_changed=True)


def _above(note: NoteText, shown: str, content: str) -> through.Piece:
    line_end = note.line_end
    added = text.in_style(content, line_end)
    block = frontmatter.block(shown)
    at = block.below if block else 0
    if not added.endswith(text.LF):
        added += line_end
    if at and not shown[:at].endswith(text.LF):  # the closing fence ends the note
        added = line_end + added
    return through.Piece(at, at, added)


def _front(shown: str) -> str | None:
    block = frontmatter.block(shown)
    return shown[block.start : block.end] if block else None


def _names(shown: str) -> list[str]:
    """The names of a text's properties; none where they cannot be read."""
    try:
        return list(yaml_entries.of(frontmatter.inner(shown)).values)
    except InvalidFrontmatter:
        return []


def _checked(path: VaultPath, values: Mapping[str, Value]) -> tuple[Mapping[str, Value], str]:
    if not values:
        return values, ""
    paths.markdown(str(path))
    wanted, notice = property_changes.visible(Wanted(values))
    return wanted.values, notice


def _with_notice(done: Rewritten, notice: str) -> Rewritten:
    return replace(done, written=replace(done.written, notice=_joined(notice, done.written.notice)))


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))
