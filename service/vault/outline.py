"""What a note is made of, at a glance: its headings, tags, tasks and the blocks that links can name."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import TooLarge
from service.guards import limits
from service.guards.paths import VaultPath
from service.vault import notes, task_settings
from service.vault.model import Vault
from service.vault.notes import Note
from service.vault.parts import blockids, headings, prose, tags, tasks
from service.vault.parts.blockids import BlockId
from service.vault.parts.headings import Heading
from service.vault.task_settings import Meaning


@dataclass(frozen=True, slots=True)
class Outline:
    """A note and what it holds, in order.

    Args:
        tags: its different tags, each as it is first written.
        tasks: how many tasks it has, as list_tasks has them.
        open_tasks: how many of those are open.
    """

    note: Note
    headings: tuple[Heading, ...]
    blocks: tuple[BlockId, ...]
    tags: tuple[str, ...]
    tasks: int
    open_tasks: int


def of_note(vault: Vault, path: VaultPath) -> Outline:
    """Take a note apart, as it is shown; of a withheld one nothing is told.

    Raises:
        TooLarge: it may have more than MAX_HEADING_LINES headings.
        NoteNotFound, PathRefused, TooLarge: as `notes.read`.
    """
    note = notes.read(vault, path)
    check(note.view.text, note.path)
    read = prose.read(note.view.text)
    first: dict[str, str] = {}
    for use in tags.of(note.view.text):
        first.setdefault(tags.key(use.name), use.name)
    settings = task_settings.read(vault)
    meanings = [settings.meaning(task.symbol) for task in tasks.in_prose(read) if settings.takes(task.words)]
    return Outline(
        note,
        headings.within(read),
        blockids.within(read),
        tuple(first.values()),
        len(meanings),
        meanings.count(Meaning.OPEN),
    )


def check(text: str, path: VaultPath) -> None:
    """Refuse a text of which the headings would take too long to find.

    Raises:
        TooLarge: over `limits.MAX_HEADING_LINES` lines of it may be headings.
    """
    lines = headings.lines_at_most(text)
    if lines > limits.MAX_HEADING_LINES:
        raise TooLarge(
            f"{str(path)!r}",
            lines,
            limits.MAX_HEADING_LINES,
            "lines that may be headings",
            "read_note shows it as text.",
        )
