"""`strongroom hidden`: what assistants are not shown of the notes, for the owner's eyes.

Everything hidden is written with escapes where it could not be seen or could drive the terminal. Reads, writes nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import click

from ops import output

if TYPE_CHECKING:
    from service.guards.outgoing import View
    from service.guards.paths import VaultPath
    from service.store.files import VaultFiles

_SHOWN_CHARS: Final = 400
"""Of one piece in the table; --json has it whole."""


@click.command()
@click.argument("path", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script.")
def command(path: str | None, *, as_json: bool) -> None:
    """Show what assistants are not shown of the notes: comments, hidden elements, invisible characters.

    Without PATH or with a folder: which notes hide something, and how much. With a note: the hidden pieces with their
    lines, escaped so that you can see them. Nothing is changed.
    """
    from ops.opened import opened
    from service.guards import paths

    with opened() as parts:
        if path is not None and path.lower().endswith(paths.READABLE_SUFFIXES):
            _show_note(parts.files, paths.note(path), as_json)
        else:
            _show_vault(parts.files, paths.folder(path or ""), as_json)


def _show_vault(files: VaultFiles, folder: VaultPath, as_json: bool) -> None:
    found = sorted(_hiding(files, folder), key=lambda pair: str(pair[0]))
    if as_json:
        output.print_json({"notes": [{"path": str(path), **_counts(view)} for path, view in found]})
        return
    if not found:
        output.say("no note hides anything.")
        return
    rows = [(_escaped(str(path)), _told(view)) for path, view in found]
    output.print_table(("Note", "Hidden"), rows)
    hide = "note hides" if len(found) == 1 else "notes hide"
    output.say(f"{len(found):,} {hide} something; strongroom hidden NOTE shows what.")


def _show_note(files: VaultFiles, path: VaultPath, as_json: bool) -> None:
    view = _view(files.read(path).data)
    pieces = list(_pieces(view))
    if as_json:
        output.print_json(
            {
                "path": str(path),
                **_counts(view),
                "pieces": [{"line": line, "text": _escaped(text)} for line, text in pieces],
            }
        )
        return
    if view.is_whole:
        output.say(f"{str(path)!r} hides nothing.")
        return
    if pieces:
        rows = [(f"{line:,}", _cut(_escaped(text))) for line, text in pieces]
        output.print_table(("Line", "Hidden"), rows)
    output.say(f"{_escaped(str(path))}: {_told(view)}.")


def _hiding(files: VaultFiles, folder: VaultPath) -> Iterator[tuple[VaultPath, View]]:
    """The notes below `folder` that hide something, or are withheld. One that cannot be read is passed over."""
    from service.errors import AppError

    for entry in files.walk(folder):
        try:
            view = _view(files.read(entry.path).data)
        except (AppError, OSError):
            continue
        if not view.is_whole:
            yield entry.path, view


def _view(data: bytes) -> View:
    from service.guards import outgoing
    from service.vault import text

    return outgoing.view(text.decode(data).text)


def _pieces(view: View) -> Iterator[tuple[int, str]]:
    """Each hidden piece with its line; what goes over several lines is a piece in each."""
    line, counted = 1, 0
    for start, end in view.removed:
        line += view.raw.count("\n", counted, start)
        counted = start
        yield line, view.raw[start:end]


def _counts(view: View) -> dict[str, output.Json]:
    hidden: dict[str, output.Json] = {kind.value: count for kind, count in view.counts.items()}
    return {"hidden": hidden, "withheld": view.withheld or None}


def _told(view: View) -> str:
    if view.withheld:
        return f"withheld whole: {view.withheld}"
    return ", ".join(f"{count} {kind.value}" for kind, count in view.counts.items())


def _escaped(text: str) -> str:
    """Text in which everything can be seen: letters as they are, the rest as Python writes it."""
    return "".join(char if _is_seen(char) else _escape(char) for char in text)


def _is_seen(char: str) -> bool:
    return char == " " or (char.isprintable() and char not in _BLANK and unicodedata.category(char) != "Mn")


_BLANK: Final[Sequence[str]] = "\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5"
"""Printable by Unicode's categories, and drawn as nothing."""


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text):,} characters; --json has all)"
