"""Changing properties by changing their lines and nothing else.

What is changed is worked out in two ways, the more careful one first: it keeps the items of a list that stay, with their
comments and quotes. Each is tried on the text, parsed again, and taken only if every named property then has just the value that
was asked and every other one still says what it said. Otherwise the change is refused. Source: issue of this project,
"a person's bytes"; docs/explanation/links-and-frontmatter.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service.errors import BadArgument, FrontmatterKept, InvalidFrontmatter, TooLarge
from service.guards import limits
from service.vault import frontmatter
from service.vault.parts import value_edits, yaml_entries, yaml_writing
from service.vault.parts.yaml import Value
from service.vault.parts.yaml_entries import Entries
from service.vault.through import Piece

_FIRST_LINE: Final = 2  # of what stands between the fences
_MERGE: Final = "<<"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to become of a note's properties: values that are set, names that go."""

    values: Mapping[str, Value]
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Change:
    """How to change a text: sorted, disjoint pieces, none when everything is as asked already.

    Args:
        changed: names whose properties change or go.
        missing: how many of the names that were to go are not there.
        alike: how many properties are new though one is there whose name differs only in case.
    """

    pieces: tuple[Piece, ...]
    changed: tuple[str, ...] = ()
    missing: int = 0
    alike: int = 0


def plan(note: str, wanted: Wanted, line_end: str) -> Change:
    """Work out how to change a note's properties.

    Args:
        note: the text of a whole note, as it is shown.
        line_end: that of the note, for lines that come in.

    Raises:
        TooLarge: the front matter would be larger than what is read.
        BadArgument: nothing is asked, a name is both set and to go, or a value cannot be written.
        InvalidFrontmatter, FrontmatterKept: the front matter cannot be read, or not be changed line by line. Nothing else is
            done instead: a second block would hide the first.
    """
    _check(wanted)
    block = frontmatter.block(note)
    if block is None:
        return _at_the_top(note, wanted, line_end)
    here = yaml_entries.of(note[block.start : block.end], _FIRST_LINE)
    _check_names(here, wanted)
    change = _without_what_is_so(here, wanted)
    if not change.changed:
        return change
    for way, at_end in ((value_edits.carefully, True), (value_edits.anew, True), (value_edits.anew, False)):
        pieces = _pieces(here, wanted, change, way, line_end, at_end=at_end)
        _check_size(len(here.text) + sum(len(one.new) - (one.end - one.start) for one in pieces))
        if _is_as_asked(here, pieces, wanted):
            moved = tuple(Piece(one.start + block.start, one.end + block.start, one.new) for one in pieces)
            return Change(moved, change.changed, change.missing, change.alike)
    raise FrontmatterKept("what was asked cannot be put into its lines so that the rest stays as it is", _FIRST_LINE)


def applied(note: str, pieces: Sequence[Piece]) -> str:
    """The text with its pieces replaced."""
    kept, at = [], 0
    for one in pieces:
        kept += [note[at : one.start], one.new]
        at = one.end
    return "".join([*kept, note[at:]])


def same(one: Value, other: Value) -> bool:
    """Whether two values are one to whoever reads them: numbers by value, text by its letters, a truth is no number."""
    match one, other:
        case (bool(), _) | (_, bool()):
            return one is other
        case (int() | float(), int() | float()):
            return one == other
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
        case _:
            return type(one) is type(other) and one == other


def is_kept(before: str, after: str, changed: Sequence[str]) -> bool:
    """Whether the properties of a text can be read, and say what those of another say, but for some names."""
    try:
        was, now = (yaml_entries.of(frontmatter.inner(note)) for note in (before, after))
    except InvalidFrontmatter:
        return False
    there = iter([entry.says for entry in now.entries])
    return all(entry.says in there for entry in was.entries if entry.name not in changed)  # in the same order


def _check(wanted: Wanted) -> None:
    if not wanted.values and not wanted.gone:
        raise BadArgument("there is nothing to do; name properties to set or to remove.")
    if wanted.gone & wanted.values.keys():
        raise BadArgument("a property is both set and removed; choose one. Nothing was changed.")
    yaml_writing.check(wanted.values)


def _check_size(size: int) -> None:
    if size > limits.MAX_FRONTMATTER_CHARS:
        raise TooLarge("the front matter with this change", size, limits.MAX_FRONTMATTER_CHARS, "characters")


