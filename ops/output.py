"""What a person sees. Facts (tables, JSON) go to stdout; sentences about them go to stderr.

So `strongroom tokens list --json | jq` gets JSON and nothing else. Colours and borders appear on a terminal only, and
never with `NO_COLOR` set.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
"""What JSON can say."""

_PIPE_WIDTH: Final = 10_000
"""Columns used when stdout is no terminal, so that a pipe gets whole lines."""


def print_json(value: Json) -> None:
    """Write `value` to stdout as indented JSON, letters as they are (bytes that are no UTF-8 become U+FFFD)."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
    """Write a table to stdout. Cells are plain text: nothing in them is read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    lines = box.SIMPLE_HEAD if sys.stdout.isatty() else None
    table = Table(title=title, box=lines, pad_edge=False, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    show(table)


def show(renderable: RenderableType) -> None:
    """Write a table or the like to stdout; in a pipe without blanks at the ends of lines."""
    screen = console()
    if screen.is_terminal:
        screen.print(renderable)
        return
    with screen.capture() as captured:
        screen.print(renderable)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def console(*, on_stderr: bool = False) -> Console:
    """A rich console on stdout (or stderr): plain text unless it is a terminal. For diffs, progress and colour."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  # rich calls this while it handles BrokenPipeError; __main__ has a code for it

    stream = sys.stderr if on_stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Screen(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=not stream.isatty())


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], None]]:
    """A line on the terminal that shows how many bytes are done; call what it gives with each piece's size."""
    screen = console(on_stderr=True)
    if not screen.is_terminal:
        yield lambda _: None
        return
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn, TransferSpeedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda size_bytes: bar.advance(task, size_bytes)


def counted(number: int, word: str) -> str:
    """`1 file`, `2,000 files`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def say(sentence: str) -> None:
    """Write one sentence for the person to stderr."""
    click.echo(printable(sentence), err=True)


def confirm(question: str, *, is_yes: bool) -> None:
    """Ask on the terminal and go on only after "y". `is_yes` is the command's `--yes`.

    Raises:
        click.Abort: after any other answer (exit code 130).
        click.UsageError: when nobody is there to answer (exit code 2).
    """
    if is_yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is no terminal to answer on: add --yes if you mean it.")
    click.confirm(question, abort=True, err=True)


def printable(text: str) -> str:
    """`text` without what could drive the terminal: control, bidi and stray bytes become U+FFFD."""
    return "".join(char if _is_harmless(char) else "\ufffd" for char in text)


def _is_harmless(char: str) -> bool:
    return char.isprintable() or char in "\n\t\u200c\u200d" or unicodedata.category(char) == "Zs"
