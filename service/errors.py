"""Everything that can go wrong and that a caller can do something about.

    AppError
      NotFound        NoteNotFound, LinkBroken, RevisionNotFound, ...           look elsewhere
      Refused         PathRefused, TooLarge, NotText, NoMatch, ...              ask differently
      Conflict        NoteExists, NoteChanged, PathAmbiguous, MatchAmbiguous    read again, then retry
      Unavailable     Busy, Closing, NoSpace, DiskFault, VaultMissing, …        wait and retry
      Misconfigured   BadSettings, BadMount, VaultDenied                        a person must act

`code` is the name a model or a script sees (the list is in docs/reference/tools.md); `str(error)` is one sentence
with a way out. Neither ever holds note text, a token or a path outside the vault.
Anything that is not an AppError is a bug: it goes to the log, not to the caller.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import ClassVar, Final

_MAX_NAMED: Final = 3


class AppError(Exception):
    """A failure whose sentence may be shown to whoever asked."""

    code: ClassVar[str] = "INTERNAL"


# -- look elsewhere ---------------------------------------------------------------------------------------------------


class NotFound(AppError):
    code = "NOT_FOUND"


class NoteNotFound(NotFound):
    """No such note or folder; names up to three that look alike."""

    def __init__(self, path: str, nearest: Sequence[str] = ()) -> None:
        self.path = path
        self.nearest = tuple(nearest)
        hint = (
            f" Did you mean {_either(self.nearest)}?"
            if self.nearest
            else " Use get_vault_tree, list_notes or search_notes to find it."
        )
        super().__init__(f"there is no {path!r} in the vault.{hint}")


class LinkBroken(NotFound):
    """No file answers to a link. `aliased` are notes that have it for an alias, which no link follows (Obsidian's rule)."""

    def __init__(self, target: str, aliased: Sequence[str] = (), nearest: Sequence[str] = ()) -> None:
        self.target, self.aliased, self.nearest = target, tuple(aliased), tuple(nearest)
        if self.aliased:
            hint = f" It is an alias of {_either(self.aliased)}; links do not follow aliases, so name the note: [[note|alias]]."
        elif self.nearest:
            hint = f" Did you mean {_either(self.nearest)}?"
        else:
            hint = " Use search_notes or list_notes to find the note."
        super().__init__(f"no file answers to the link {target!r}.{hint}")


class SectionNotFound(NotFound):
    """A note has no such heading; names the first of those it has, as they are shown."""

    code = "SECTION_NOT_FOUND"

    def __init__(self, path: str, available: Sequence[str], total: int) -> None:
        more = f" (and {total - len(available)} more)" if total > len(available) else ""
        there = f"available: {' | '.join(available)}{more}" if available else f"it has {total}"
        way_out = (
            "get_note_outline lists them" if total > len(available) else "append_to_note adds to the end of the note"
        )
        super().__init__(f"no heading of {path!r} is called that; {there}; {way_out}. Nothing was changed.")


class RevisionNotFound(NotFound):
    """History holds nothing at the asked moment or revision."""

    def __init__(self, asked: str, way_out: str = "List what there is with note_history.") -> None:
        self.asked = asked
        super().__init__(f"history has no {asked}. {way_out}")


class GrantNotFound(NotFound):
    """No token, sign-in or client by that id or name. `what` says which of them was looked for."""

    def __init__(self, asked: str, nearest: Sequence[str] = (), what: str = "token or sign-in") -> None:
        hint = f" Did you mean {_either(nearest)}?" if nearest else ""
        where = "strongroom auth clients" if what == "client" else "strongroom tokens list"
        super().__init__(f"there is no {what} {asked!r}; list them with: {where}.{hint}")


# -- ask differently --------------------------------------------------------------------------------------------------


class Refused(AppError):
    code = "FORBIDDEN"


class PathRefused(Refused):
    """A path that may not be used. `code` is the contract's: INVALID_PATH, NOT_A_NOTE, HIDDEN_PATH, ..."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code  # type: ignore[misc]  # the same refusal has several names on the wire


class TooLarge(Refused):
    code = "TOO_LARGE"

    def __init__(
        self, what: str, size: int, limit: int, unit: str = "bytes", way_out: str = "Use a smaller piece."
    ) -> None:
        self.size = size
        super().__init__(f"{what} has {size} {unit}; the limit is {limit}. {way_out}")


class NotText(Refused):
    """The note is not valid UTF-8, so changing it as text would damage it."""

    code = "NOT_TEXT"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} is not UTF-8 text, so it cannot be changed without damage; save it as UTF-8 first.")


class InvalidFrontmatter(Refused):
    """The properties of a note cannot be read as such. Names the line, never what stands there."""

    code = "INVALID_FRONTMATTER"

    def __init__(self, why: str, line: int) -> None:
        self.why, self.line = why, line
        super().__init__(
            f"the front matter cannot be read as properties: {why} (line {line}); read_note shows it as text, and edit_note "
            "can mend it."
        )


class FrontmatterKept(InvalidFrontmatter):
    """The properties of a note can be read, but not be changed so that all others stay as they are."""

    def __init__(self, why: str, line: int) -> None:
        self.why, self.line = why, line
        Refused.__init__(
            self,
            f"the front matter cannot be changed property by property: {why} (line {line}); read it with read_note and "
            "change it with edit_note. Nothing was changed.",
        )


class FrontmatterGiven(InvalidFrontmatter):
    """A text that was given has front matter of its own, which cannot take the properties that were given beside it."""

    def __init__(self, cause: InvalidFrontmatter) -> None:
        self.why, self.line = cause.why, cause.line
        Refused.__init__(
            self,
            f"the front matter in content cannot take the properties given: {self.why} (line {self.line}); mend it, or leave "
            "it out of content. Nothing was written.",
        )


class NoMatch(Refused):
    code = "NO_MATCH"


class NotATask(Refused):
    """No task stands on the line, or none that this can be done to. Says what does in kind, never its text."""

    code = "NOT_A_TASK"


class HiddenContent(Refused):
    """A change that would touch, hide or bring to light what is not shown of a note."""

    code = "HIDDEN_CONTENT"


class UnsafeContent(Refused):
    """A change that would bring something to life: a picture from elsewhere, a script, a template command."""

    code = "UNSAFE_CONTENT"

    def __init__(self, why: str, line: int = 0) -> None:
        where = f" (line {line} of the note as it would be)" if line else ""
        super().__init__(
            f"this {why}{where}. Write a plain link or plain text, or ask the owner to make the change. Nothing was changed."
        )


class ReadOnly(Refused):
    """Writing is switched off for this grant or for the whole appliance."""

    code = "READ_ONLY"


class Forbidden(Refused):
    """The grant does not allow this, or is no longer alive."""

    code = "FORBIDDEN"


class BadArgument(Refused):
    """A value that is well-formed but has no meaning here (a time that cannot be read, an empty edit)."""

    code = "INVALID_ARGUMENT"


# -- read again, then retry -------------------------------------------------------------------------------------------


class Conflict(AppError):
    code = "CONFLICT"


class NoteExists(Conflict):
    code = "ALREADY_EXISTS"

    def __init__(self, path: str, twin: str = "") -> None:
        """`twin` is an existing name that differs only in letter case or encoding."""
        is_same_letters = unicodedata.normalize("NFC", path) == unicodedata.normalize("NFC", twin)
        super().__init__(
            f"{path!r} and the existing {twin!r} are one name to many devices; use that one, or choose another."
            if twin and not is_same_letters
            else f"{path!r} exists already and is not overwritten; edit or append to it, or choose another name."
        )


class VersionNeeded(NoteExists):
    """A note would be replaced by somebody who does not say which version of it they have read."""

    def __init__(self, path: str) -> None:
        Conflict.__init__(
            self,
            f"{path!r} exists already; to replace it, read it and give its version as expected_hash, or use mode append or "
            "prepend to add to it. Nothing was changed.",
        )


class NoteChanged(Conflict):
    """The note is not the version the caller expected. Both are the first 12 hex digits of SHA-256."""

    code = "CONFLICT"

    def __init__(self, path: str, expected: str, found: str) -> None:
        self.path, self.expected, self.found = path, expected, found
        super().__init__(
            f"{path!r} has changed since it was read (expected version {expected}, found {found}); read it again and retry."
        )


class PathAmbiguous(Conflict):
    code = "AMBIGUOUS_PATH"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"two files answer to {path!r} (the same letters, encoded differently); rename one of them first."
        )


class MatchAmbiguous(Conflict):
    code = "AMBIGUOUS_MATCH"


class SectionAmbiguous(Conflict):
    """Several headings of a note are called the same."""

    code = "AMBIGUOUS_SECTION"

    def __init__(self, path: str, lines: Sequence[int], total: int) -> None:
        named = ", ".join(map(str, lines)) + (" and more" if total > len(lines) else "")
        super().__init__(
            f"{total} headings of {path!r} are called that, in lines {named}; name the one above it as well, as 'Above#Heading', "
            "or use edit_note. Nothing was changed."
        )


# -- wait and retry ---------------------------------------------------------------------------------------------------


class Unavailable(AppError):
    code = "UNAVAILABLE"


class Busy(Unavailable):
    """Somebody else holds the writer lock."""

    code = "BUSY"

    def __init__(self, what: str, waited_s: float) -> None:
        super().__init__(f"{what} is in use by another process (waited {waited_s:g} s); try again in a moment.")


class Closing(Unavailable):
    """The service is stopping; what was begun is taken up at the next start."""

    def __init__(self) -> None:
        super().__init__("Strongroom is stopping; try again once it runs.")


class AlreadyServed(Unavailable):
    """A second server on one state. Retrying helps once the first has stopped (an upgrade, say)."""

    code = "BUSY"

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"a Strongroom already serves this state ({holder}); stop it first, or give this one a STRONGROOM_STATE of its own."
        )


class NoSpace(Unavailable):
    code = "NO_SPACE"

    def __init__(self, where: str) -> None:
        super().__init__(f"the disk that holds the {where} is full; nothing was changed. Free some space and retry.")


class VaultMissing(Unavailable):
    """The vault is not there, or suddenly empty: more likely a lost mount than a deletion."""


class DiskFault(Unavailable):
    """The disk reported an error (EIO). The write is not repeated: the kernel may have dropped what it could not keep."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"the disk reported an error at {path!r}; what was there before stays. Look at the disk, then retry."
        )


