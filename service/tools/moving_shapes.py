"""What the tools that move answer with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field

from service.tools.shapes import Notice, Shape, Version, fitting
from service.vault.model import Page
from service.vault.move_plan import Left
from service.vault.moving import Moved, Relinking

_NOT_FOLLOWED: Final = "Settings in .obsidian and .base files may still name the old folder."


class NoteRelinked(Shape):
    path: str
    links: Annotated[int, Field(description="Links rewritten.")]
    version: Version

    @staticmethod
    def of(one: Relinking) -> NoteRelinked:
        return NoteRelinked(path=str(one.path), links=one.links, version=one.version)


class NoteLeft(Shape):
    path: str
    why: str

    @staticmethod
    def of(one: Left) -> NoteLeft:
        return NoteLeft(path=str(one.path), why=one.why)


class NoteMoved(Shape):
    path: Annotated[str, Field(description="Where it is now.")]
    files: Annotated[int, Field(description="Files moved.")]
    version: Annotated[str, Field(description="Of the note at its new place; empty for a folder.")]
    bytes: int
    dry_run: Annotated[bool, Field(description="Nothing was done; this is what would be.")]
    changed: Annotated[list[NoteRelinked], Field(description="Other notes with rewritten links, the first of them.")]
    total_changed: int
    left: Annotated[list[NoteLeft], Field(description="Notes whose links now lead astray, the first of them.")]
    total_left: int
    trashed_to: Annotated[str, Field(description="Where what had that name went; mostly empty.")]
    notice: Notice

    @staticmethod
    def of(moved: Moved, *, dry_run: bool = False, notice: str = "") -> NoteMoved:
        changed, _ = fitting(Page(moved.changed, len(moved.changed), 0), NoteRelinked.of, share=0.6)
        left, _ = fitting(Page(moved.left, len(moved.left), 0), NoteLeft.of, share=0.3)
        return NoteMoved(
            path=str(moved.path),
            files=moved.files,
            version=moved.version,
            bytes=moved.size_bytes,
            dry_run=dry_run,
            changed=changed,
            total_changed=len(moved.changed) + moved.changed_low_trust,
            left=left,
            total_left=len(moved.left) + moved.left_low_trust,
            trashed_to="" if moved.trashed_to is None else str(moved.trashed_to),
            notice=" ".join((*filter(None, (moved.caution, notice)), *_said(moved))),
        )


def _said(moved: Moved) -> Iterator[str]:
    if moved.changed_low_trust or moved.left_low_trust:
        yield f"{moved.changed_low_trust + moved.left_low_trust} of these notes are in low-trust folders and not named."
    if moved.unread:
        yield f"{moved.unread} notes are too large or cannot be read, so their links were not looked at."
    if moved.is_cut_short:
        yield "There was no time to look at all notes, so more of them may hold such links."
    if moved.is_folder:
        yield _NOT_FOLLOWED
