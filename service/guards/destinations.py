"""Where a link or an image leads: into the vault, into the world, to a program, or nowhere good.

What is judged is what a browser would make of a destination, in the worst case: entities decoded, white space and
control characters dropped where the URL standard drops them, percent signs decoded once more. Source: guards.md 4.4.
"""

from __future__ import annotations

import enum
import html
import re
from typing import Final
from urllib.parse import unquote

ALLOWED_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "zotero", "message", "things"})
"""Schemes a link may have; `obsidian:` is judged by `_is_harmless_obsidian`. None of them is a picture in the vault."""


class Place(enum.Enum):
    """What kind of place a destination is."""

    LOCAL = "local"  # in the vault, in the note, or nothing
    PICTURE = "picture"  # a raster picture spelled out in a data: URI
    WORLD = "world"  # may be linked to, must not be loaded
    FORBIDDEN = "forbidden"  # must not even be linked to


_DROPPED: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]+"
)
"""Controls and what nobody sees. The URL standard drops some of them anywhere and more at the ends; we drop all."""

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_RASTER: Final = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif|bmp);base64,[a-z0-9+/=_-]*", re.IGNORECASE)
_HARMLESS_OBSIDIAN: Final = re.compile(r"obsidian://(?:open|search)/?(?:\?(?P<query>[^#]*))?(?:#.*)?", re.I | re.S)
_OBSIDIAN_PARAMETERS: Final = frozenset(
    {"vault", "file", "path", "query", "panetype", "heading", "block", "line", "viewmode", "openmode"}
)
"""Those that only say what to show. `append`, `prepend`, `overwrite`, `content`, `x-success` and all others do something."""


def place(destination: str) -> Place:
    """Judge a destination whose escapes and entities have been decoded.

    It is judged as it stands, decoded of entities and of percent signs once more; the worst of these counts.
    """
    readings = {destination}
    if "&" in destination:
        readings.add(html.unescape(destination))
    if "%" in destination:
        readings |= {unquote(reading) for reading in readings}
    found = {_place(reading) for reading in readings}
    return next(place for place in (Place.FORBIDDEN, Place.WORLD, Place.LOCAL, Place.PICTURE) if place in found)


def has_forbidden_scheme(destination: str) -> bool:
    """Whether it must not even be linked to."""
    return place(destination) in (Place.FORBIDDEN, Place.PICTURE)


def is_loaded_from_elsewhere(destination: str) -> bool:
    """Whether showing what is there would load it from outside the vault."""
    return place(destination) in (Place.FORBIDDEN, Place.WORLD)


def _place(destination: str) -> Place:
    plain = _DROPPED.sub("", destination).strip()
    if plain[:1] in ("/", "\\") and plain[1:2] in ("/", "\\"):
        return Place.WORLD if plain.startswith("//") else Place.FORBIDDEN  # \\host: a network share of Windows
    found = _SCHEME.match(plain)
    if found is None:
        return Place.LOCAL
    scheme = found[1].lower()
    if scheme in ALLOWED_SCHEMES:
        return Place.WORLD
    if scheme == "obsidian":
        return Place.WORLD if _is_harmless_obsidian(plain) else Place.FORBIDDEN
    if _RASTER.fullmatch(plain):
        return Place.PICTURE
    return Place.FORBIDDEN


def _is_harmless_obsidian(address: str) -> bool:
    """Whether an `obsidian:` address only opens a note or searches. Source: Obsidian help, Obsidian URI."""
    found = _HARMLESS_OBSIDIAN.fullmatch(address)
    if found is None:
        return False
    names = [unquote(part.partition("=")[0]) for part in (found["query"] or "").split("&") if part]
    return all(name.lower() in _OBSIDIAN_PARAMETERS for name in names)
