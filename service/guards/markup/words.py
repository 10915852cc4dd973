"""A set of names, written as a line of words."""

from __future__ import annotations


def words(line: str) -> frozenset[str]:
    """The words of `line`."""
    return frozenset(line.split())
