"""Code blocks that Obsidian or one of its plugins does not show but runs, or that load something when shown.

Judged by the first word of the info string, whatever its case, and for some by what stands inside. Sources: guards.md 4.4
and the pages of the plugins: Dataview, JS Engine, Execute Code, Buttons, Meta Bind, Datacore, Auto Card Link, Link Embed,
HTML Server, Leaflet, PlantUML, Tasks; Mermaid issue 7645 (image shapes are fetched before any sanitiser looks).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

from service.guards.languages import LANGUAGES

_RUNS: Final = re.compile(
    r"dataviewjs|js-?engine.*|run-.*|button.*|meta-bind-(?:js|button).*|datacore.*|(?:auto-)?card-?link|(?:link-)?embed"
    r"|html|leaflet|plantuml.*|puml|jsx:.*|templater|iframe|webview|custom-?frames?"
    r"|gist|kroki(?:-.*)?|req|rss-.*|tweet|twitter|vid"
)
_BRACED: Final = re.compile(r"\{+\s*[a-z]")
"""`{python}` and the like: run by notebooks and by Execute Code. `{.python}` only names a class."""
_WORD: Final = re.compile(r"[\w:+.#-]+")

_TASKS_SCRIPT: Final = re.compile(r"\bfunction\b", re.IGNORECASE)
_MERMAID: Final = re.compile(
    r"\bimg\W{0,3}:|url\s*\(|image(?:-set)?\s*\(|@import|\\[0-9a-f]{2}|themecss|!\[|\\u00|(?:&|\#)(?:lt|\#?0*60|\#?x0*3c)\b"
    r"|<(?!br\s*/?>)(?!(?<=<<)\w+>>)[a-z!/?]",
    re.IGNORECASE,
)
"""An image shape, HTML in a label (but for `<br>`; `<<interface>>` is none), style sheets, entities that would spell HTML."""
_MERMAID_CLICK: Final = re.compile(r"(?:^|;)\s*(?:click|callback|links?)\s", re.IGNORECASE | re.MULTILINE)
"""What makes a node call a script or lead away."""
_MERMAID_WORDS: Final = re.compile(r"\s*(?:mindmap|timeline|journey|kanban|pie|quadrantChart|erDiagram)\b")
"""Diagrams of plain words, where nothing can be clicked and a line may well begin with "Click" or "Link". Mermaid, too, goes
by how the text begins, and knows the case."""
_QUERY: Final = re.compile(
    r"!\s*\[|<[a-z!/]|[\"'][^\"'\n]{0,200}[!<]\s*[\"']|\b(?:embed|html|image)\s*\(", re.IGNORECASE
)
"""In Dataview and Bases: an answer put together so that it is shown as an image or as HTML."""


_PICTURE_ADDRESS: Final = re.compile(
    r"(?<![(<\w/])(?:https?:)?//[^\s()<>\"']{1,500}\.(?:png|jpe?g|gif|webp|svg|avif|bmp|mp4|webm|mp3)\b", re.IGNORECASE
)

MAX_NESTING: Final = 4
"""Blocks within blocks that are looked through. One that lies deeper is taken to run."""


def runs(info: str, body: str) -> bool:
    """Whether a fenced block with this info string (escapes and entities decoded) and body is run or loads something."""
    info = _plain(info)
    if _BRACED.match(info):
        return True
    found = _WORD.match(info)
    if found is None:
        return False
    word = found[0]
    if word in _BY_BODY:
        return _BY_BODY[word](body)
    return _RUNS.fullmatch(word) is not None


def may_run(word: str) -> bool:
    """Whether a block whose info string is this one word is run, or rendered, for some body or other."""
    return word.casefold() in _BY_BODY or word.casefold() not in LANGUAGES or runs(word, "")


def rendered(info: str, body: str) -> str:
    """What of a block's body may be rendered as Markdown: all if its language is none that we know, nothing otherwise.

    Every line begins at the margin, so that none is code for being indented. A picture's address by itself is written as
    a picture: galleries and sliders take lists of them.
    """
    found = _WORD.match(_plain(info))
    if found is None or found[0] in LANGUAGES or found[0] in _BY_BODY:
        return ""
    body = _PICTURE_ADDRESS.sub(r"![](\g<0>)", body)
    return "\n" + "\n".join(line.lstrip(" \t") for line in body.split("\n"))


def _plain(info: str) -> str:
    return unicodedata.normalize("NFKC", html.unescape(info)).strip().casefold()


_DATA: Final = re.compile(r"\"?\burl\"?\s*:", re.IGNORECASE)
"""Where a Vega chart takes its data from."""


def _is_active_diagram(body: str) -> bool:
    if _MERMAID.search(body):
        return True
    return _MERMAID_WORDS.match(body) is None and _MERMAID_CLICK.search(body) is not None


def _holds(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda body: pattern.search(body) is not None


_BY_BODY: Final[Mapping[str, Callable[[str], bool]]] = {
    "vega": _holds(_DATA),
    "vega-lite": _holds(_DATA),
    "tasks": _holds(_TASKS_SCRIPT),
    "mermaid": _is_active_diagram,
    "dataview": _holds(_QUERY),
    "base": _holds(_QUERY),
}

_INLINE_SCRIPT: Final = re.compile(r"\s*[a-z]{0,3}\$(?==)", re.IGNORECASE)
_INLINE_QUERY: Final = re.compile(r"\s*(?:(?:dv|dc)?(?==)|(?=VIEW\s*\[))", re.IGNORECASE)
"""Of Dataview and Datacore; and Meta Bind's view field, which can render Markdown."""


def inline_script(code: str) -> int | None:
    """Where in a code span's text, between `$` and `=`, a space keeps Dataview from running it; None if it would not."""
    found = _INLINE_SCRIPT.match(code)
    return None if found is None else found.end()


def inline_query(code: str) -> int | None:
    """Where the `=` of an inline query stands whose answer would be shown as an image or as HTML; None if it is no such."""
    found = _INLINE_QUERY.match(code)
    return found.end() if found is not None and _QUERY.search(code) else None
