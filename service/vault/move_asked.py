"""What is to be moved where, and whether it may be: the thing itself, its type, and what stands in its way."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import BadArgument, PathRefused, TooLarge, UnsafeContent
from service.guards import paths
from service.guards.paths import VaultPath
from service.store.files import FileContent
from service.store.together import Move
from service.vault import harmless, text, versions
from service.vault.model import Vault


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be moved where.

    Args:
        is_folder: a folder with all that is in it.
        is_note: it must be small enough to be read; other files may have any size.
        overwrites: what has the new name goes to the trash first.
        updates_links: rewrite links; otherwise only say which notes have some that would lead elsewhere.
    """

    source: VaultPath
    target: VaultPath
    expected_hash: str = ""
    is_folder: bool = False
    is_note: bool = True
    overwrites: bool = False
    updates_links: bool = True

    @staticmethod
    def of_note(
        source: str,
        target: str,
        expected_hash: str = "",
        *,
        is_folder: bool = False,
        updates_links: bool = True,
        also: tuple[str, ...] = (),
    ) -> Asked:
        """Read what is asked for a note, or for a folder.

        Args:
            also: further types that count as notes, as in `paths.writable_note`.

        Raises:
            PathRefused: as `paths.movable_note` and `paths.new_note`, or `paths.folder` and `paths.new_folder`.
        """
        if is_folder:
            here, there = paths.folder(source), paths.new_folder(target)
        else:
            here, there = paths.movable_note(source, also), paths.new_note(target, also)
        return Asked(here, there, expected_hash, is_folder=is_folder, updates_links=updates_links)

    @staticmethod
    def of_file(source: str, target: str, confirmed_source: str, confirmed_target: str, *, overwrites: bool) -> Asked:
        """Read what is asked for a file of any type; both paths must be given twice.

        Raises:
            PathRefused: as `paths.parse` and `paths.new_file`.
            BadArgument: a path and its confirmation differ.
        """
        here, there = paths.parse(source), paths.new_file(target)
        if (source, target) != (confirmed_source, confirmed_target):
            raise BadArgument("confirm_from and confirm_to must equal from and to; nothing was moved.")
        return Asked(here, there, is_note=False, overwrites=overwrites)


def found(vault: Vault, asked: Asked) -> tuple[VaultPath, FileContent | None]:
    """What is moved, as the disk spells it; and what it holds, when it is a file small enough to be read."""
    source = vault.files.locate(asked.source, follow_last=False)
    scope = vault.files.root.scope
    if source.parts and scope is not None and not scope.holds(source):
        raise scope.refusal()  # a folder on the way to a limited view, which may hold what is not seen
    if asked.is_folder:
        if asked.expected_hash:
            raise BadArgument("a folder has no version; leave expected_hash out.")
        if not source.parts:
            raise BadArgument("the whole vault cannot be moved; name a folder in it.")
        vault.files.open_folder(source)  # raises when it is none
        return source, None
    try:
        old = vault.files.read_tracked(source)
    except TooLarge:
        if asked.is_note:
            raise
        return source, None
    versions.check(old, asked.expected_hash)
    return source, old


def check_type(vault: Vault, source: VaultPath, target: VaultPath, old: FileContent | None) -> None:
    """A file keeps its type: a text could otherwise become what runs or loads something (a canvas, a page, a script).

    Plain text may become Markdown when it holds nothing that would then run or load something.
    """
    if _type(source) == _type(target):
        return
    are_notes = source.has_suffix(paths.SEARCHED_SUFFIXES) and target.has_suffix(paths.SEARCHED_SUFFIXES)
    if not are_notes or old is None:
        raise PathRefused(
            "NOT_A_NOTE",
            f"a file keeps its type when it moves; give the new name the suffix {_type(source) or 'none'!r}.",
        )
    if not source.has_suffix(paths.MARKDOWN_SUFFIXES) and target.has_suffix(paths.MARKDOWN_SUFFIXES):
        plain = text.decode_exact(old.data, str(source)).text
        if harmless.note(vault, target, plain).text != plain:
            raise UnsafeContent("plain text holds what would run, load or hide something once it is Markdown")


def _type(path: VaultPath) -> str:
    head, dot, suffix = path.name.rpartition(".")
    return dot + suffix.lower() if head else ""


def room_for(vault: Vault, asked: Asked, target: VaultPath) -> Move | None:
    """How what has the new name goes to the trash; None when nothing has it, or it may not be overwritten.

    Raises:
        PathRefused: it is no regular file.
    """
    if not asked.overwrites or not vault.files.is_there(target):
        return None
    try:
        old = vault.files.read_tracked(target)
    except TooLarge:
        old = None
    return Move(target, vault.files.trash_place(target), old)
