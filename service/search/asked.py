"""The values that a search takes and gives."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from service.guards.paths import ROOT, VaultPath
from service.vault.model import Page

NAME_BONUS: Final = 10
"""Points of relevance for a file name that holds the query; a matching line is one."""


class Part(enum.Enum):
    """Which part of a note is searched."""

    BOTH = "both"
    CONTENT = "content"
    FRONTMATTER = "frontmatter"


class Mode(enum.Enum):
    """Whether the query is one text that lines hold, or words of which notes hold some."""

    LITERAL = "literal"
    RANKED = "ranked"


class Order(enum.Enum):
    """What comes first: the most relevant note, the first by path, or the last changed."""

    RELEVANCE = "relevance"
    PATH = "path"
    MODIFIED = "modified"


@dataclass(frozen=True, slots=True)
class Query:
    """A question. `folder` and `excluded` hold whole folders or single notes, never beginnings of names.

    `tag` is the key of a tag (`tags.asked`): only notes that have it, or one nested in it, are looked for then.

    Low-trust folders are left out unless they are included, or `folder` is or lies in one.
    """

    words: str
    mode: Mode = Mode.LITERAL
    folder: VaultPath = ROOT
    excluded: tuple[VaultPath, ...] = ()
    tag: str = ""
    order: Order = Order.RELEVANCE
    part: Part = Part.BOTH
    is_case_sensitive: bool = False
    limit: int = 20
    offset: int = 0
    include_low_trust: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching line, or the first line of a note of which only the name matches. Ranked: the best line of a note.

    `score` is what `NAME_BONUS` tells of; ranked: a hundred times that of `ranking.score`.
    """

    path: VaultPath
    line: int
    snippet: str
    score: int


@dataclass(frozen=True, slots=True)
class Found:
    """The asked page of hits, how many notes they all come from, and how many notes could not be searched.

    `skipped` are those that are too large, cannot be read, or are withheld. `left_out` are the low-trust folders that were not looked into.
    `instead`: ranked: nothing was found, and this is for a question whose words are spelled nearly so.
    `forms`: ranked: words as they were asked, and as they stand in hits with other accents or letters.
    `is_total_exact`: False when there are so many hits that they were not counted to the end: then `page.total` is how many
    there are at least.
    """

    page: Page[Hit]
    notes: int
    skipped: int
    left_out: tuple[VaultPath, ...] = ()
    is_total_exact: bool = True
    instead: str = ""
    forms: tuple[tuple[str, str], ...] = ()
