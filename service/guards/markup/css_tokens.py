"""A style attribute as CSS reads it: escapes, comments, `!important`, later declarations winning.

The only module that knows tinycss2, and only when a note has a style attribute (it takes 20 ms to load). Everything
leaves here as `Token`, a small value of our own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

MAX_STYLE_CHARS: Final = 100_000
"""Characters of one style that are read. Nobody writes a longer one by hand; see `css.hides`."""
_MAX_DEPTH: Final = 24
"""Functions within functions that are read."""


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    PERCENT = "percent"
    LENGTH = "length"
    HASH = "hash"
    FUNCTION = "function"
    MARK = "mark"
    OTHER = "other"


_NUMBERS: Final = {"number": Kind.NUMBER, "percentage": Kind.PERCENT, "dimension": Kind.LENGTH}


@dataclass(frozen=True, slots=True)
class Token:
    """One component value. `text`: the word, unit, function's name or mark, in lower case; `args` of a function."""

    kind: Kind
    text: str
    value: float = 0.0
    args: tuple[Token, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case Kind.NUMBER:
                return f"{self.value:g}"
            case Kind.PERCENT:
                return f"{self.value:g}%"
            case Kind.LENGTH:
                return f"{self.value:g}{self.text}"
            case Kind.HASH:
                return f"#{self.text}"
            case Kind.FUNCTION:
                return f"{self.text}({' '.join(map(str, self.args))})"
            case _:
                return self.text


@dataclass(frozen=True, slots=True)
class Declaration:
    """`name: value`, with the value's tokens, white space and comments left out."""

    name: str
    value: tuple[Token, ...]
    is_important: bool


def declarations(style: str) -> list[Declaration]:
    """What a style attribute declares, in order; what is no declaration is skipped, as browsers do."""
    import tinycss2

    nodes = tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
    return [
        Declaration(
            node.name if node.name.startswith("--") else node.lower_name, _tokens(node.value), bool(node.important)
        )
        for node in nodes
        if node.type == "declaration"
    ]


def rgb(text: str) -> tuple[str, tuple[float, float, float], float] | None:
    """A colour in a notation of CSS Color 4 or 5: its space, its coordinates, its alpha. None when it is none."""
    from tinycss2 import color5

    colour = color5.parse_color(text)
    if colour is None or isinstance(colour, str):
        return None
    if colour.space in ("hsl", "hwb"):
        colour = colour.to("srgb")
    elif colour.space in ("lab", "lch"):
        colour = colour.to("xyz-d50")
    elif colour.space in ("oklab", "oklch"):
        colour = colour.to("xyz-d65")
    first, second, third = (float(part or 0) for part in colour.coordinates)
    return str(colour.space), (first, second, third), float(colour.alpha)


def substituted(
    value: Iterable[Token], variables: Mapping[str, tuple[Token, ...]], depth: int = 0
) -> tuple[Token, ...]:
    """`value` with each `var()` replaced by what it stands for; one that stands for nothing stays as it is."""
    result: list[Token] = []
    for token in value:
        if token.kind is not Kind.FUNCTION:
            result.append(token)
        elif token.text != "var" or not token.args:
            args = substituted(token.args, variables, depth + 1) if depth < _MAX_DEPTH else token.args
            result.append(Token(token.kind, token.text, token.value, args))
        else:
            meant = variables.get(token.args[0].text) or token.args[2:]
            is_known = bool(meant) and depth < _MAX_DEPTH
            result.extend(substituted(meant, variables, depth + 1) if is_known else (token,))
            if len(result) > MAX_STYLE_CHARS:
                break
    return tuple(result)


def _tokens(nodes: Iterable[object], depth: int = 0) -> tuple[Token, ...]:
    return tuple(token for node in nodes if (token := _token(node, depth)) is not None)


def _token(node: object, depth: int) -> Token | None:
    kind = str(getattr(node, "type", ""))
    value = getattr(node, "value", "")
    match kind:
        case "whitespace" | "comment":
            token = None
        case "ident":
            token = Token(Kind.WORD, value if value.startswith("--") else value.lower())
        case "number" | "percentage" | "dimension":
            token = Token(_NUMBERS[kind], str(getattr(node, "lower_unit", "")), float(value))
        case "hash":
            token = Token(Kind.HASH, value.lower())
        case "function" | "() block":
            name = str(getattr(node, "lower_name", "calc"))  # a plain parenthesis only means something in calc()
            inner = getattr(node, "arguments", None) or getattr(node, "content", None) or []
            token = Token(Kind.FUNCTION, name, 0.0, _tokens(inner, depth + 1) if depth < _MAX_DEPTH else ())
        case "literal":
            token = Token(Kind.MARK, value)
        case _:
            token = Token(Kind.OTHER, kind)
    return token
