"""Decoding what stands for another character: HTML entities and backslash escapes. Never raises, takes linear time."""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Final

_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_MARKDOWN: Final = re.compile(
    r"\\([!-/:-@\[-`{-~])|&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,31}));"
)
"""CommonMark 2.4 and 2.5: punctuation may be escaped; an entity needs its semicolon and a name that exists."""
_ATTRIBUTE: Final = re.compile(
    r"&(?:#[xX](?=[0-9a-fA-F])0*+([0-9a-fA-F]{0,8})[0-9a-fA-F]*+;?"
    r"|#(?=[0-9])0*+([0-9]{0,8})[0-9]*+;?"
    r"|[A-Za-z][A-Za-z0-9]{1,31};?)"
)
"""WHATWG HTML 13.2.5.72 ff.: any number of digits, and the semicolon may be missing."""


def markdown(text: str) -> str:
    """`text` as a destination, title or info string means it: escapes and entities decoded."""
    if "\\" not in text and "&" not in text:
        return text
    return _MARKDOWN.sub(_decoded, text)


def attribute(text: str) -> str:
    """An HTML attribute's value as a browser reads it, save that names without semicolon always count."""
    if "&" not in text:
        return text
    return _ATTRIBUTE.sub(_decoded_in_attribute, text)


def _decoded(found: re.Match[str]) -> str:
    escaped, hexadecimal, decimal, name = found.groups()
    if escaped is not None:
        return escaped
    if name is not None:
        return html5.get(name + ";", found[0])
    return _character(int(hexadecimal, 16) if hexadecimal is not None else int(decimal))


def _decoded_in_attribute(found: re.Match[str]) -> str:
    hexadecimal, decimal = found.groups()
    if hexadecimal is None and decimal is None:
        return html.unescape(found[0])
    return _character(int(hexadecimal or "0", 16) if hexadecimal is not None else int(decimal or "0"))


def _character(code: int) -> str:
    is_valid = 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_valid else _REPLACEMENT
