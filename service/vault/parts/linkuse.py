"""One link as it stands in a file, and how another target is written in its place.

A link is found by `parts.links` in a note and by `parts.canvas` in a canvas; whoever moves files replaces exactly
`target_span` by what `written` says, and every other byte stays.
"""

from __future__ import annotations

import enum
import json
import re
from dataclasses import dataclass
from typing import Final

from service.guards.markdown import Span


class LinkKind(enum.Enum):
    """Where a link comes from."""

    WIKILINK = "wikilink"
    """`[[target]]` and `![[target]]` (Obsidian help, Internal links)."""
    MARKDOWN = "markdown"
    """`[label](target)` and `![label](target)`."""
    REFERENCE = "reference"
    """`[label][name]`: its target is that of the definition, and is rewritten there alone."""
    DEFINITION = "definition"
    """`[name]: target`, whether something uses it or not."""
    PROPERTY = "property"
    """A property whose whole value is a wikilink (Obsidian help, Properties)."""
    CANVAS = "canvas"
    """A file that a canvas shows: always the path from the vault's root (jsoncanvas.org 1.0)."""


class Notation(enum.Enum):
    """How characters are written where a target stands."""

    WIKI = "between double brackets: as they are"
    PLAIN = "a Markdown destination: percent-encoded"
    POINTED = "a Markdown destination in angle brackets: blanks as they are"
    FIXED = "a Markdown destination with a parenthesis that closes in the subpath: no other can be written"
    DOUBLE_QUOTED = "a wikilink in a YAML scalar in double quotes"
    SINGLE_QUOTED = "a wikilink in a YAML scalar in single quotes"
    JSON = "a JSON string"


@dataclass(frozen=True, slots=True)
class LinkUse:
    """A link to something in the vault. Offsets are in the text that was read.

    Args:
        kind: where it comes from.
        start: where the link begins as written, brackets and `!` included.
        end: where it ends.
        line: of `start`, from 1.
        target: the path part, decoded, without `#…`; empty for the very note it stands in.
        subpath: what follows from the first `#` on, decoded: `#Heading#Below`, `#^block`; empty for none.
        alias: what is shown instead (of an image also its size, `100x200`); empty for none.
        target_span: where the path part stands as written, without brackets, quotes, subpath and white space around it.
        is_embed: whether it shows its target in place.
        notation: how the path part is written.
        in_json: whether the whole link stands in a JSON string (the text of a canvas's card).
    """

    kind: LinkKind
    start: int
    end: int
    line: int
    target: str
    subpath: str
    alias: str
    target_span: Span
    is_embed: bool
    notation: Notation
    in_json: bool = False


_BREAKS_WIKILINK: Final = re.compile(r"[|#\n\r]|\[\[|\]\]|\A\[|\]\Z|\\\Z|\A\s|\s\Z")
_SEPARATOR: Final = re.compile(r"\\?\|")
"""What parts a wikilink's target from its alias; in a table the bar is escaped."""
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:|//")
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+://|//")
_ENCODED: Final = re.compile(r"[\x00-\x20\x7f<>\"%#\\&`|()]")
_ENCODED_POINTED: Final = re.compile(r"[\x00-\x1f\x7f<>\"%#\\&`|]|\A\x20|\x20\Z")


def split_wikilink(inner: str) -> tuple[Span, str, str]:
    """Of what stands between double brackets: the span of its path part, its subpath and its alias."""
    bar = _SEPARATOR.search(inner)
    name_end = bar.start() if bar else len(inner)
    hash_at = inner.find("#", 0, name_end)
    path_end = hash_at if hash_at >= 0 else name_end
    path = inner[:path_end]
    start = len(path) - len(path.lstrip())
    span = (start, max(start, len(path.rstrip())))
    subpath = inner[hash_at:name_end].strip() if hash_at >= 0 else ""
    return span, "" if subpath == "#" else subpath, inner[bar.end() :].strip() if bar else ""


def is_external(destination: str) -> bool:
    """Whether a destination leads out of the vault: it begins with a scheme (RFC 3986, 3.1) or with `//`."""
    return _SCHEME.match(destination) is not None


def is_address(name: str) -> bool:
    """Whether what stands in a wikilink leads out of the vault: a scheme alone does not (`[[Re: yesterday]]`), `://` does."""
    return _ADDRESS.match(name) is not None


def written(use: LinkUse, target: str) -> str | None:
    """What to put at `use.target_span` so that the link has `target` as its path part; None when its kind cannot hold it.

    Reading it again gives `target`. Nothing is said about where that leads.
    """
    match use.notation:
        case Notation.PLAIN:
            text = _percent_encoded(target, _ENCODED)
        case Notation.POINTED:
            text = _percent_encoded(target, _ENCODED_POINTED)
        case Notation.JSON:
            text = _in_json(target)
        case Notation.FIXED:
            return None
        case _ if not target or _BREAKS_WIKILINK.search(target) or is_address(target):
            return None
        case Notation.DOUBLE_QUOTED:
            text = target.replace("\\", "\\\\").replace('"', '\\"')
        case Notation.SINGLE_QUOTED:
            text = target.replace("'", "''")
        case Notation.WIKI:
            text = target
    return _in_json(text) if use.in_json else text


def _percent_encoded(target: str, special: re.Pattern[str]) -> str:
    text = special.sub(lambda found: f"%{ord(found[0]):02X}", target)
    if is_external(text):
        text = text.replace(":", "%3A", 1) if not text.startswith("//") else "%2F" + text[1:]
    return text


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
