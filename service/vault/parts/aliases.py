"""The other names that a note gives itself (Obsidian help, Aliases). No link leads to one; they are only offered."""

from __future__ import annotations

from typing import Final

from service.errors import InvalidFrontmatter
from service.guards import limits
from service.vault import frontmatter
from service.vault.parts import tags, yaml

_NAMES: Final = ("aliases", "alias")
_MAX_BYTES_OF_ONE: Final = 4
"""Bytes of a character in UTF-8, at most."""


def may_hold(data: bytes) -> bool:
    """Whether a note's bytes may hold an alias, at the price of a glance."""
    if not data.startswith(b"---"):
        return False
    head = tags.front_matter(data)[: _MAX_BYTES_OF_ONE * limits.MAX_FRONTMATTER_CHARS]
    return b"alias" in head.lower() or (b"\\" in head and b'"' in head)


def of(text: str) -> tuple[str, ...]:
    """The aliases in a note's properties, in order: a list, or one line with commas. Never raises."""
    if not text.startswith("---") or not ("alias" in text.lower() or "\\" in text):
        return ()
    try:
        values = yaml.parse(frontmatter.inner(text))
    except InvalidFrontmatter:
        return ()
    found: list[str] = []
    for name, value in values.items():
        if name.lower() not in _NAMES:
            continue
        if isinstance(value, str):
            found += value.split(",")
        elif isinstance(value, list):
            found += [str(one) for one in value if isinstance(one, str | int | float)]
    return tuple(alias for one in found if (alias := one.strip()))
