"""Finding the task on a line, and saying what stands there when it is none."""

from __future__ import annotations

from typing import Final

from service.errors import NotATask
from service.guards.markdown import BlockKind
from service.vault.parts import prose, tasks
from service.vault.parts.prose import Prose
from service.vault.parts.tasks import Task
from service.vault.task_settings import Meaning, TaskSettings

MAX_NEAREST: Final = 3
"""Lines with tasks that are named when a line has none."""

_KINDS: Final = {
    BlockKind.FRONTMATTER: "front matter",
    BlockKind.FENCED_CODE: "code",
    BlockKind.INDENTED_CODE: "code (it is indented like that)",
    BlockKind.HTML: "HTML",
    BlockKind.DEFINITION: "a link definition",
    BlockKind.HEADING: "a heading",
    BlockKind.RULE: "a rule",
}


def at(text: str, line: int, settings: TaskSettings) -> Task:
    """The task on a line (from 1) of a note's view.

    Raises:
        NotATask: none stands there; says what does, in kind, and on which lines the nearest are.
    """
    read = prose.read(text)
    found = {task.line: task for task in tasks.in_prose(read) if settings.meaning(task.symbol) is not Meaning.NONE}
    if line in found:
        return found[line]
    raise NotATask(
        f"line {line} is no task but {_what(read, line)}. {_nearest(list(found), line)} Nothing was changed."
    )


def line_of(text: str, line: int) -> str:
    """A line (from 1) of a text without its line end; empty beyond the end."""
    lines = text.split("\n", line)
    return lines[line - 1].removesuffix("\r") if line <= len(lines) else ""


def _what(read: Prose, line: int) -> str:
    count = len(read.line_starts) - (read.text == "" or read.text.endswith("\n"))
    if line > count:
        return f"beyond the end of the note, which has {count} {'line' if count == 1 else 'lines'}"
    start, end = read.line_span(line)
    first = start + len(read.text[start:end]) - len(read.text[start:end].lstrip())
    if first == end:
        return "a line on which nothing is shown"
    return "a comment" if read.is_comment(first) else _kind(read, start, end)


def _kind(read: Prose, start: int, end: int) -> str:
    block = next((block for block in read.document.blocks if block.start < end and start < block.end), None)
    if block is None:
        return "an empty list item or quote"
    if block.kind in _KINDS:
        return _KINDS[block.kind]
    if not block.in_item:
        return "text"
    return "a list item without a box" if start <= block.start else "further text of a list item"


def _nearest(lines: list[int], line: int) -> str:
    if not lines:
        return "The note has no tasks."
    near = sorted(sorted(lines, key=lambda one: (abs(one - line), one))[:MAX_NEAREST])
    if len(near) == 1:
        return f"The nearest task is on line {near[0]}."
    return f"The nearest tasks are on lines {', '.join(map(str, near[:-1]))} and {near[-1]}."