def _at_the_top(note: str, wanted: Wanted, line_end: str) -> Change:
    """A front matter for a note that has none, unless there is one that Obsidian cannot see."""
    if frontmatter.is_begun(note):
        raise InvalidFrontmatter("its first line is --- and no later line closes it", 1)
    unseen = note.lstrip(" \t\r\n\ufeff")
    if unseen != note and yaml_entries.of(frontmatter.inner(unseen)).entries:
        raise FrontmatterKept("blank lines stand above it, so that Obsidian does not see it; remove these first", 1)
    if not wanted.values:
        return Change((), missing=len(wanted.gone))
    lines = ["---", *_new_lines(wanted.values, 0), "---", ""]
    piece = Piece(0, 0, line_end.join(lines))
    _check_size(len(piece.new))
    now = yaml_entries.of(frontmatter.inner(piece.new + note), _FIRST_LINE)
    if not same(dict(now.values), dict(wanted.values)):
        raise BadArgument("a value cannot be written so that it is read again as it was sent. Nothing was changed.")
    return Change((piece,), tuple(wanted.values), len(wanted.gone))


def _check_names(here: Entries, wanted: Wanted) -> None:
    """Refuse where a name has no lines of its own, or others hang on them."""
    named = wanted.gone | wanted.values.keys()
    if here.in_braces:
        raise FrontmatterKept("it is written in braces, {…}, not in lines", _FIRST_LINE)
    if _MERGE in named:
        raise FrontmatterKept("<< is no property but takes over others", _FIRST_LINE)
    repeated = here.repeated()
    referred = frozenset(name for other in here.entries if other.name not in named for name in other.aliases)
    for entry in here.entries:
        if entry.name not in named:
            continue
        line = _FIRST_LINE + entry.line
        if entry.name in repeated:
            raise FrontmatterKept("a property that was named is there twice; remove one of them first", line)
        if not entry.is_simple:
            raise FrontmatterKept("a property that was named does not begin a line of its own", line)
        if entry.anchors & referred:
            raise FrontmatterKept("another property refers to (*) a named one (&)", line)
    if wanted.gone & _merged(here.values.get(_MERGE)):
        raise FrontmatterKept("a property that was to go is also taken over by <<, for some readers", _FIRST_LINE)


def _merged(value: Value) -> frozenset[str]:
    """Names of the properties that `<<` takes over, for those who read it so."""
    parts = value if isinstance(value, list) else [value]
    return frozenset(name for part in parts if isinstance(part, dict) for name in part)


def _without_what_is_so(here: Entries, wanted: Wanted) -> Change:
    """What there is to do: a change without its pieces."""
    gone = [entry.name for entry in here.entries if entry.name in wanted.gone]
    is_set = [
        name for name, value in wanted.values.items() if name not in here.values or not same(here.values[name], value)
    ]
    folded = {name.casefold() for name in here.values}
    alike = sum(name not in here.values and name.casefold() in folded for name in is_set)
    return Change((), (*is_set, *gone), len(wanted.gone) - len(gone), alike)


def _pieces(
    here: Entries, wanted: Wanted, change: Change, way: value_edits.Way, line_end: str, *, at_end: bool
) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    changed = frozenset(change.changed)
    for entry in here.entries:
        if entry.name not in changed:
            continue
        if entry.name in wanted.gone:
            start = yaml_entries.line_start(here.text, entry.start)
            pieces.append(Piece(start, yaml_entries.line_end(here.text, entry.value.end), ""))
        else:
            pieces += way(here, entry, wanted.values[entry.name], line_end)
    new = {name: wanted.values[name] for name in change.changed if name not in here.values and name in wanted.values}
    if new:
        at = len(here.text)
        if not at_end and here.entries:
            at = yaml_entries.line_end(here.text, here.entries[-1].value.end)
        pieces.append(Piece(at, at, "".join(line + line_end for line in _new_lines(new, here.indent))))
    return tuple(pieces)


def _new_lines(values: Mapping[str, Value], indent: int) -> Iterator[str]:
    for name, value in values.items():
        inline, lines = yaml_writing.block(value, indent + yaml_writing.INDENT)
        yield " " * indent + yaml_writing.name(name) + ":" + (" " + inline if inline else "")
        yield from lines


def _is_as_asked(here: Entries, pieces: Sequence[Piece], wanted: Wanted) -> bool:
    """Whether the changed text says what was asked, and of everything else what it said."""
    try:
        now = yaml_entries.of(applied(here.text, pieces), _FIRST_LINE)
    except InvalidFrontmatter:
        return False
    named = wanted.gone | wanted.values.keys()
    if [entry.says for entry in here.entries if entry.name not in named] != [
        entry.says for entry in now.entries if entry.name not in named
    ]:
        return False
    return not (wanted.gone & now.values.keys() or named & now.repeated()) and all(
        name in now.values and same(now.values[name], value) for name, value in wanted.values.items()
    )
