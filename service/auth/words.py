"""Passphrases that a person can type on a phone: seven plain English words, drawn at random from our own list.

The list (`words.txt`, package data) holds 1,173 words of three to seven letters a to z, none the beginning of another. Seven
of them are 71 bits: with the throttle in front and argon2id behind, nobody guesses that, even with the database in hand.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Final

WORDS: Final = 7


def passphrase() -> str:
    """A new passphrase, such as `violet harbor acorn dune cobalt trumpet meadow`."""
    return " ".join(secrets.choice(listed()) for _ in range(WORDS))


@cache
def listed() -> Sequence[str]:
    """The words there are to draw from."""
    return tuple(resources.files("service.auth").joinpath("words.txt").read_text(encoding="ascii").split())
