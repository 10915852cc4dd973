"""Whether a style makes an element's text unseen. Rules: docs/explanation/guards.md, "Hidden elements".

Colour, letter size, opacity and variables come down from the elements around, so a `Look` goes with each of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from service.guards.markup import css_cascade, css_doubts
from service.guards.markup.css_cascade import Style, Value
from service.guards.markup.css_colours import Colour, colour
from service.guards.markup.css_lengths import pixels, share
from service.guards.markup.css_tokens import MAX_STYLE_CHARS, Kind, Token

MIN_OPACITY: Final = 0.05
"""Opacity, alpha, zoom or scale at or below which a text is not seen."""
MIN_LETTER_PX: Final = 2.0
"""Letters of this size or less cannot be read."""
MIN_BOX_PX: Final = 1.0
"""A clip of this size or less shows nothing."""
MIN_CUT_PX: Final = 4.0
"""A box of this size or less, with what hangs over cut off, shows no letter."""
FAR_OUT_PX: Final = -500.0
"""An offset to the left or upwards of this much or more leaves the page."""
FAR_AWAY_PX: Final = 5000.0
"""An offset to the right or downwards of this much or more is where nobody looks."""

_CLIPPED: Final = frozenset({"hidden", "clip", "scroll", "auto", "-moz-hidden-unscrollable"})
_FAR_SIDES: Final = (
    "left", "right", "top", "bottom", "margin-left", "margin-right", "margin-top", "margin-bottom", "text-indent",
    "letter-spacing", "word-spacing",
)  # fmt: skip
_THEME_BACKGROUND: Final = re.compile(r"var\(--(background-(primary|secondary)|canvas|bg-color)")
"""Obsidian's names for what lies behind a text: in that colour it cannot be seen."""
_FONT_WORDS: Final = {"smaller": 0.83, "larger": 1.2}


@dataclass(frozen=True, slots=True)
class Look:
    """What an element hands down to those inside it."""

    letter_px: float = 16.0
    opacity: float = 1.0
    colour: Colour | None = None
    background: Colour | None = None
    variables: Mapping[str, Value] = field(default_factory=dict)
    is_flat: bool = False
    """Whether an element around is a box without height or width: what fills it and cuts off shows nothing."""
    is_unfilled: bool = False
    """Whether letters of a drawing have no colour of their own."""
    is_stroked: bool = False
    """Whether they have an outline."""


PLAIN: Final = Look()
"""The page itself: its colours are the theme's, and unknown."""


def look(text: str, around: Look) -> tuple[bool, Look]:
    """Whether an element with this style shows nothing, and what it hands down.

    Args:
        text: the style attribute, entities decoded; empty for none.
        around: what the element around it hands down.
    """
    if len(text) > MAX_STYLE_CHARS:
        return True, around
    style = css_cascade.style(text, around.variables)
    inner = _inner(style, around)
    hides = style.is_open or _hides(style.values, inner, around)
    return hides, around if inner == around else inner  # the same one, so that it is known when it comes again


def _inner(style: Style, around: Look) -> Look:
    values = style.values
    letter_px = _letter_px(values.get("font-size", ()), around.letter_px)
    opacity = _share(values.get("opacity", ()))
    inner = replace(
        around,
        letter_px=letter_px,
        opacity=around.opacity * (1.0 if opacity is None else max(0.0, min(1.0, opacity))),
        variables=style.variables,
        is_flat=_is_flat(values, around),
        is_unfilled=_is_unfilled(values, around),
        is_stroked=_is_painted(values["stroke"][0]) if values.get("stroke") else around.is_stroked,
    )
    text = values.get("-webkit-text-fill-color") or values.get("color")
    if text and (found := colour(text[0])) is not None:
        inner = replace(inner, colour=found)
    painted = values.get("background-color")
    if painted:
        found = inner.colour if painted[0].text == "currentcolor" else colour(painted[0])
        if found is not None and found.alpha > 0.5:
            inner = replace(inner, background=found)
    return inner


def _is_flat(values: Mapping[str, Value], around: Look) -> bool:
    sizes = [_length(values[axis], around) for axis in ("width", "height") if values.get(axis)]
    known = [size for size in sizes if size is not None]
    return any(size <= MIN_CUT_PX for size in known) or (around.is_flat and not known)


