"""Which declarations of one style win: shorthands taken apart, invalid values skipped, `!important` and order weighed.

Only properties that can make text unseen are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from service.guards.markup import css_doubts, css_tokens
from service.guards.markup.css_colours import colour
from service.guards.markup.css_tokens import Declaration, Kind, Token
from service.guards.markup.words import words

Value = tuple[Token, ...]
T = TypeVar("T")

_DISPLAYS: Final = words(
    "none contents block inline inline-block flow flow-root flex inline-flex grid inline-grid table inline-table "
    "list-item run-in ruby ruby-base ruby-text table-row table-cell table-row-group table-header-group table-footer-group "
    "table-column table-column-group table-caption math -webkit-box -webkit-inline-box -webkit-flex"
)
_EVERYWHERE: Final = frozenset({"initial", "inherit", "unset", "revert", "revert-layer"})
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "display": _DISPLAYS,
    "visibility": frozenset({"visible", "hidden", "collapse"}),
    "content-visibility": frozenset({"visible", "auto", "hidden"}),
    "position": frozenset({"static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"}),
}
_KEPT: Final = words(
    "opacity zoom scale rotate translate transform filter font-size width height max-width max-height min-width "
    "min-height inline-size block-size max-inline-size max-block-size min-inline-size min-block-size line-height "
    "text-indent letter-spacing word-spacing white-space clip clip-path color -webkit-text-fill-color background-color "
    "overflow-x overflow-y left right top bottom margin-left margin-right margin-top margin-bottom mask "
    "mask-image mask-border offset-path offset padding contain content font-size-adjust aspect-ratio grid "
    "grid-template grid-template-rows grid-template-columns grid-auto-rows -webkit-text-security backface-visibility fill "
    "fill-opacity stroke"
) | frozenset(_WORDS)
_SHORT: Final = words("background font overflow inset margin")
_RENAMED: Final = {
    "-webkit-transform": "transform", "-moz-transform": "transform", "-ms-transform": "transform",
    "-webkit-filter": "filter", "-webkit-clip-path": "clip-path", "-webkit-opacity": "opacity", "-moz-opacity": "opacity",
    "-webkit-mask": "mask", "-webkit-mask-image": "mask-image", "-webkit-mask-box-image": "mask-border",
    "mask-border-source": "mask-border", "-webkit-backface-visibility": "backface-visibility", "text-security":
    "-webkit-text-security", "text-fill-color": "-webkit-text-fill-color",
    "inline-size": "width", "block-size": "height", "max-inline-size": "max-width", "max-block-size": "max-height",
    "min-inline-size": "min-width", "min-block-size": "min-height",
    "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom",
    "margin-inline-start": "margin-left", "margin-inline-end": "margin-right",
    "margin-block-start": "margin-top", "margin-block-end": "margin-bottom", "overflow-inline": "overflow-x",
    "overflow-block": "overflow-y", "inset-inline": "inset", "inset-block": "inset", "margin-inline": "margin",
    "margin-block": "margin",
}  # fmt: skip
_SIDES: Final = ("top", "right", "bottom", "left")
_FONT_WORDS: Final = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0, "xx-large": 32.0,
    "xxx-large": 48.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Style:
    """What an element's style comes to: a value for each property kept, and its own variables."""

    values: Mapping[str, Value]
    variables: Mapping[str, Value]
    is_open: bool = False
    """Whether a value is put together by the browser from what is not written here."""


def style(text: str, inherited: Mapping[str, Value]) -> Style:
    """Read a style attribute whose entities are decoded; `inherited` are the variables of the elements around it."""
    declared = css_tokens.declarations(text)
    variables = dict(inherited)
    variables.update((one.name, one.value) for one in declared if one.name.startswith("--"))
    values: dict[str, tuple[bool, Value]] = {}
    for one in declared:
        if one.name == "all":
            values = {name: kept for name, kept in values.items() if kept[0] and not one.is_important}
            continue
        for name, value in _longhands(one, variables):
            if one.is_important or name not in values or not values[name][0]:
                values[name] = (one.is_important, value)
    is_open = any(
        _RENAMED.get(one.name, one.name) in _KEPT | _SHORT
        and css_doubts.is_open(css_tokens.substituted(one.value, variables))
        for one in declared
    )
    return Style({name: value for name, (_, value) in values.items()}, variables, is_open)


def _longhands(declared: Declaration, variables: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    name = _RENAMED.get(declared.name, declared.name)
    value = css_tokens.substituted(declared.value, variables)
    if not value:
        return
    match name:
        case "background":
            painted = _painted(value)
            yield "background-color", painted or (Token(Kind.WORD, "transparent"),)
        case "font":
            size = _font_size(value)
            if size is not None:
                yield "font-size", (size,)
        case "overflow":
            yield "overflow-x", value[:1]
            yield "overflow-y", value[-1:]
        case "inset" | "margin":
            for side, one in zip(_SIDES, four(value), strict=True):
                yield (f"margin-{side}" if name == "margin" else side), (one,)
        case _ if name in _KEPT and _is_valid(name, value):
            yield name, value


def _is_valid(name: str, value: Value) -> bool:
    if len(value) == 1 and value[0].text in _EVERYWHERE:
        return True
    if name in _WORDS:
        known = all(token.kind is Kind.WORD and token.text in _WORDS[name] for token in value)
        return known and (len(value) == 1 or (name == "display" and value[0].text != "none"))
    if name in ("color", "background-color", "-webkit-text-fill-color"):
        is_word = value[0].text == "currentcolor"
        return len(value) == 1 and (is_word or colour(value[0]) is not None)
    if name == "opacity":
        return len(value) == 1 and value[0].kind in (Kind.NUMBER, Kind.PERCENT, Kind.FUNCTION)
    if name in ("font-size", "left", "right", "top", "bottom", "text-indent") or name.endswith(("width", "height")):
        return value[0].kind is not Kind.NUMBER or value[0].value == 0 or name == "line-height"
    return True


def _painted(value: Value) -> Value:
    """The colour that `background` paints: a plain one, or that of a gradient from one colour to the same."""
    for token in value:
        if token.text == "currentcolor":
            return (token,)
        if token.kind is Kind.FUNCTION and token.text.endswith("gradient"):
            steps = [(arg, one) for arg in token.args if (one := colour(arg)) is not None]
            if steps and all(one.looks_like(steps[0][1]) for _, one in steps):
                return (steps[0][0],)
        elif colour(token) is not None:
            return (token,)
    return ()


def _font_size(value: Value) -> Token | None:
    for token in value:
        is_size = token.kind in (Kind.LENGTH, Kind.PERCENT) or (token.kind is Kind.NUMBER and token.value == 0)
        if is_size or (token.kind is Kind.FUNCTION and token.text != "oblique"):
            return token
        if token.kind is Kind.WORD and token.text in _FONT_WORDS:
            return Token(Kind.LENGTH, "px", _FONT_WORDS[token.text])
    return None


def four(sides: Sequence[T]) -> tuple[T, T, T, T]:
    """Top, right, bottom and left of one to four values, as CSS fills them up."""
    first = sides[0]
    second = sides[1] if len(sides) > 1 else first
    third = sides[2] if len(sides) > 2 else first
    return (first, second, third, sides[3] if len(sides) > 3 else second)