class ChangeUnfinished(Unavailable):
    """A change of many files failed in the middle, and some of it could not be taken back: the disk says no, or they are held."""

    def __init__(self, stuck: Sequence[str]) -> None:
        self.stuck = tuple(stuck)
        named = ", ".join(repr(path) for path in self.stuck[:_MAX_NAMED])
        more = f" and {len(self.stuck) - _MAX_NAMED} more" if len(self.stuck) > _MAX_NAMED else ""
        super().__init__(
            f"a change of several files was cut short and could not be taken back at {named}{more}; what they held is kept, "
            "and is put back at the next such change or the next start. Look at the disk, then retry."
        )


class HistoryHeld(Unavailable):
    """History will not be written until the owner decides (deletion guard, damaged store, foreign lock)."""


# -- a person must act ------------------------------------------------------------------------------------------------


class Misconfigured(AppError):
    code = "MISCONFIGURED"


class VaultDenied(Misconfigured):
    """The file system refuses (read-only, or not ours); the sentence names who we are, the owner and the mode."""

    code = "READ_ONLY"

    def __init__(self, path: str, why: str, way_out: str) -> None:
        super().__init__(f"{path!r} is out of reach: {why}; {way_out}.")


class BadMount(Misconfigured):
    """The vault or state folder cannot be used as it is mounted; the sentence names owner, mode and the mending command."""


class BadSettings(Misconfigured):
    """Everything that is wrong with the settings, all at once."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


def _either(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
