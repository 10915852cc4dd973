"""Styles that show nothing by rarer means, and styles that nobody here can work out: those count as showing nothing.

A note for people needs none of them, so that a doubt costs little; a list of tricks would never be complete.
Sources: CSS Values 5 (`if()`, `attr()`, `env()`), Masking 1, Shapes 2, Motion Path 1, Containment 2, Fonts 5, Content 3,
Grid 2, Transforms 2; each was looked at in a browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from service.guards.markup.css_lengths import pixels, share
from service.guards.markup.css_tokens import Kind, Token
from service.guards.markup.words import words

Value = tuple[Token, ...]

_MIN: Final = 0.05
_DRAWS: Final = words("mask mask-image mask-border offset-path offset")
"""Properties that stay `none` in a note."""
_COUNTED: Final = words("opacity zoom scale font-size")
_TRACKS: Final = words("grid-template-rows grid-template-columns grid-template grid grid-auto-rows")
_SHAPES: Final = words("rect inset circle ellipse polygon")
_JUDGED_TRANSFORMS: Final = words("scale scalex scaley scale3d scalez matrix matrix3d var")
_SUBSTITUTES: Final = words("if env attr inherit random random-item toggle first-valid")
_DROPS: Final = words("right bottom")


def is_open(value: Sequence[Token]) -> bool:
    """Whether a value is put together by the browser from what is not written here."""
    return any(
        token.kind is Kind.FUNCTION
        and (token.text in _SUBSTITUTES or token.text.startswith("--") or is_open(token.args))
        for token in value
    )


def shows_nothing(values: Mapping[str, Value], letter_px: float) -> bool:
    """Whether one of the rarer properties, or one that cannot be worked out, takes the text away."""
    return (
        any(_is_drawn(values.get(name, ())) for name in _DRAWS)
        or any(_is_unknown(token, letter_px) for name in _COUNTED for token in values.get(name, ()))
        or any(_is_nothing(values.get(name, ())) for name in _TRACKS)
        or any(
            token.kind in (Kind.FUNCTION, Kind.OTHER) and token.text != "string" for token in values.get("content", ())
        )
        or _word(values, "-webkit-text-security") not in ("", "none")
        or any(token.kind is Kind.NUMBER and token.value <= 0.1 for token in values.get("font-size-adjust", ()))
        or _is_squeezed(values, letter_px)
        or _is_clipped_by_unknown(values)
        or _is_turned_away(values)
        or _is_filtered_away(values, letter_px)
        or any(_is_beyond(values.get(side, ())) for side in _DROPS)
    )


def is_contained(values: Mapping[str, Value]) -> bool:
    """Whether `contain` cuts off what hangs over."""
    return any(token.text in ("strict", "content", "paint") for token in values.get("contain", ()))


def is_sized_as_empty(values: Mapping[str, Value]) -> bool:
    """Whether `contain` sizes a box as if it held nothing."""
    return any(token.text in ("strict", "size", "inline-size") for token in values.get("contain", ()))


def is_ratio_extreme(values: Mapping[str, Value]) -> bool:
    """Whether `aspect-ratio` leaves a box no height or no width to speak of."""
    numbers = [token.value for token in values.get("aspect-ratio", ()) if token.kind is Kind.NUMBER]
    if not numbers:
        return False
    ratio = numbers[0] / numbers[1] if len(numbers) > 1 and numbers[1] else numbers[0]
    return ratio > 100 or ratio < 0.01


def _word(values: Mapping[str, Value], name: str) -> str:
    value = values.get(name)
    return value[0].text if value else ""


def _is_drawn(value: Value) -> bool:
    return any(token.kind in (Kind.FUNCTION, Kind.OTHER) and token.text != "var" for token in value)


def _is_unknown(token: Token, letter_px: float) -> bool:
    """Whether a number is written as a sum that cannot be worked out. A theme's variable counts as something ordinary."""
    if token.kind is not Kind.FUNCTION or token.text == "var":
        return False
    plain = _without_variables(token)
    return pixels(plain, letter_px, 100.0) is None


def _without_variables(token: Token) -> Token:
    if token.kind is not Kind.FUNCTION:
        return token
    if token.text == "var":
        return Token(Kind.NUMBER, "", 16.0)
    return Token(token.kind, token.text, token.value, tuple(map(_without_variables, token.args)))


