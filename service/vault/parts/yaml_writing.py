"""Values as YAML that no reader misreads: Obsidian and others of YAML 1.2, and those of YAML 1.1 too.

Plain is written what is plain to all of them; `on`, `22:30`, `1.10` as text, what begins with a mark, and whatever looks
like a number are quoted. Days and times stay plain, as Obsidian writes them. Source: yaml.org/spec/1.2.2, 10.3;
yaml.org/type (the implicit types of 1.1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Final

from service.errors import BadArgument
from service.guards import limits
from service.vault.parts.yaml import Value

INDENT: Final = 2
"""Blanks by which the items of a list and what is in a mapping stand further in, as Obsidian has it."""

_MAX_NAME_CHARS: Final = 200
"""Of a property's name; YAML allows 1,024."""
_MAX_WHOLE: Final = 10**15
"""Whole numbers from here on not every reader keeps exact."""

_WORDS: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"))
"""Words that some reader of YAML takes for something else, in any case."""
_DAY: Final = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?", re.ASCII)
_PLAIN: Final = re.compile(r"[^\W\d]|[/(]|[^\x00-\x7f]")
"""How a plain text may begin: a letter, `_`, `/`, `(`, or anything that is not ASCII."""
_BREAKING: Final = re.compile(r":(?:[ \t]|$)|[ \t]#|[ \t]$|\t")
"""What ends a plain text where it was not meant to end."""
_BREAKING_IN_BRACKETS: Final = re.compile(r"[][{},:#]")
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_BETTER_SINGLE: Final = re.compile(r'["\\<]')
_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_ESCAPED: Final = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"\\\\]')
_NO_LITERAL: Final = re.compile(r"\A[ \t\n]|[ \t]$|\n\Z\n|\n\n\Z|\t", re.MULTILINE)
"""What a block scalar would need more than two marks for: such text is quoted instead."""


def check(values: Mapping[str, Value]) -> None:
    """Refuse what no front matter can say so that it is read again as it was meant.

    Raises:
        BadArgument: names what is wrong, and what to send instead.
    """
    for name in values:
        check_name(name)
    waiting: list[tuple[Value, int]] = [(value, 1) for value in values.values()]
    while waiting:
        value, depth = waiting.pop()
        if depth > limits.MAX_PROPERTY_DEPTH - 1:
            raise BadArgument(f"a value is nested more than {limits.MAX_PROPERTY_DEPTH} deep; send a flatter one.")
        match value:
            case list():
                waiting += ((item, depth + 1) for item in value)
            case dict():
                for name in value:
                    check_name(name)
                waiting += ((item, depth + 1) for item in value.values())
            case bool() | str() | None:
                pass
            case int() if abs(value) >= _MAX_WHOLE:
                raise BadArgument("a whole number has more than 15 digits, which some readers round; send it as text.")
            case float() if not math.isfinite(value) or abs(value) >= 1e99 or 0 < abs(value) < 1e-99:
                raise BadArgument("a number is too large or too small to be written exactly; send it as text.")


def check_name(name: str) -> None:
    """Refuse a name that no property can have.

    Raises:
        BadArgument: it is empty, too long, or not one line.
    """
    if not name.strip() or len(name) > _MAX_NAME_CHARS or _UNPRINTABLE.search(name):
        raise BadArgument(f"a property's name is one line of 1 to {_MAX_NAME_CHARS} characters.")


def scalar(value: str | float | bool | None, *, in_brackets: bool = False) -> str:
    """One value that is no list and no mapping, in one line. `in_brackets`: within `[…]` or `{…}`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return _text(value, in_brackets=in_brackets)


def name(words: str, *, in_brackets: bool = False) -> str:
    """A property's name, before its colon."""
    is_plain = ":" not in words and _is_plain(words, in_brackets=in_brackets)
    return words if is_plain else _quoted(words)


def flow(value: Value) -> str:
    """A value in one line, lists as `[…]`, mappings as `{…}`."""
    match value:
        case list():
            return f"[{', '.join(map(flow, value))}]"
        case dict():
            return f"{{{', '.join(f'{name(key, in_brackets=True)}: {flow(item)}' for key, item in value.items())}}}"
        case _:
            return scalar(value, in_brackets=True)


def block(value: Value, indent: int) -> tuple[str, Sequence[str]]:
    """A property's value in Obsidian's style: what stands behind the colon, and the lines below.

    Args:
        indent: blanks before each of these lines; more than before the property's name.
    """
    match value:
        case None:
            return "", ()
        case list() | dict() if value:
            return "", list(_lines(value, " " * indent))
        case list() | dict():
            return flow(value), ()
        case str() if (
            "\n" in value and not _UNPRINTABLE.search(value.replace("\n", "")) and not _NO_LITERAL.search(value)
        ):
            return _literal(value, indent)
        case _:
            return scalar(value), ()


def item(value: Value, margin: str) -> Sequence[str]:
    """An item of a list over lines of its own, its dash behind `margin`."""
    return list(_lines([value], margin))


def _lines(value: list[Value] | dict[str, Value], margin: str) -> Iterator[str]:
    deeper = margin + " " * INDENT
    if isinstance(value, list):
        for one in value:
            if isinstance(one, list | dict) and one:
                first, *rest = _lines(one, deeper)
                yield f"{margin}- {first[len(deeper) :]}"
                yield from rest
            else:
                yield f"{margin}- {flow(one) if isinstance(one, list | dict) else scalar(one)}"
        return
    for key, one in value.items():
        if isinstance(one, list | dict) and one:
            yield f"{margin}{name(key)}:"
            yield from _lines(one, deeper)
        else:
            yield f"{margin}{name(key)}: {flow(one) if isinstance(one, list | dict) else scalar(one)}"


def _literal(value: str, indent: int) -> tuple[str, Sequence[str]]:
    margin = " " * indent
    lines = value.removesuffix("\n").split("\n")
    return "|" if value.endswith("\n") else "|-", [margin + line if line else "" for line in lines]


def _text(words: str, *, in_brackets: bool) -> str:
    return words if _is_day(words) or _is_plain(words, in_brackets=in_brackets) else _quoted(words)


def _quoted(words: str) -> str:
    """In single quotes where that saves escapes, and before a `<`, which the guard may put a backslash behind."""
    if not _UNPRINTABLE.search(words) and _BETTER_SINGLE.search(words):
        return "'" + words.replace("'", "''") + "'"
    return f'"{_ESCAPED.sub(_escape, words)}"'


def _is_plain(words: str, *, in_brackets: bool) -> bool:
    return (
        _PLAIN.match(words) is not None
        and words.casefold() not in _WORDS
        and not _UNPRINTABLE.search(words)
        and not words[0].isspace()
        and not words[-1].isspace()
        and not _BREAKING.search(words)
        and not (in_brackets and _BREAKING_IN_BRACKETS.search(words))
    )


def _is_day(words: str) -> bool:
    """Whether this is a day of the calendar, or one with a time; any other digits could be taken for something else."""
    found = _DAY.fullmatch(words)
    if found is None:
        return False
    with suppress(ValueError):
        date.fromisoformat(found["day"])
        return True
    return False


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return _ESCAPES.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}")


def _number(value: float) -> str:
    """As every reader takes it for a number: YAML 1.1 wants a point, and a sign before the exponent."""
    digits, e, exponent = repr(value).partition("e")
    if not e:
        return digits
    return f"{digits if '.' in digits else digits + '.0'}e{exponent if exponent[0] in '+-' else '+' + exponent}"
