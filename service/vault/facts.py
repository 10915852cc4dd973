"""What is remembered of notes' texts, one kind at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.vault.parts import aliases, canvas, links, tags, tasks
from service.vault.parts.links import LinkUse
from service.vault.parts.tags import TagUse
from service.vault.parts.tasks import Task
from service.vault.remembered import Remembered


@dataclass(frozen=True, slots=True)
class Facts:
    """One `Remembered` for each kind of thing that a question about the whole vault asks for.

    A kind is a pure function in `service.vault.parts`, and a glance that tells notes apart that can hold none.
    """

    tags: Remembered[TagUse] = field(default_factory=lambda: Remembered(tags.of, tags.may_hold))
    tasks: Remembered[Task] = field(default_factory=lambda: Remembered(tasks.of, tasks.may_hold))
    links: Remembered[LinkUse] = field(default_factory=lambda: Remembered(links.of, links.may_hold))
    aliases: Remembered[str] = field(default_factory=lambda: Remembered(aliases.of, aliases.may_hold))
    canvas_links: Remembered[LinkUse] = field(default_factory=lambda: Remembered(canvas.links_in, canvas.may_hold))
    """Of the bytes of a canvas itself, not of a view: each card is guarded by itself."""
