"""HTML5's tokens, with their places: tags, comments (bogus ones too), and what a text's end leaves unfinished.

Source: HTML Standard, 13.2.5 (Tokenization). Where the standard asks the tree builder (whether `<textarea>` opens a text
area, whether `<![CDATA[` is allowed), the answer is that of ordinary HTML, save within SVG and MathML.
Takes time linear in the length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from service.guards.markup.words import words

RAW_TEXT: Final = words("script style title textarea xmp iframe noembed noframes noscript plaintext")
"""Elements whose content is characters up to their own end tag (13.2.6.4.7 and 13.2.6.4.4)."""

_FOREIGN: Final = frozenset({"svg", "math"})
BREAKS_OUT: Final = words(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu "
    "meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var font"
)
"""HTML that ends the SVG or MathML around it (13.2.6.5)."""
_LEAVES_FOREIGN: Final = BREAKS_OUT | words("foreignobject desc title annotation-xml mi mo mn ms mtext")
"""That, and elements of SVG and MathML that hold HTML again."""
_MARKUP: Final = re.compile(r"<[A-Za-z!?/]")
_NAME: Final = re.compile(r"[A-Za-z][^\t\n\f\r />]*")
_ATTRIBUTE: Final = re.compile(
    r"[\t\n\f\r /]*(?:(?P<end>>)|(?P<name>=?[^\t\n\f\r />=]*)"
    r"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\t\n\f\r >\"'][^\t\n\f\r >]*)|(?=>)))?)"
)
_OPEN_VALUE: Final = re.compile(r"[\t\n\f\r ]*=[\t\n\f\r ]*[\"']")
_COMMENT_END: Final = re.compile(r"--!?>")
_SCRIPT: Final = re.compile(r"<!--|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Start:
    """A start tag. Names in lower case; values decoded; the first of two attributes wins.

    `is_foreign`: it belongs to SVG or MathML; `is_empty`: it is of that kind and closes itself.
    """

    start: int
    end: int
    name: str
    attributes: dict[str, str]
    is_foreign: bool = False
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """An end tag."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, processing instruction, declaration or anything else that HTML takes for a comment."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A tag that the text's end cuts off: a browser drops it, and what it has swallowed."""

    start: int
    end: int


Token: TypeAlias = Start | End | Comment | Unfinished


def tokens(text: str, start: int, end: int) -> Iterator[Token]:
    """The tokens in `text[start:end]`, characters left out."""
    at = start
    foreign = 0
    """Open SVG and MathML elements; none once HTML has begun within."""
    while (found := _MARKUP.search(text, at, end)) is not None:
        token = _token(text, found.start(), end, is_foreign=foreign > 0)
        if token is None:
            at = found.start() + 2
            continue
        at = token.end
        if isinstance(token, Start):
            is_foreign = foreign > 0 or token.name in _FOREIGN
            if is_foreign:
                is_empty = text[at - 2] == "/" and token.name not in _LEAVES_FOREIGN
                token = replace(token, is_foreign=True, is_empty=is_empty)
            if token.name in _LEAVES_FOREIGN:
                foreign = 0
            elif token.name in _FOREIGN and not token.is_empty:
                foreign += 1
            elif token.name in RAW_TEXT and not is_foreign:
                at = _end_of_raw_text(text, token.name, at, end)
        elif isinstance(token, End) and token.name in _FOREIGN:
            foreign = max(0, foreign - 1)
        yield token


def _token(text: str, at: int, end: int, *, is_foreign: bool) -> Token | None:
    mark = text[at + 1]
    if mark == "!":
        return _declaration(text, at, end, is_foreign=is_foreign)
    if mark == "?":
        return _bogus(text, at, end)
    if mark == "/":
        after = text[at + 2 : at + 3] if at + 2 < end else ""
        if after == ">":
            return None  # it is nothing, and hides nothing
        if not (after.isascii() and after.isalpha()):
            return _bogus(text, at, end)
    return _tag(text, at, end)


def _declaration(text: str, at: int, end: int, *, is_foreign: bool) -> Comment:
    if text.startswith("<!--", at):
        if text.startswith((">", "->"), at + 4):
            return Comment(at, min(end, text.index(">", at) + 1))
        closing = _COMMENT_END.search(text, at + 4, end)
        return Comment(at, closing.end() if closing else end)
    if is_foreign and text.startswith("<![CDATA[", at):
        closed = text.find("]]>", at, end)
        return Comment(at, closed + 3 if closed >= 0 else end)
    return _bogus(text, at, end)


def _bogus(text: str, at: int, end: int) -> Comment:
    closed = text.find(">", at, end)
    return Comment(at, closed + 1 if closed >= 0 else end)


def _tag(text: str, at: int, end: int) -> Token:
    is_closing = text[at + 1] == "/"
    name = _NAME.match(text, at + 1 + is_closing, end)
    if name is None:  # cannot be: the caller saw a letter
        return Unfinished(at, end)
    attributes: dict[str, str] = {}
    cursor = name.end()
    while cursor < end:
        found = _ATTRIBUTE.match(text, cursor, end)
        if found is None or found.end() == cursor:
            break
        if found["end"]:
            lower = name[0].lower()
            return End(at, found.end(), lower) if is_closing else Start(at, found.end(), lower, attributes)
        cursor = found.end()
        value = found["double"] or found["single"] or found["bare"] or ""
        if found["name"]:
            attributes.setdefault(found["name"].lower(), html.unescape(value))
        if _OPEN_VALUE.match(text, cursor, end):
            break
    return Unfinished(at, end)


def _end_of_raw_text(text: str, name: str, at: int, end: int) -> int:
    if name == "plaintext":
        return end
    if name == "script":
        return _end_of_script(text, at, end)
    closing = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(text, at, end)
    return closing.start() if closing else end


def _end_of_script(text: str, at: int, end: int) -> int:
    """13.2.5.15 to 13.2.5.32: within `<!--` of a script, `<script>` opens a level that its own `</script>` closes."""
    is_escaped = is_double = False
    while (found := _SCRIPT.search(text, at, end)) is not None:
        at = found.end()
        if found[0] == "<!--":
            is_escaped, at = True, at - 2  # "<!-->" closes itself again
        elif found[0] == "-->":
            is_escaped = is_double = False
        elif found[1] and not is_double:
            return found.start()
        elif found[1]:
            is_double = False
        elif is_escaped:
            is_double = True
    return end
