"""Colours in any notation, as red, green, blue and alpha, so that two of them can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from service.guards.markup import css_tokens
from service.guards.markup.css_lengths import pixels
from service.guards.markup.css_tokens import Kind, Token
from service.guards.markup.words import words

_SAME: Final = 8 / 255
"""Difference per channel below which nobody tells two colours apart in a text."""

_XYZ_TO_RGB: Final = (
    (3.2404542, -1.5371385, -0.4985314),
    (-0.9692660, 1.8760108, 0.0415560),
    (0.0556434, -0.2040259, 1.0572252),
)
_D50_TO_D65: Final = (
    (0.9555766, -0.0230393, 0.0631636),
    (-0.0282895, 1.0099416, 0.0210077),
    (0.0122982, -0.0204830, 1.3299098),
)


@dataclass(frozen=True, slots=True)
class Colour:
    """Channels from 0 to 1. `name` is how it was written, for colours that only a theme knows (`var(--x)`, `canvas`)."""

    rgb: tuple[float, float, float] | None
    alpha: float
    name: str = ""

    def looks_like(self, other: Colour) -> bool:
        """Whether text in the one colour cannot be seen on the other."""
        if self.rgb is None or other.rgb is None:
            return bool(self.name) and self.name == other.name
        return all(abs(mine - theirs) <= _SAME for mine, theirs in zip(self.rgb, other.rgb, strict=True))


_SYSTEM: Final = words(
    "canvas canvastext buttonface buttontext field fieldtext highlight highlighttext accentcolor mark marktext "
    "graytext linktext visitedtext activetext selecteditem selecteditemtext background window windowtext"
)


def colour(token: Token) -> Colour | None:
    """The colour that one component value is; None when it is none."""
    if token.kind is Kind.FUNCTION and token.text == "color-mix":
        return _mixed(token)
    if token.kind is Kind.FUNCTION and token.text == "var":
        return Colour(None, 1.0, str(token))
    if token.kind is Kind.WORD and token.text in _SYSTEM:
        return Colour(None, 1.0, token.text)
    if token.kind not in (Kind.WORD, Kind.HASH, Kind.FUNCTION):
        return None
    found = css_tokens.rgb(str(_worked_out(token)))
    if found is None:
        return _relative(token)
    space, parts, alpha = found
    return Colour(_in_rgb(space, parts), alpha, str(token))


def _in_rgb(space: str, parts: tuple[float, float, float]) -> tuple[float, float, float]:
    if space == "xyz-d50":
        parts = _times(_D50_TO_D65, parts)
    if space.startswith("xyz"):
        parts = _times(_XYZ_TO_RGB, parts)
    if space.startswith("xyz") or space == "srgb-linear":
        red, green, blue = (_gamma(part) for part in parts)
        return (red, green, blue)
    return parts


def _times(
    matrix: tuple[tuple[float, float, float], ...], parts: tuple[float, float, float]
) -> tuple[float, float, float]:
    first, second, third = (sum(a * b for a, b in zip(row, parts, strict=True)) for row in matrix)
    return (first, second, third)


def _gamma(part: float) -> float:
    part = max(0.0, min(1.0, part))
    return 12.92 * part if part <= 0.0031308 else float(1.055 * part ** (1 / 2.4) - 0.055)


def _worked_out(token: Token) -> Token:
    """The token with the sums in its arguments worked out: `rgb(calc(200 + 55) 255 255)`."""
    if token.kind is not Kind.FUNCTION:
        return token
    args = []
    for arg in token.args:
        value = pixels(arg, 16.0) if arg.kind is Kind.FUNCTION else None
        args.append(arg if value is None else Token(Kind.NUMBER, "", value))
    return Token(token.kind, token.text, 0.0, tuple(args))


def _relative(token: Token) -> Colour | None:
    """`rgb(from red r g b / 0)`: what colour it is stays open, but its alpha counts."""
    if token.kind is not Kind.FUNCTION or not token.args or token.args[0].text != "from":
        return None
    alpha = 1.0
    for slash, value in zip(token.args, token.args[1:], strict=False):
        if slash.kind is Kind.MARK and slash.text == "/":
            percent = value.value / 100 if value.kind is Kind.PERCENT else pixels(value, 16.0)
            alpha = 1.0 if percent is None else percent
    return Colour(None, alpha, str(token))


def _mixed(token: Token) -> Colour | None:
    """`color-mix(in srgb, red 30%, white)`, whatever the space: the mean of two colours by their alpha."""
    parts: list[list[Token]] = [[]]
    for arg in token.args:
        if arg.kind is Kind.MARK and arg.text == ",":
            parts.append([])
        else:
            parts[-1].append(arg)
    colours: list[tuple[Colour, float | None]] = []
    for part in parts[1:]:
        found = [one for arg in part if (one := colour(arg)) is not None]
        percents = [arg.value / 100 for arg in part if arg.kind is Kind.PERCENT]
        if not found:
            return None
        colours.append((found[0], percents[0] if percents else None))
    if len(colours) != 2:
        return None
    (one, first), (two, second) = colours
    first = first if first is not None else (1 - second if second is not None else 0.5)
    second = second if second is not None else 1 - first
    total = first + second
    if total <= 0:
        return None
    weights = (first / total * one.alpha, second / total * two.alpha)
    alpha = sum(weights)
    if one.rgb is None or two.rgb is None or alpha == 0:
        return Colour(None, alpha * min(1.0, total), str(token))
    red, green, blue = ((a * weights[0] + b * weights[1]) / alpha for a, b in zip(one.rgb, two.rgb, strict=True))
    return Colour((red, green, blue), alpha * min(1.0, total), str(token))
