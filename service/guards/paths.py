"""Where one may go: the only maker of `VaultPath`, the only key that the store's doors accept.

Lexical rules alone; the disk is never asked here (the store resolves names one component per system call, so that
nothing is checked first and used later). Nothing is decoded or trimmed: two different strings are two different paths.
Rules: the tool contract's table of paths; Windows and Obsidian rules hold for new names only, so that what exists
stays readable.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from service.errors import PathRefused
from service.guards import limits
from service.guards.invisible import has_invisible, has_stray_joiner, without_suspects

SEARCHED_SUFFIXES: Final = (".md", ".markdown", ".txt")
"""File types that are searched, listed and may be written."""

READABLE_SUFFIXES: Final = (*SEARCHED_SUFFIXES, ".canvas", ".base")
"""File types that may be read as a note."""

IMAGE_SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp")
"""Pictures that may be read as resources. SVG is none of them: docs/explanation/guards.md, Pictures."""

MARKDOWN_SUFFIXES: Final = (".md", ".markdown")
"""File types that have headings, tags, tasks and links."""

TRASH: Final = ".trash"
"""Obsidian's own trash folder, at the root of the vault. Only the store's `trash` writes there."""

SETTINGS: Final = ".obsidian"
"""Obsidian's own folder of settings, at the root of the vault. Read for what it says of notes, never shown."""

_NEVER: Final = frozenset({"node_modules", "$recycle.bin", "system volume information"})
_WINDOWS_DEVICES: Final = re.compile(r"(?i)(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])\s*(\.|$)")
_UNPORTABLE: Final = frozenset('<>:"|?*[]#^')
_ENCODED: Final = re.compile(r"(?i)%(2f|5c|2e|00)")


@dataclass(frozen=True, slots=True)
class VaultPath:
    """A path inside the vault that passed the rules. `parts` is empty for the vault's root.

    Made only by this module; `str()` gives the vault-relative form with `/`.
    """

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join(self.parts)

    @property
    def name(self) -> str:
        """The last component, with its suffix; empty for the root."""
        return self.parts[-1] if self.parts else ""

    @property
    def stem(self) -> str:
        """The name without its last suffix."""
        head, dot, _ = self.name.rpartition(".")
        return head if dot and head else self.name

    @property
    def parent(self) -> VaultPath:
        """The folder this is in; the root's parent is the root."""
        return VaultPath(self.parts[:-1])

    def child(self, name: str) -> VaultPath:
        """A direct child by a name that the disk itself gave us (so it needs no rule)."""
        return VaultPath((*self.parts, name))

    def is_inside(self, folder: VaultPath) -> bool:
        """Whether this is `folder` or lies below it."""
        return self.parts[: len(folder.parts)] == folder.parts

    def has_suffix(self, suffixes: tuple[str, ...]) -> bool:
        """Whether the name ends in one of `suffixes`, in any case."""
        return self.name.lower().endswith(suffixes)


ROOT: Final = VaultPath(())


def parse(raw: str) -> VaultPath:
    """Read a path of something in the vault, of whatever type.

    Raises:
        PathRefused: INVALID_PATH or HIDDEN_PATH; the sentence never echoes invisible characters.
    """
    if not raw.strip():
        raise PathRefused(
            "INVALID_PATH", "the path is empty; give one relative to the vault, such as 'Inbox/Ideas.md'."
        )
    if has_invisible(raw):
        raise PathRefused("INVALID_PATH", "the path holds control or invisible characters; type it again without them.")
    if len(raw) > limits.MAX_PATH_CHARS or len(raw.encode()) > limits.MAX_PATH_BYTES:
        raise PathRefused(
            "INVALID_PATH", f"the path is longer than {limits.MAX_PATH_CHARS} characters; use a shorter one."
        )
    if "\\" in raw:
        raise PathRefused("INVALID_PATH", "the path holds a backslash; folders are separated by '/'.")
    if raw.startswith(("/", "~")):
        raise PathRefused("INVALID_PATH", "the path must be relative to the vault, without a leading '/' or '~'.")
    if "://" in raw:
        raise PathRefused("INVALID_PATH", "that is an address; give the path alone, such as 'Inbox/Ideas.md'.")
    if raw.endswith("/"):
        raise PathRefused("INVALID_PATH", "the path ends in '/'; name the file or folder itself.")
    parts = tuple(raw.split("/"))
    for part in parts:
        _check_part(part)
    if _has_unseen(raw):
        raise PathRefused(
            "INVALID_PATH", "the path holds invisible joiners between plain letters; type it again without them."
        )
    return VaultPath(parts)