def _is_unfilled(values: Mapping[str, Value], around: Look) -> bool:
    if alpha := values.get("fill-opacity"):
        found = share(alpha[0])
        if found is not None and found <= MIN_OPACITY:
            return True
    return not _is_painted(values["fill"][0]) if values.get("fill") else around.is_unfilled


def _is_painted(token: Token) -> bool:
    """Whether `fill` or `stroke` paints anything."""
    found = colour(token)
    return token.text != "none" and (found is None or found.alpha > MIN_OPACITY)


def _hides(values: Mapping[str, Value], inner: Look, around: Look) -> bool:
    return (
        _is_word(values, "display", "none", "table-column", "table-column-group")
        or _is_word(values, "visibility", "hidden", "collapse")
        or _is_word(values, "content-visibility", "hidden")
        or inner.opacity <= MIN_OPACITY
        or inner.letter_px <= MIN_LETTER_PX
        or _is_unseen_colour(inner, around)
        or _is_tiny_box(values, inner, around)
        or _is_far_away(values, inner)
        or _is_transformed_away(values, inner)
        or _is_clipped_away(values, inner)
        or css_doubts.shows_nothing(values, around.letter_px)
    )


def _is_word(values: Mapping[str, Value], name: str, *words: str) -> bool:
    return bool(values.get(name)) and values[name][0].text in words


def _share(value: Value) -> float | None:
    return share(value[0]) if value else None


def _letter_px(value: Value, around_px: float) -> float:
    if not value:
        return around_px
    if value[0].text in _FONT_WORDS:
        return around_px * _FONT_WORDS[value[0].text]
    found = pixels(value[0], around_px, around_px)
    return 16.0 if found is None else found


def _is_unseen_colour(inner: Look, around: Look) -> bool:
    text, ground = inner.colour, inner.background
    if text is None:
        return False
    if text.alpha <= MIN_OPACITY:
        return True
    if ground is not None and text.looks_like(ground):
        return True
    is_named = text is not around.colour and _THEME_BACKGROUND.match(text.name) is not None
    return ground is None and is_named


def _is_tiny_box(values: Mapping[str, Value], inner: Look, around: Look) -> bool:
    """CSS Overflow 3: a box with nothing to show in, and what hangs over cut off."""
    is_clipped = any(_is_word(values, f"overflow-{axis}", *_CLIPPED) for axis in "xy")
    if not is_clipped and not css_doubts.is_contained(values):
        return False
    if css_doubts.is_sized_as_empty(values) and "height" not in values and "min-height" not in values:
        return True
    if css_doubts.is_ratio_extreme(values):
        return True
    for axis in ("width", "height"):
        least = _length(values.get(f"min-{axis}", ()), inner)
        if least is not None and least > MIN_CUT_PX:
            continue
        size = _length(values.get(axis, ()), inner)
        if around.is_flat and (size is None or values[axis][0].kind is Kind.PERCENT):
            return True
        if any(
            size is not None and size <= MIN_CUT_PX for size in (size, _length(values.get(f"max-{axis}", ()), inner))
        ):
            return True
    return _is_line_out(values, inner)


def _is_line_out(values: Mapping[str, Value], inner: Look) -> bool:
    """Whether a box that cuts off is smaller than where its first line begins."""
    width, height = _length(values.get("width", ()), inner), _length(values.get("height", ()), inner)
    indent = _length(values.get("text-indent", ()), inner)
    line = _length(values.get("line-height", ()), inner)
    if line is not None and values["line-height"][0].kind is Kind.NUMBER:
        line *= inner.letter_px
    is_indented_out = indent is not None and indent >= (500 if width is None else min(500.0, width))
    is_low = line is not None and height is not None and (line - inner.letter_px) / 2 >= height
    return is_indented_out or is_low or (line is not None and line <= 0.1)


def _is_far_away(values: Mapping[str, Value], inner: Look) -> bool:
    return any(
        (offset := _length(values.get(name, ()), inner)) is not None and (offset <= FAR_OUT_PX or offset >= FAR_AWAY_PX)
        for name in _FAR_SIDES
    ) or any(_is_moved_far(token, inner) for token in values.get("translate", ()))