def _is_nothing(value: Value) -> bool:
    """Whether a track of a grid has no size."""
    return any(token.kind in (Kind.NUMBER, Kind.LENGTH, Kind.PERCENT) and token.value == 0 for token in value)


def _is_squeezed(values: Mapping[str, Value], letter_px: float) -> bool:
    value = values.get("letter-spacing", ())
    space = pixels(value[0], letter_px, letter_px) if value else None
    return space is not None and space <= -0.35 * letter_px


def _is_clipped_by_unknown(values: Mapping[str, Value]) -> bool:
    """Whether a clip has a shape that is not worked out, or lies off the element."""
    for token in (*values.get("clip-path", ()), *values.get("clip", ())):
        if token.kind is Kind.OTHER or (token.kind is Kind.FUNCTION and token.text not in _SHAPES | {"var"}):
            return True
        marks = [arg.text for arg in token.args]
        if "at" in marks and any(_is_off(arg) for arg in token.args[marks.index("at") + 1 :]):
            return True
        if token.text == "polygon":
            points = [arg.value for arg in token.args if arg.kind in (Kind.NUMBER, Kind.LENGTH, Kind.PERCENT)]
            if all(x <= 0 for x in points[::2]) or all(y <= 0 for y in points[1::2]):
                return True
    return False


def _is_off(token: Token) -> bool:
    most = 100.0 if token.kind is Kind.PERCENT else 500.0
    return token.kind is Kind.FUNCTION or token.value < 0 or token.value > most


def _is_turned_away(values: Mapping[str, Value]) -> bool:
    one_sided = _word(values, "backface-visibility") == "hidden"
    rotate = values.get("rotate", ())
    if any(token.text in ("x", "y") for token in rotate) or len(rotate) > 2:
        return True
    return any(_is_turning_away(token, one_sided=one_sided) for token in values.get("transform", ()))


def _is_turning_away(token: Token, *, one_sided: bool) -> bool:
    name, args = token.text, [arg for arg in token.args if arg.kind is not Kind.MARK]
    if token.kind is not Kind.FUNCTION:
        return False
    match name:
        case "translatez":
            turns_away = any(arg.value != 0 for arg in args)
        case "translate3d":
            turns_away = any(arg.value != 0 for arg in args[2:]) or any(map(_is_whole, args[:2]))
        case "translate" | "translatex" | "translatey":
            turns_away = any(map(_is_whole, args))
        case "rotate" | "rotatez" | "rotatex" | "rotatey" | "skew" | "skewx" | "skewy":
            turns_away = _is_edge(name, [pixels(arg, 16.0) for arg in args], one_sided=one_sided)
        case _:
            turns_away = name not in _JUDGED_TRANSFORMS
    return turns_away


def _is_edge(name: str, angles: Sequence[float | None], *, one_sided: bool) -> bool:
    """Whether a turn or a slant by these degrees, None for one that is not worked out, leaves nothing to see."""
    if any(angle is None for angle in angles):
        return True
    turns = [(angle or 0.0) % 360 for angle in angles]
    if name.startswith("skew"):
        return any(abs(turn % 180 - 90) < 5 for turn in turns)
    return name in ("rotatex", "rotatey") and one_sided and any(90 < turn < 270 for turn in turns)


def _is_whole(token: Token) -> bool:
    return token.kind is Kind.PERCENT and abs(token.value) >= 100


def _is_filtered_away(values: Mapping[str, Value], letter_px: float) -> bool:
    for token in values.get("filter", ()):
        if token.kind is Kind.OTHER:
            return True  # an SVG filter, which may do anything
        amount = share(token.args[0]) if token.args else None
        if token.text == "contrast" and amount is not None and amount <= _MIN:
            return True
        blur = pixels(token.args[0], letter_px) if token.args else None
        if token.text == "blur" and blur is not None and blur >= letter_px / 2:
            return True
    return False


def _is_beyond(value: Value) -> bool:
    """`right` and `bottom` push to the left and upwards, where nobody can scroll."""
    if not value:
        return False
    if value[0].kind is Kind.PERCENT:
        return value[0].value >= 100
    offset = pixels(value[0], 16.0)
    return offset is not None and offset >= 500
