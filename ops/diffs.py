"""The difference between two versions of a file, for a person: unified, bounded, coloured on a terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Final

from ops import output

MAX_LINES_A_FILE: Final = 40
MAX_BYTES: Final = 1_000_000
"""Larger files are told by size: comparing them line by line takes too long."""
_CONTEXT: Final = 2
_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


def show(name: str, now: bytes | None, then: bytes | None) -> None:
    """Print what would change in `name`: its bytes now (None: not there) and those it will have."""
    from rich.text import Text

    screen = output.console()
    for line in lines(name, now, then):
        screen.print(Text(output.printable(line), style=_COLOURS.get(line[:1], "")))


def lines(name: str, now: bytes | None, then: bytes | None) -> Iterator[str]:
    """The lines of that, without line ends. A carriage return at a line's end is shown as `\\r`."""
    old, new = _text(now), _text(then)
    if old is None or new is None:
        yield f"  {name}: {_size(now)} -> {_size(then)}, not shown (no text, or too long)"
        return
    found = list(difflib.unified_diff(old, new, f"now/{name}", f"then/{name}", n=_CONTEXT, lineterm=""))
    yield from found[:MAX_LINES_A_FILE]
    if len(found) > MAX_LINES_A_FILE:
        yield f"  ... {len(found) - MAX_LINES_A_FILE:,} more lines"


def _text(data: bytes | None) -> list[str] | None:
    if data is None:
        return []
    if len(data) > MAX_BYTES or b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    shown = [line.replace("\r", "\\r") for line in text.split("\n")]
    return shown[:-1] if shown[-1] == "" else [*shown[:-1], shown[-1] + "  (no line end)"]


def _size(data: bytes | None) -> str:
    return "nothing" if data is None else f"{len(data):,} bytes"
