"""The HTML that CommonMark knows: what opens and closes an HTML block (4.6), and tags among text (6.6).

White space in a tag is what HTML calls so; CommonMark names blanks, tabs and line ends only, but its implementations take
the others, too, and here a doubt is settled for the tag. Every pattern is possessive: none looks at a character twice.
"""

from __future__ import annotations

import re
from typing import Final

from service.guards.markdown import entities
from service.guards.markdown.model import Tag

_SPACE: Final = r"[ \t\n\r\f\v]"
_NAME: Final = r"[A-Za-z][A-Za-z0-9-]*+"
_VALUE: Final = r"""(?:[^\x00-\x20"'=<>`]++|'[^']*+'|"[^"]*+")"""
_ATTRIBUTE: Final = rf"{_SPACE}++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:{_SPACE}*+={_SPACE}*+{_VALUE})?+"
_OPEN: Final = rf"<({_NAME})((?:{_ATTRIBUTE})*+){_SPACE}*+/?>"
_CLOSE: Final = rf"</({_NAME}){_SPACE}*+>"
_TAG: Final = re.compile(rf"{_OPEN}|{_CLOSE}")
_ATTRIBUTE_PARTS: Final = re.compile(rf"{_SPACE}++([A-Za-z_:][A-Za-z0-9_.:-]*+)(?:{_SPACE}*+={_SPACE}*+({_VALUE}))?+")

_BLOCK_NAMES: Final = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt"
    " fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link"
    " main menu menuitem nav noframes ol optgroup option p param search section source summary table tbody td tfoot th"
    " thead title tr track ul"
)
"""CommonMark 0.31 and, from 0.30, `source`."""
_LITERAL: Final = re.compile(r"<(?:script|pre|style|textarea)(?=[ \t\r\f\v>]|\Z)", re.IGNORECASE)
_STARTS: Final = (
    (1, _LITERAL),
    (2, re.compile(r"<!--")),
    (3, re.compile(r"<\?")),
    (4, re.compile(r"<![A-Za-z]")),
    (5, re.compile(r"<!\[CDATA\[")),
    (6, re.compile(rf"</?(?:{'|'.join(_BLOCK_NAMES.split())})(?=[ \t\r\f\v>]|/>|\Z)", re.IGNORECASE)),
)
_ALONE: Final = 7
_WHOLE_LINE: Final = re.compile(rf"(?:{_OPEN}|{_CLOSE}){_SPACE}*+\Z")
_ENDS: Final = {
    1: re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    2: re.compile(r"-->"),
    3: re.compile(r"\?>"),
    4: re.compile(r">"),
    5: re.compile(r"\]\]>"),
}


def block_start(text: str, start: int, end: int, *, in_paragraph: bool) -> int:
    """Which condition opens an HTML block in the line `text[start:end]`, which begins with `<`; 0 when none does."""
    for condition, opening in _STARTS:
        if opening.match(text, start, end):
            return condition
    return _ALONE if not in_paragraph and _WHOLE_LINE.match(text, start, end) else 0


def block_end(condition: int) -> re.Pattern[str] | None:
    """What closes an HTML block in the line it stands in; None when a blank line does."""
    return _ENDS.get(condition)


def tag(text: str, start: int, offset: int) -> Tag | None:
    """The tag that begins at `text[start]`, placed `offset` further on; None when none does."""
    found = _TAG.match(text, start)
    if found is None:
        return None
    name, attributes, closed = found.groups()
    return Tag(
        start + offset,
        found.end() + offset,
        (closed or name).lower(),
        closed is not None,
        _attributes(attributes or ""),
    )


def _attributes(text: str) -> tuple[tuple[str, str], ...]:
    values: dict[str, str] = {}
    for name, value in _ATTRIBUTE_PARTS.findall(text):
        written = value[1:-1] if value[:1] in {'"', "'"} else value
        values.setdefault(name.lower(), entities.attribute(written))
    return tuple(values.items())