def note(raw: str) -> VaultPath:
    """Read the path of a note to be read.

    Raises:
        PathRefused: as `parse`, or NOT_A_NOTE for another file type.
    """
    path = parse(raw)
    _check_suffix(path, READABLE_SUFFIXES, "read as notes", _READ_OTHERWISE)
    return path


def image(raw: str) -> VaultPath | None:
    """Read the path of a picture; None when the name is that of another type.

    Raises:
        PathRefused: as `parse`.
    """
    path = parse(raw)
    return path if path.name.strip().lower().endswith(IMAGE_SUFFIXES) else None


def markdown(raw: str) -> VaultPath:
    """Read the path of a note that has Markdown's features: properties, headings, tags, tasks, links.

    Raises:
        PathRefused: as `parse`, or NOT_A_NOTE for another file type.
    """
    path = parse(raw)
    _check_suffix(path, MARKDOWN_SUFFIXES, "looked into for properties, headings, tags, tasks and links", {})
    return path


def writable_note(raw: str, also: tuple[str, ...] = ()) -> VaultPath:
    """Read the path of an existing note to be changed.

    Args:
        also: further suffixes that the owner allows (STRONGROOM_WRITE_TYPES).

    Raises:
        PathRefused: as `parse`, or NOT_A_NOTE for a file type that is not written.
    """
    path = parse(raw)
    _check_suffix(path, (*SEARCHED_SUFFIXES, *also), "written", _WRITE_OTHERWISE)
    return path


def movable_note(raw: str, also: tuple[str, ...] = ()) -> VaultPath:
    """Read the path of an existing note to be moved, which could have been meant for a folder. `also` as in `writable_note`.

    Raises:
        PathRefused: as `writable_note`.
    """
    path = parse(raw.removesuffix("/") or raw)
    suffixes = (*SEARCHED_SUFFIXES, *also)
    if not path.name.strip().lower().endswith(suffixes):
        raise PathRefused(
            "NOT_A_NOTE",
            f"only {' '.join(suffixes)} files are moved as notes; add the suffix if it is missing, or set folder to "
            "true to move a folder with all that is in it.",
        )
    return parse(raw)


def new_note(raw: str, also: tuple[str, ...] = ()) -> VaultPath:
    """Read the path of a note to be made; the letters of its own name are composed (NFC). `also` as in `writable_note`.

    Its folders may be there already, under names that nobody could give them here; the store asks `new_name` for those
    that it makes.

    Raises:
        PathRefused: as `writable_note`, or for a name that other systems or Obsidian's links cannot carry.
    """
    path = writable_note(raw, also)
    return path.parent.child(new_name(path.name))


def new_file(raw: str) -> VaultPath:
    """Read the path that a file of any type is going to have; its own name is composed (NFC), as in `new_note`.

    Raises:
        PathRefused: as `parse`, or for a name that other systems or Obsidian's links cannot carry.
    """
    path = parse(raw)
    return path.parent.child(new_name(path.name))


def new_folder(raw: str) -> VaultPath:
    """Read the path that a folder is going to have, as `new_file`; one trailing `/` is allowed.

    Raises:
        PathRefused: as `new_file`.
    """
    return new_file(raw.removesuffix("/"))


def new_name(part: str) -> str:
    """One component of a path that is going to be made, composed (NFC).

    Raises:
        PathRefused: INVALID_PATH, other systems or Obsidian's links cannot carry it.
    """
    part = unicodedata.normalize("NFC", part)
    if part != part.strip() or part.endswith("."):
        raise PathRefused(
            "INVALID_PATH", "a new name may not begin or end with white space or end with a dot; trim it."
        )
    if _UNPORTABLE & set(part):
        raise PathRefused(
            "INVALID_PATH", 'a new name may not hold < > : " | ? * [ ] # ^, which other systems or links cannot carry.'
        )
    if _WINDOWS_DEVICES.match(part):
        raise PathRefused("INVALID_PATH", "that new name is reserved on Windows; choose another.")
    if _ENCODED.search(part):
        raise PathRefused(
            "INVALID_PATH", "a new name may not hold %2F, %5C, %2E or %00; write the character or leave it out."
        )
    if len(part.encode()) > limits.MAX_NEW_NAME_BYTES:
        raise PathRefused("INVALID_PATH", f"a new name may have at most {limits.MAX_NEW_NAME_BYTES} bytes; shorten it.")
    if has_stray_joiner(part):
        raise PathRefused(
            "INVALID_PATH", "the new name holds invisible joiners between plain letters; type it again without them."
        )
    return part


