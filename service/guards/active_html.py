"""HTML that loads, runs or leads away by itself: which elements, and which attributes on any element.

Tags are read here as HTML5 reads them, which takes more for a tag than CommonMark does, because inside an HTML block a
browser is the judge. Whatever is taken for active by mistake is shown as the text it was written as. Source: guards.md 4.4.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Final

from service.guards import destinations

_ALWAYS: Final = frozenset(
    [
        "iframe",
        "frame",
        "frameset",
        "object",
        "embed",
        "applet",
        "portal",
        "fencedframe",
        "param",
        "svg",
        "math",
        "link",
        "style",
        "script",
        "meta",
        "base",
        "form",
        "isindex",
        "template",
        "use",
        "image",
        "feimage",
        "foreignobject",
        "animate",
        "animatecolor",
        "animatemotion",
        "animatetransform",
        "set",
        "discard",
        "handler",
        "listener",
        "mpath",
        "textpath",
        "maction",
    ]
)
"""Whatever their attributes say. Those from `use` on do something inside an `svg` or `math` that the owner has."""
_LOADED: Final = frozenset(
    [
        "src",
        "lowsrc",
        "dynsrc",
        "data",
        "background",
        "poster",
        "icon",
        "manifest",
        "classid",
        "codebase",
        "archive",
        "attributionsrc",
    ]
)
"""Attributes whose address is loaded when shown, on whatever element: one that has no such attribute today may get it."""
_SETS: Final = frozenset({"srcset", "imagesrcset"})
_FORBIDDEN: Final = frozenset(["ping", "srcdoc", "formaction", "action", "http-equiv", "is", "shadowrootmode"])
_STYLE: Final = re.compile(
    r"url\s*\(|src\s*\(|image(?:-set)?\s*\(|cross-fade\s*\(|@import|\\|expression\s*\(|-moz-binding|behavior\s*:", re.I
)
TEXT_INSIDE: Final = frozenset({"style", "script"})
"""Elements whose text is what makes them do something."""

MAX_TAG_CHARS: Final = 4000
"""Characters of one tag that are looked at. A longer one is taken for active."""

_NAME: Final = re.compile(r"<([a-z][^\s/>\x00]*)", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"[\s/]*(?:(?P<end>>)|(?P<name>=?[^\s/>=]*)"
    r"(?:\s*=\s*(?:\"(?P<double>[^\"]*)(?:\"|$)|'(?P<single>[^']*)(?:'|$)|(?P<bare>[^\s>]*)))?)"
)


@dataclass(frozen=True, slots=True)
class OpenTag:
    """An opening tag as HTML5 reads it. `attributes` are decoded, the first of a name wins; `is_whole`: it has its `>`."""

    start: int
    end: int
    name: str
    attributes: tuple[tuple[str, str], ...]
    is_whole: bool = True

    @property
    def is_cut(self) -> bool:
        """Whether it is longer than anybody looked."""
        return not self.is_whole and self.end - self.start >= MAX_TAG_CHARS


def tag_at(text: str, start: int, limit: int) -> OpenTag | None:
    """The tag that HTML5 would see at `text[start]`, a `<`; None if it sees none. Looks no further than `limit`."""
    found = _NAME.match(text, start, limit)
    if found is None:
        return None
    name, at = found[1].lower(), found.end()
    limit = min(limit, start + MAX_TAG_CHARS)
    attributes: dict[str, str] = {}
    while at < limit:
        part = _ATTRIBUTE.match(text, at, limit)
        if part is None or part.end() == at:
            break
        at = part.end()
        if part["end"]:
            return OpenTag(start, at, name, tuple(attributes.items()))
        value = next((value for value in (part["double"], part["single"], part["bare"]) if value is not None), "")
        attributes.setdefault(part["name"].lower(), html.unescape(value))
    return OpenTag(start, at, name, tuple(attributes.items()), is_whole=False)


def is_active(name: str, attributes: tuple[tuple[str, str], ...]) -> bool:
    """Whether an element of this name with these (decoded) attributes loads, runs or leads away by itself."""
    local = name.rpartition(":")[2]
    if local in _ALWAYS:
        return True
    return any(is_active_attribute(key, value) for key, value in attributes)


def is_active_attribute(name: str, value: str) -> bool:
    """Whether an attribute makes any element active."""
    if name.startswith("on") or name in _FORBIDDEN:
        return True
    if name in _LOADED or name.endswith(":href"):
        return destinations.is_loaded_from_elsewhere(value)
    if name in _SETS:
        return any(destinations.is_loaded_from_elsewhere(part) for part in re.split(r"[\s,]+", value))
    if name == "href":
        return destinations.has_forbidden_scheme(value)
    return name == "style" and _STYLE.search(html.unescape(value)) is not None


def remote_image(tag: OpenTag) -> str | None:
    """The address of an `<img>` that does nothing worse than loading a picture over http; None if it does, or is none."""
    values = dict(tag.attributes)
    address = values.pop("src", "")
    if tag.name != "img" or not tag.is_whole or is_active("img", tuple(values.items())):
        return None
    return address if re.fullmatch(r"https?://[\w.~:/?#@!$&'*+,;=%-]+", address, re.IGNORECASE) else None
