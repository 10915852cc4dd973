"""Changing a note's properties and tags: which lines, by `parts.property_edits`; through both guards, by `harmless`.

A property that has the wanted value already is left as it is written. So doing the same again changes nothing, and is no
error: a client that repeats a call gets the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from service.errors import BadArgument, FrontmatterGiven, FrontmatterKept, InvalidFrontmatter, UnsafeContent
from service.guards import incoming
from service.guards.incoming import Incoming
from service.guards.paths import VaultPath
from service.vault import frontmatter, harmless, notes, text, through
from service.vault.model import Actor, Vault
from service.vault.notes import Written
from service.vault.parts import hashtags, property_edits, tag_list, tags, yaml_entries, yaml_writing
from service.vault.parts.property_edits import Wanted
from service.vault.parts.yaml import Value
from service.vault.text import NoteText

MAX_NAMED = 100
"""Tags that an answer names, of each sort."""


@dataclass(frozen=True, slots=True)
class Updated:
    """A note after a change of its properties. `is_changed`: something was written; `diff` shows it in short."""

    written: Written
    is_changed: bool
    diff: str


@dataclass(frozen=True, slots=True)
class Tagged:
    """A note after a change of its tags: those its front matter names, and those in its text, without `#`, at most MAX_NAMED each."""

    updated: Updated
    tags: tuple[str, ...]
    inline: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    diff: str = ""
    notice: str = ""
    shown: str = ""
    is_changed: bool = False


def update(vault: Vault, actor: Actor, path: VaultPath, wanted: Wanted, expected_hash: str = "") -> Updated:
    """Set and remove properties of a note that exists. Only their lines change.

    Raises:
        InvalidFrontmatter, FrontmatterKept, BadArgument: as `property_edits.plan`.
        HiddenContent, UnsafeContent: as `harmless.pieced`.
        NoteNotFound, NoteChanged, NotText, TooLarge: nothing was changed.
    """
    wanted, notice = visible(wanted)

    def updated(note: NoteText) -> tuple[NoteText, _Said]:
        return put_in(vault, path, note, wanted)

    with vault.lock.writing():
        after, said = notes.change(vault, actor, path, updated, expected_hash, may_stay=True)
    return Updated(replace(after, notice=_joined(notice, said.notice)), said.is_changed, said.diff)


def update_tags(
    vault: Vault, actor: Actor, path: VaultPath, expected_hash: str = "", *, add: Sequence[str], remove: Sequence[str]
) -> Tagged:
    """Add tags to a note's front matter and take some out of it. Those in its text stay.

    A list of words (`tags: a, b`) becomes a list of YAML when it changes: Obsidian from 1.9 on reads no other.

    Raises:
        BadArgument: something is no tag, or a tag is both to come and to go.
        As `update`.
    """
    coming, going = _named(add), _named(remove)
    if coming.keys() & going.keys():
        raise BadArgument("a tag is both added and removed; choose one. Nothing was changed.")

    def tagged(note: NoteText) -> tuple[NoteText, _Said]:
        if not coming and not going:
            raise BadArgument("there is nothing to do; name tags to add or to remove.")
        shown = through.look(note.text).text
        values = _with_tags(shown, coming, going)
        if not values:
            return note, _Said(shown=shown)
        return put_in(vault, path, note, Wanted(values))

    with vault.lock.writing():
        after, said = notes.change(vault, actor, path, tagged, expected_hash, may_stay=True)
    found = tags.of(said.shown)
    inline = {tags.key(one.name): one.name for one in found if not one.is_property}
    left = len(going.keys() & inline.keys())
    notice = (
        f"{left} of the removed also in the note's text, where this leaves them; edit_note changes that."
        if left
        else ""
    )
    return Tagged(
        Updated(replace(after, notice=_joined(said.notice, notice)), said.is_changed, said.diff),
        tuple(one.name for one in found if one.is_property)[:MAX_NAMED],
        tuple(inline.values())[:MAX_NAMED],
    )


def put_in(vault: Vault, path: VaultPath, note: NoteText, wanted: Wanted) -> tuple[NoteText, _Said]:
    """A note with properties set and removed, and what there is to say about it.

    Raises:
        As `update`.
    """
    shown = through.look(note.text).text
    if frontmatter.block(shown) is not None and frontmatter.block(note.text) is None:
        raise FrontmatterKept("something that is not shown stands before it, so that Obsidian does not see it", 1)
    change = property_edits.plan(shown, wanted, note.line_end)
    notice = _told(change)
    if not change.pieces:
        return note, _Said(notice=notice, shown=shown)
    after, outcome = harmless.pieced(vault, path, note, change.pieces)
    now = through.look(after.text).text
    if not property_edits.is_kept(shown, now, change.changed):
        raise UnsafeContent("would hold something that cannot be made harmless within the properties")
    return after, _Said(outcome.diff, _joined(notice, outcome.notice), now, is_changed=True)


def on_top(content: str, values: Mapping[str, Value], line_end: str) -> str:
    """The text of a note with properties set in its front matter, which it gets if it has none.

    Raises:
        FrontmatterGiven: its front matter cannot be read, or not be changed line by line.
        BadArgument, TooLarge: as `property_edits.plan`.
    """
    if not values:
        return content
    try:
        change = property_edits.plan(content, Wanted(values), line_end)
    except InvalidFrontmatter as error:
        raise FrontmatterGiven(error) from error
    return property_edits.applied(content, change.pieces)


def visible(wanted: Wanted) -> tuple[Wanted, str]:
    """The same without characters that nobody sees, and a sentence about them; an escape would bring them in past the guard.

    Raises:
        BadArgument: a property's name holds some, or a value cannot be written.
    """
    if any(incoming.visible(name) != name for name in (*wanted.values, *wanted.gone)):
        raise BadArgument("a property's name holds characters that nobody sees; leave them out. Nothing was changed.")
    yaml_writing.check(wanted.values)
    size = _size(wanted.values.values())
    text.check_size(" " * size, "the properties together")
    values = {name: _visible(value) for name, value in wanted.values.items()}
    hidden = size - _size(values.values())
    return replace(wanted, values=values), Incoming("", {incoming.INVISIBLE: hidden}).notice


def _visible(value: Value) -> Value:
    match value:
        case str():
            return incoming.visible(value)
        case list():
            return [_visible(item) for item in value]
        case dict():
            return {incoming.visible(name): _visible(item) for name, item in value.items()}
        case _:
            return value


def _size(values: Iterable[Value]) -> int:
    """How many characters the texts in some values have."""
    size = 0
    waiting = list(values)
    while waiting:
        match waiting.pop():
            case str(words):
                size += len(words)
            case list(items):
                waiting += items
            case dict(inside):
                size += sum(map(len, inside))
                waiting += inside.values()
            case _:
                pass
    return size


def _told(change: property_edits.Change) -> str:
    told = []
    if not change.changed:
        told.append("Nothing had to be changed.")
    if change.missing:
        what = "property that was to be removed is" if change.missing == 1 else "properties that were to be removed are"
        told.append(f"{change.missing} {what} not there.")
    if change.alike:
        what = "new property differs from an old one only in case" if change.alike == 1 else "new properties differ so"
        told.append(f"{change.alike} {what}.")
    return " ".join(told)


def _named(names: Sequence[str]) -> dict[str, str]:
    """Tags by what makes them equal, each as it was first written, without `#`."""
    found: dict[str, str] = {}
    for number, given in enumerate(names, start=1):
        name = given.strip().removeprefix("#")
        if not hashtags.is_name(name) or not all(name.split("/")) or incoming.visible(name) != name:
            raise BadArgument(
                f"number {number} of {len(names)} is no tag; a tag has letters, digits, _, - and /, and not only digits. "
                "Nothing was changed."
            )
        found.setdefault(tags.key(name), name)
    return found


def _with_tags(shown: str, coming: Mapping[str, str], going: Mapping[str, str]) -> dict[str, Value]:
    """The properties that hold tags and change, with their new values."""
    values = yaml_entries.of(frontmatter.inner(shown), 2).values
    before = {name: _as_list(value) for name, value in values.items() if name.lower() in tag_list.NAMES}
    after = {name: [one for one in items if _key(one) not in going] for name, items in before.items()}
    there = {_key(one) for items in after.values() for one in items}
    new = [name for key, name in coming.items() if key not in there]
    if new:
        target = next((name for name in after if name.lower() == "tags"), next(iter(after), "tags"))
        after[target] = [*after.get(target, []), *new]
    return {name: list(items) for name, items in after.items() if items != before.get(name)}


def _as_list(value: Value) -> list[Value]:
    match value:
        case None:
            return []
        case list():
            return value
        case str():
            return [word for word in tag_list.words(value) if word]
        case dict():
            raise FrontmatterKept("its tags are no list", 2)
        case _:
            return [value]


def _key(item: Value) -> str | None:
    return tags.key(item.strip().removeprefix("#")) if isinstance(item, str) else None


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))
