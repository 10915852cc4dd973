"""What our tokens are good for (RFC 8707): one resource, and the spellings of it that clients use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

PATH: Final = "/mcp"
"""Where the protocol is served; everything that calls or routes it takes the path from here."""


def canonical(base: str) -> str:
    """The resource at our address `base`: byte by byte what a person types, and what tokens are stored with."""
    return base + PATH


def are_ours(base: str, asked: Iterable[str]) -> bool:
    """Whether everything asked for is ours, in one of four spellings; nothing asked for is ours by default.

    RFC 8707 allows the parameter to be repeated, and clients differ about the slash and the path (auth.md 4.4
    microsoft/vscode#278512, openai/codex#20729).
    """
    ours = (base + PATH, base + PATH + "/", base, base + "/")
    return all(one in ours for one in asked)
