"""Front matter as people and programs write it, piece by piece, so that a test knows which bytes belong to which property.

Every shape that an editor of other people's YAML has been seen to damage: complaints 13 to 19 and the issue's list.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

VALUES = (
    "",
    " text",
    "   spaced   ",
    "\ttab",
    "\ta\tb \t# c\td",
    " \t[a,\tb]\t",
    ' "quoted: yes"',
    " 'single ''s'",
    " 22:30",
    " 1.10",
    " 010",
    " on",
    " 2026-03-16",
    " 2026-03-16T10:00:00",
    " ~",
    " text # with a remark",
    ' "[[Note]]"  # why',
    " [a, 'b',c]",
    " [ a , b ] # flow",
    " []",
    " [a,  # one\n  b]",
    " {k: v, l: [1, 2]}",
    " # only a remark",
    "\n  - a\n  - b",
    "\n- a # first\n# between\n- 'b'",
    " # list\n    - 1.10\n    - on # item\n    -\n    - two\n      lines",
    "\n  - k: v\n    l: w\n  - [x]",
    "\n  inner: 1\n  other:\n    deep: [1]",
    " |\n  literal\n   more\n\n  ---\n  # no remark",
    " |- # header remark\n  one\n  two\n",
    " >-\n  folded\n  text\n\n",
    " |+\n  kept\n\n\n",
    " plain\n  over lines",
    ' "quoted\n  over lines"',
    " " + "long " * 60,
    " https://example.org/a?b=c#d",
    " &name anchored",
    " &list [p, q]",
    " !!str 5",
    " !other x",
    " a --- b",
)
"""What may stand behind a property's colon; LF for every line end."""

BETWEEN = ("", "", "", "# a remark\n", "\n", "  # set in\n", "# --- no fence\n", "\n\n# two\n")
BODIES = ("", "body\n", "no end", "---\nrule\n", "key: value\n---\n", "\ttab\n# Heading\n\n- [ ] task  \n")
NAMES = ("title", "tags", "on", "Zeit", "date created", "x-1", '"quoted"', "'22'", "日本", "aliases", "e.f")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a front matter: those of one property, or remarks and blank lines (`name` is empty)."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Made:
    """A note with front matter. `pieces` are what stands between the fences."""

    head: str
    pieces: tuple[Piece, ...]
    tail: str

    @property
    def text(self) -> str:
        return self.head + self.inner + self.tail

    @property
    def inner(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(piece.name for piece in self.pieces if piece.name)


@st.composite
def notes(draw: st.DrawFn) -> Made:
    """A note whose front matter is put together from all of these."""
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    margin = draw(st.sampled_from(["", "", "", "  "]))
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    values = [draw(st.sampled_from(VALUES)) for _ in names]
    anchored = any("&name" in value for value in values)
    if anchored and draw(st.booleans()):
        names, values = [*names, "refers"], [*values, draw(st.sampled_from([" *name", "\n  - *name\n  - x"]))]
    if names and draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(names)))
        names, values = [*names[:at], names[0], *names[at:]], [*values[:at], " twice", *values[at:]]
    pieces = []
    above = ""
    for name, value in zip(names, values, strict=True):
        pieces.append(Piece("", _lines(draw(_between(above)), margin, end)))
        pieces.append(Piece(_bare(name), _lines(f"{name}:{value}\n", margin, end)))
        above = value
    pieces.append(Piece("", _lines(draw(_between(above)), margin, end)))
    fence = draw(st.sampled_from(["---", "---", "---  "]))
    tail = fence + draw(st.sampled_from(["", end + draw(st.sampled_from(BODIES)).replace("\n", end)]))
    return Made(f"{fence}{end}", tuple(pieces), tail)


def _between(above: str) -> st.SearchStrategy[str]:
    """What may stand below a value without being part of it."""
    if "|+" in above:
        return st.sampled_from(["", "# a remark\n"])
    return st.sampled_from(
        [lines for lines in BETWEEN if "  #" not in lines] if above.lstrip()[:1] in "|>" else BETWEEN
    )


def _lines(text: str, margin: str, end: str) -> str:
    lines = text.split("\n")
    return end.join([margin + line if line else line for line in lines[:-1]] + lines[-1:])


def _bare(name: str) -> str:
    return name.strip("\"'")
