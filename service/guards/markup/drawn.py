"""What drawings (SVG), formulas (MathML) and lists to choose from show of what stands in them."""

from __future__ import annotations

import re
from typing import Final

from service.guards.markup import css
from service.guards.markup.html import Start
from service.guards.markup.words import words

TEXT_ONLY_IN: Final = {
    "svg": words("text foreignobject"), "math": words("mi mn mo ms mtext"), "select": words("option"),
}  # fmt: skip
"""What in these shows characters; all others are dropped."""
LETTERS: Final = words("text tspan textpath")
_CUTTING: Final = words("svg foreignobject marquee")
SHAPES: Final = words("rect path circle ellipse line polyline polygon image use stop tref")
"""What is drawn without what stands in it."""
_NUMBER: Final = re.compile(r"[-+]?[0-9]*\.?[0-9]+")
_MAX_SPACE: Final = 20_000
"""Width or height of a drawing's own space in which ordinary letters are too small to see."""
_SIZE: Final = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
PRESENTED: Final = (
    "display", "visibility", "opacity", "fill", "fill-opacity", "stroke", "transform", "clip-path", "mask", "filter",
    "letter-spacing",
)  # fmt: skip
"""Presentation attributes (SVG 2, 6.6) that can take a text away."""
RENAMED: Final = {
    "font-size": "font-size", "x": "left", "y": "top", "dx": "left", "dy": "top", "mathsize": "font-size",
    "mathcolor": "color", "mathbackground": "background-color",
}  # fmt: skip


def is_cut(token: Start) -> bool:
    """Elements that cut off what does not fit, with a width or height of nothing; a choice that another label stands for."""
    attributes = token.attributes
    if token.name == "option":
        return bool(attributes.get("label"))
    if token.name == "svg" and "viewbox" in attributes:
        return _is_elsewhere(attributes["viewbox"])
    if token.name == "foreignobject" and not (attributes.keys() >= {"width", "height"} or "style" in attributes):
        return True
    if token.name == "textpath":
        return not attributes.keys() & {"href", "xlink:href", "path"}
    is_cutting = token.name in _CUTTING
    sizes = [attributes[name].strip() for name in ("width", "height") if is_cutting and name in attributes]
    return any(found is not None and float(found[0]) <= css.MIN_CUT_PX for found in map(_SIZE.match, sizes))


def _is_elsewhere(view_box: str) -> bool:
    """Whether a drawing shows a place far from where things are drawn, or from far above."""
    numbers = [float(number) for number in _NUMBER.findall(view_box[:200])]
    if len(numbers) != 4:
        return False
    left, top, width, height = numbers
    is_aside = abs(left) > 2 * width or abs(top) > 2 * height
    return is_aside or min(width, height) <= 0 or max(width, height) > _MAX_SPACE


def with_unit(value: str) -> str:
    """Plain numbers of SVG and MathML are pixels."""
    return f"{value}px" if _SIZE.fullmatch(value.strip()) else value