def folder(raw: str) -> VaultPath:
    """Read a folder; the empty string, `.` or `/` is the vault's root, and one trailing `/` is allowed.

    Raises:
        PathRefused: as `parse`.
    """
    if raw in ("", ".", "/"):
        return ROOT
    return parse(raw.removesuffix("/"))


def from_disk(relative: str) -> VaultPath | None:
    """A path that the disk listed, or None when tools must not see it (hidden, or no valid name)."""
    try:
        return parse(relative)
    except PathRefused:
        return None


def tracked(relative: str) -> VaultPath:
    """Read a path that history holds or the owner's own command names: dot folders and odd letters included.

    Bytes that are no UTF-8 are carried as surrogate escapes (PEP 383).

    Raises:
        PathRefused: for what no vault path can be, and for anything that git on some system would take for `.git`.
    """
    parts = tuple(relative.split("/"))
    if any(part in ("", ".", "..") or "\0" in part or is_git_alias(part) for part in parts):
        raise PathRefused(
            "INVALID_PATH",
            "that path cannot lie in the vault: it has an empty, '.', '..' or .git part. Give one relative to the vault, "
            "such as 'Inbox/Ideas.md'.",
        )
    return VaultPath(parts)


def is_git_alias(name: str) -> bool:
    """Whether some file system takes `name` for `.git` (case, trailing dots and blanks, NTFS short name and streams, HFS ignorables)."""
    plain = without_suspects(name).split(":", 1)[0].rstrip(". ").casefold()
    return plain in (".git", "git~1")


def is_hidden(name: str) -> bool:
    """Whether one component is out of reach: dot names, `.git` look-alikes and folders of machinery, in any case.

    White space around it does not count, since the disk may answer to the name without it.
    """
    plain = unicodedata.normalize("NFC", name).strip()
    return plain.startswith(".") or plain.rstrip(". ").casefold() in _NEVER or is_git_alias(plain)


def is_visible(name: str) -> bool:
    """Whether a name that the disk listed can be named in a path, and so may be shown."""
    return not (is_hidden(name) or "\\" in name or _has_unseen(name))


def _has_unseen(name: str) -> bool:
    """Whether a name holds a character that nobody sees and that nothing beside it needs: it could carry a message."""
    return has_invisible(name) or (not name.isascii() and has_stray_joiner(name))


def _check_part(part: str) -> None:
    if part in ("", ".", ".."):
        raise PathRefused("INVALID_PATH", "the path holds an empty, '.' or '..' part; write it out plainly.")
    if is_hidden(part):
        raise PathRefused(
            "HIDDEN_PATH", "hidden files and folders (names starting with a dot, .git, node_modules) are out of reach."
        )
    if len(part.encode()) > limits.MAX_NAME_BYTES:
        raise PathRefused(
            "INVALID_PATH", f"a name in the path is longer than {limits.MAX_NAME_BYTES} bytes; shorten it."
        )


_READ_OTHERWISE: Final = {
    **dict.fromkeys(IMAGE_SUFFIXES, "a picture is no text; read it as the resource note:// followed by its path."),
    ".svg": "an SVG drawing may hold scripts and text that nobody sees, so it is not given; ask the owner for a PNG of it.",
    ".pdf": "the text of PDF files is not read here; ask the owner for a note with what matters of it.",
}
_WRITE_OTHERWISE: Final = dict.fromkeys(
    READABLE_SUFFIXES[len(SEARCHED_SUFFIXES) :],
    "canvases and bases can load things from elsewhere, so they are written only if the owner allows it "
    "(STRONGROOM_WRITE_TYPES).",
)
"""What to do instead, by suffix."""


def _check_suffix(path: VaultPath, suffixes: tuple[str, ...], done: str, otherwise: Mapping[str, str]) -> None:
    name = path.name.strip().lower()  # white space around it may be a slip; see `VaultFiles.locate`
    if name.endswith(suffixes):
        return
    way_out = next((words for suffix, words in otherwise.items() if name.endswith(suffix)), "")
    raise PathRefused(
        "NOT_A_NOTE", way_out or f"only {' '.join(suffixes)} files are {done}; add the suffix if it is missing."
    )
