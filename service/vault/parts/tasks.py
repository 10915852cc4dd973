"""The tasks in a text: list items with a box, `- [ ] words 📅 2026-03-01`, as Obsidian and its plugin Tasks have them.

Bullets and numbers, in lists, quotes and callouts of any depth; none in code, HTML, front matter or comments. What a box
holds is any one character; what it means is for the plugin's settings to say (`service.vault.task_settings`).
Source: obsidian-tasks, src/Task/TaskRegularExpressions.ts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from service.guards import markdown
from service.guards.markdown import Block, Code, Span
from service.vault.parts import prose, task_fields
from service.vault.parts.prose import Prose
from service.vault.parts.task_fields import Field, Kind, Style

_BOX: Final = re.compile(r"\[([^\r\n])\](?=[ \t\r\n]|\Z)")
_MARK: Final = re.compile(r"[\s>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_MAY_HOLD: Final = re.compile(rb"(?m)^[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[[^\r\n\]]{1,4}\]")
_BLANKS: Final = re.compile(r"\s+")
_CODE: Final = "`"


@dataclass(frozen=True, slots=True)
class Task:
    """A task in its place. Offsets are in the text it was found in.

    Args:
        line: from 1.
        start, end: of its line, without the line end.
        symbol: what the box holds, at `symbol_at`.
        fields: what it says behind its words, and Dataview fields among them.
        tail: where further fields are put in.
        words: what is to be done: its text without fields, comments and block id, with its tags.
        block_id: where `^id` stands at its end; empty at `end` without one.
        has_more: whether more of the list item follows on other lines: text, or items in it.
    """

    line: int
    start: int
    end: int
    symbol: str
    symbol_at: int
    fields: tuple[Field, ...]
    tail: int
    words: str
    block_id: Span
    has_more: bool = False

    def field(self, kind: Kind) -> Field | None:
        """The field of a kind that counts: a sign before a Dataview field, one behind the words before one among them,
        the leftmost of several."""
        found = [field for field in self.fields if field.kind is kind]
        found.sort(key=lambda field: (field.style is Style.DATAVIEW, not field.is_trailing, field.start))
        return found[0] if found else None

    def value(self, kind: Kind) -> str | None:
        field = self.field(kind)
        return None if field is None else field.value

    def day(self, kind: Kind) -> date | None:
        """The day of a date; None when it has none, or one that no calendar has."""
        field = self.field(kind)
        return None if field is None else field.day


def of(text: str) -> tuple[Task, ...]:
    """The tasks of a text, by line. Linear; never raises."""
    return tuple(in_prose(prose.read(text, ())))


def may_hold(shown: bytes) -> bool:
    """Whether a note may hold tasks, at the price of a glance at its bytes."""
    return _MAY_HOLD.search(shown) is not None


def in_prose(read: Prose) -> Iterator[Task]:
    """The tasks of a text that is read already."""
    blocks = read.document.blocks
    starts = [block.start for block in blocks]
    for block, _ in read.spoken():
        task = _task(read, block) if block.in_item else None
        if task is not None:
            following = bisect_left(starts, block.start) + 1
            holds_more = following < len(blocks) and blocks[following].kept >= block.depth
            yield replace(task, has_more=True) if holds_more or block.end > task.end else task


def _task(read: Prose, block: Block) -> Task | None:
    text = read.text
    box = _BOX.match(text, block.start)
    if box is None or read.is_comment(block.start):
        return None
    line = read.line_of(block.start)
    start, end = read.line_span(line)
    if not _MARK.fullmatch(text, start, block.start):
        return None
    body = box.end(), end
    comments = _within(read.comments, *body)
    tail = task_fields.read(text, body, comments, _codes(block, body) if _CODE in text[box.end() : end] else ())
    block_id = tail.passed[-1] if tail.passed and text.startswith("^", tail.passed[-1][0]) else (end, end)
    words = _words(text, body, tail.passed)
    return Task(line, start, end, box[1], box.start(1), tail.fields, tail.end, words, block_id)


def _codes(block: Block, body: Span) -> list[Span]:
    """The code spans that reach into a task's body."""
    pieces = markdown.inlines(block.text, block.start, {})
    return [(one.start, one.end) for one in pieces if isinstance(one, Code) and one.start < body[1]]


def _within(spans: tuple[Span, ...], start: int, end: int) -> list[Span]:
    """Those of sorted, disjoint spans that reach into `text[start:end]`."""
    at = bisect_left(spans, start, key=lambda span: span[1])
    found = []
    while at < len(spans) and spans[at][0] < end:
        found.append(spans[at])
        at += 1
    return found


def _words(text: str, body: Span, passed: tuple[Span, ...]) -> str:
    kept, at = [], body[0]
    for start, end in passed:
        kept.append(text[at:start].strip())
        at = end
    kept.append(text[at : body[1]].strip())
    return _BLANKS.sub(" ", " ".join(part for part in kept if part))
