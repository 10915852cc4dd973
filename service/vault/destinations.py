"""Where one link leads: the file as Obsidian picks it, others that answer to it, and the line of a heading or block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from service.errors import BadArgument, LinkBroken
from service.guards import invisible, paths
from service.guards.paths import VaultPath
from service.store import names as spelling
from service.vault import notes, patience, survey
from service.vault.model import Vault
from service.vault.parts import links, places
from service.vault.parts.links import LinkKind
from service.vault.patience import Deadline
from service.vault.picture.kept import Check
from service.vault.picture.note import Note
from service.vault.resolving import Names, Resolved, folded
from service.vault.survey import Survey

MAX_LINK_CHARS: Final = 1000
MAX_OFFERED: Final = 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a link leads.

    Args:
        path: the file.
        subpath: `#Heading` or `#^block`, as asked; empty for none.
        line: where that begins in a note; None without a subpath, or when the note has no such place.
        others: other files that answer to the link, best first.
        left_out: low-trust folders with more of those.
    """

    path: VaultPath
    subpath: str
    line: int | None
    others: tuple[VaultPath, ...] = ()
    left_out: tuple[VaultPath, ...] = ()

    @property
    def lacks_place(self) -> bool:
        """Whether the note is there and the heading or block is not."""
        return bool(self.subpath) and self.line is None and self.path.has_suffix(paths.MARKDOWN_SUFFIXES)


def find(vault: Vault, link: str, source: VaultPath | None = None) -> Destination:
    """Where a link leads.

    Args:
        link: `[[…]]`, `[…](…)`, or what stands within; a name alone will do.
        source: the note that it stands in, which decides between files of one name and begins relative paths.

    Raises:
        BadArgument: it is no link of the vault, or leads to the note that it stands in and that is not told.
        LinkBroken: no file answers to it; names notes that have it for an alias, else files that are called alike.
        NoteNotFound, PathAmbiguous, PathRefused, TooLarge: as `notes.read`, for `source`.
        Unavailable: it took longer than a survey may.
    """
    here = notes.read(vault, source).path if source is not None else None
    asked = _asked(link)
    if here is None and not all(target for target, _ in asked):
        raise BadArgument("the link leads to a place in its own note; say in from_path which note that is.")

    def resolved(names: Names) -> list[Resolved]:
        return [names.resolve(target, here) for target, _ in asked]

    for found, (_, subpath) in zip(_with_names(vault, resolved), asked, strict=True):
        if found.path is not None:
            return _destination(vault, found, found.path, subpath, here)
    raise _broken(vault, asked[0][0])


def _with_names(vault: Vault, ask: Callable[[Names], T]) -> T:
    """What the names of all files answer, as they are now."""

    def asked(deadline: Deadline) -> T:
        folders = vault.picture.folders(deadline.check)
        with vault.picture.links(vault.low_trust).named(folders, deadline.check) as names:
            return ask(names)

    return patience.within(survey.DEADLINE_S, asked)


def _asked(link: str) -> list[tuple[str, str]]:
    """Path part and subpath of what was asked, and how else it may be meant."""
    words = link.strip()
    if not words or len(words) > MAX_LINK_CHARS or invisible.has_invisible(words):
        raise BadArgument(
            f"a link has 1 to {MAX_LINK_CHARS} characters, none of them invisible; give one such as '[[Note#Heading]]'."
        )
    for use in links.of(words):
        if use.kind is not LinkKind.DEFINITION:
            return [(use.target, use.subpath)]
    words = words.removeprefix("<").removesuffix(">")
    if links.is_address(words) or words.startswith(("[", "![")):
        raise BadArgument(
            "that is no link to something in the vault; give one such as '[[Note#Heading]]' or 'Folder/Note.md'."
        )
    (start, end), subpath, _ = links.split_wikilink(words)
    asked = (words[start:end], subpath)
    if not any(asked):
        raise BadArgument("the link names nothing; give one such as '[[Note#Heading]]'.")
    decoded = (links.percent_decoded(asked[0]), links.percent_decoded(asked[1]))
    return [asked] if decoded == asked else [asked, decoded]


def _destination(vault: Vault, found: Resolved, path: VaultPath, subpath: str, here: VaultPath | None) -> Destination:
    line = None
    if subpath and path.has_suffix(paths.MARKDOWN_SUFFIXES):
        line = places.line_of(notes.read(vault, path).view.text, subpath)
    others, left_out = list(found.candidates[1:]), dict[VaultPath, None]()
    if not any(vault.low_trust.holds(known) for known in (path, here) if known is not None):
        others = []
        for other in found.candidates[1:]:
            around = vault.low_trust.around(other)
            if around is None:
                others.append(other)
            else:
                left_out[around] = None
    return Destination(path, subpath, line, tuple(others), tuple(left_out))


def _broken(vault: Vault, target: str) -> LinkBroken:
    """The error, with what may be meant instead: never something from a low-trust folder."""
    wanted = folded(target)

    def with_alias(begun: Survey) -> list[str]:
        return [str(path) for part in begun.parts(_aliases) for path in part.get(wanted, ())]

    aliased = sorted(survey.make(vault, with_alias, suffixes=paths.MARKDOWN_SUFFIXES))
    if aliased:
        return LinkBroken(target, aliased[:MAX_OFFERED])
    return _with_names(vault, lambda names: _called_alike(vault, names, target))


def _aliases(notes_: Sequence[Note], check: Check) -> Mapping[str, Sequence[VaultPath]]:
    """The aliases in the notes of a folder, as links compare names, and which notes have them."""
    found: dict[str, dict[VaultPath, None]] = {}
    for note in notes_:
        check()
        for alias in note.aliases if note.is_shown else ():
            found.setdefault(folded(alias), {})[note.path] = None
    return {alias: tuple(holding) for alias, holding in found.items()}


def _called_alike(vault: Vault, names: Names, target: str) -> LinkBroken:
    namesakes = names.resolve(target.rpartition("/")[2] or target, None).candidates
    offered = [str(path) for path in namesakes if not vault.low_trust.holds(path)]
    trusted = (str(path) for path in names if not vault.low_trust.holds(path))
    named = target if "." in target.rpartition("/")[2] else f"{target}.md"
    return LinkBroken(target, (), offered[:MAX_OFFERED] or spelling.nearest(named, trusted))
