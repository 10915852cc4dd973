"""Numbers of CSS in pixels: units, percentages, calc() and its kin.

What a unit is worth depends on screen and font; here it is a plain one (16 px letters, 1000 × 800 px), since the guard
only asks whether something is almost nothing or far away.
"""

from __future__ import annotations

from typing import Final

from service.guards.markup.css_tokens import Kind, Token

_UNITS: Final = {
    "px": 1.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945, "pt": 4 / 3, "pc": 16.0,
    "rem": 16.0, "rlh": 20.0, "vw": 10.0, "vh": 8.0, "vi": 10.0, "vb": 8.0, "vmin": 8.0, "vmax": 10.0,
    "svw": 10.0, "svh": 8.0, "lvw": 10.0, "lvh": 8.0, "dvw": 10.0, "dvh": 8.0, "cqw": 10.0, "cqh": 8.0,
    "cqi": 10.0, "cqb": 8.0, "cqmin": 8.0, "cqmax": 10.0,
    "deg": 1.0, "grad": 0.9, "rad": 57.29578, "turn": 360.0,
}  # fmt: skip
_FONT_SIZES: Final = {"em": 1.0, "lh": 1.2, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0}
_MATHS: Final = frozenset({"calc", "-webkit-calc", "-moz-calc", "min", "max", "clamp", "abs", "sign"})


def pixels(token: Token, font_px: float, whole_px: float | None = None) -> float | None:
    """A length in pixels, an angle in degrees; a plain number counts as pixels. None for what is no length.

    Args:
        token: one component value.
        font_px: size of a letter, for em and its kin.
        whole_px: what 100 % is; None when a percentage says nothing.
    """
    found: float | None = None
    match token.kind:
        case Kind.NUMBER:
            found = token.value
        case Kind.PERCENT if whole_px is not None:
            found = token.value * whole_px / 100
        case Kind.LENGTH if token.text in _FONT_SIZES:
            found = token.value * _FONT_SIZES[token.text] * font_px
        case Kind.LENGTH if token.text in _UNITS:
            found = token.value * _UNITS[token.text]
        case Kind.FUNCTION if token.text in _MATHS:
            found = _Sum(token.args, font_px, whole_px).value(token.text)
    return found


def share(token: Token) -> float | None:
    """A number or percentage as a share of one, such as an opacity. None for anything else."""
    if token.kind is Kind.PERCENT:
        return token.value / 100
    if token.kind is Kind.NUMBER or token.kind is Kind.FUNCTION:
        return pixels(token, 16.0, 1.0)
    return None


class _Sum:
    """The arguments of a function of CSS Values 4, section 10, worked out."""

    def __init__(self, tokens: tuple[Token, ...], font_px: float, whole_px: float | None) -> None:
        self._tokens, self._font_px, self._whole_px = tokens, font_px, whole_px
        self._at = 0

    def value(self, function: str) -> float | None:
        values: list[float] = []
        while self._at < len(self._tokens):
            value = self._sum()
            if value is None:
                return None
            values.append(value)
            if self._at < len(self._tokens) and not self._takes(","):
                return None
        return _applied(function, values) if values else None

    def _sum(self) -> float | None:
        total = self._product()
        while total is not None and (sign := self._takes("+", "-")):
            value = self._product()
            if value is None:
                return None
            total = total + value if sign == "+" else total - value
        return total

    def _product(self) -> float | None:
        total = self._one()
        while total is not None and (sign := self._takes("*", "/")):
            value = self._one()
            if value is None or (sign == "/" and value == 0):
                return None
            total = total * value if sign == "*" else total / value
        return total

    def _one(self) -> float | None:
        if self._at >= len(self._tokens):
            return None
        self._at += 1
        return pixels(self._tokens[self._at - 1], self._font_px, self._whole_px)

    def _takes(self, *marks: str) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if token is None or token.kind is not Kind.MARK or token.text not in marks:
            return ""
        self._at += 1
        return token.text


def _applied(function: str, values: list[float]) -> float | None:
    match function:
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "clamp" if len(values) == 3:
            return max(values[0], min(values[1], values[2]))
        case "abs":
            return abs(values[0])
        case "sign":
            return float((values[0] > 0) - (values[0] < 0))
        case _:
            return values[0]
