"""The strings that stand for a grant: how they look, how they are made, and how they are stored.

Each is 256 random bits behind a prefix that tells its kind, so a plain SHA-256 needs no salt and a lookup by hash needs no
constant-time comparison. The prefixes are there for secret scanners and for the redactor in `logs.py`.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from typing import Final, Literal

STATIC: Final = "srs_"
"""A token made by `strongroom tokens create`; stored as kind `s`."""

ACCESS: Final = "sra_"
"""An access token of an OAuth grant; kind `a`."""

REFRESH: Final = "srr_"
"""A refresh token of an OAuth grant; kind `r`. Good at the token endpoint and nowhere else."""

CODE: Final = "src_"
"""An authorization code; in a table of its own."""

TOKEN_BYTES: Final = 32


def made(prefix: str) -> str:
    """A new token: the only copy there will ever be."""
    return prefix + secrets.token_urlsafe(TOKEN_BYTES)


def is_shaped(text: str) -> bool:
    """Whether a text looks like one of our tokens: one was pasted where an id belongs."""
    return text.startswith((STATIC, ACCESS, REFRESH)) and len(text) > TOKEN_BYTES


def digest(token: str) -> bytes:
    """How a token is stored and looked up."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def is_there(connection: sqlite3.Connection, table: Literal["token", "code"], text: str) -> bool:
    """Whether there is such a token or code at all, before anybody waits for the turn to write: what a stranger makes up must
    not cost more than a look."""
    return connection.execute(f"SELECT 1 FROM {table} WHERE hash = ?", (digest(text),)).fetchone() is not None  # noqa: S608