def _is_moved_far(token: Token, inner: Look) -> bool:
    offset = pixels(token, inner.letter_px, 200.0)
    return offset is not None and (offset <= FAR_OUT_PX or offset >= FAR_AWAY_PX)


def _length(value: Value, inner: Look) -> float | None:
    return pixels(value[0], inner.letter_px, 500.0) if value else None


def _is_transformed_away(values: Mapping[str, Value], inner: Look) -> bool:
    for name in ("zoom", "scale"):
        sizes = [size for token in values.get(name, ()) if (size := share(token)) is not None]
        if any(abs(size) <= MIN_OPACITY for size in sizes[:2]):
            return True
    if any(_is_transforming_away(token, inner) for token in values.get("transform", ())):
        return True
    for token in values.get("filter", ()):
        if token.kind is Kind.FUNCTION and token.text == "opacity" and token.args:
            amount = share(token.args[0])
            if amount is not None and amount <= MIN_OPACITY:
                return True
    return False


def _is_transforming_away(token: Token, inner: Look) -> bool:
    """CSS Transforms 1 and 2: scaled to nothing, moved off the page, or turned so that only its edge is seen."""
    args = [arg for arg in token.args if arg.kind is not Kind.MARK]
    numbers = [pixels(arg, inner.letter_px, 200.0) for arg in args]
    sizes = [share(arg) for arg in args]
    match token.text:
        case "scale" | "scalex" | "scaley" | "scale3d":
            return any(size is not None and abs(size) <= MIN_OPACITY for size in sizes[:2])
        case "matrix" if len(sizes) == 6:
            a, b, c, d = (size or 0.0 for size in sizes[:4])
            return abs(a * d - b * c) <= MIN_OPACITY**2 or _is_any_far(numbers[4:])
        case "matrix3d" if len(sizes) == 16:
            a, b, c, d = (sizes[at] or 0.0 for at in (0, 1, 4, 5))
            return abs(a * d - b * c) <= MIN_OPACITY**2 or _is_any_far(numbers[12:14])
        case "translate" | "translatex" | "translatey" | "translate3d":
            return _is_any_far(numbers[:2])
        case "rotatex" | "rotatey":
            return bool(numbers) and numbers[0] is not None and abs(numbers[0] % 180 - 90) < 2
        case _:
            return False


def _is_any_far(offsets: list[float | None]) -> bool:
    return any(offset is not None and (offset <= FAR_OUT_PX or offset >= FAR_AWAY_PX) for offset in offsets)


def _is_clipped_away(values: Mapping[str, Value], inner: Look) -> bool:
    for name in ("clip", "clip-path"):
        for token in values.get(name, ()):
            if token.kind is Kind.FUNCTION and _is_empty_shape(token, inner):
                return True
    return False


def _is_empty_shape(token: Token, inner: Look) -> bool:
    """CSS Masking 1 and CSS Shapes 1: whether a clip leaves nothing."""
    args = [arg for arg in token.args if arg.kind is not Kind.MARK]
    words = [arg.text for arg in args]
    args = args[: min((words.index(word) for word in ("round", "at") if word in words), default=len(args))]
    sizes = [0.0 if arg.text == "auto" else pixels(arg, inner.letter_px, 100.0) for arg in args]
    known = [size for size in sizes if size is not None]
    match token.text:
        case "rect" if len(known) == 4 and "auto" not in words:
            top, right, bottom, left = known
            return bottom - top <= MIN_BOX_PX or right - left <= MIN_BOX_PX
        case "inset" if known and all(arg.kind is Kind.PERCENT or arg.value == 0 for arg in args):
            top, right, bottom, left = css_cascade.four(known)
            return top + bottom >= 99.0 or left + right >= 99.0
        case "inset" if known:
            top, right, bottom, left = css_cascade.four(known)
            return top + bottom >= 1000 or left + right >= 1000
        case "circle" | "ellipse" if known:
            return min(known) <= MIN_BOX_PX
        case "polygon":
            points = [*zip(known[::2], known[1::2], strict=False)]
            return bool(points) and _area(points) <= MIN_BOX_PX
        case _:
            return False


def _area(points: list[tuple[float, float]]) -> float:
    turned = [*points[1:], points[0]]
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(points, turned, strict=True))) / 2
