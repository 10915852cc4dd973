"""Code blocks that Obsidian or one of its plugins does not show but runs, or that load something when shown.

Judged by the first word of the info string, whatever its case, and for some by what stands inside. Sources: guards.md 4.4
and the pages of the plugins: Dataview, JS Engine, Execute Code, Buttons, Meta Bind, Datacore, Auto Card Link, Link Embed,
HTML Server, Leaflet, PlantUML, Tasks; Mermaid issue 7645 (image shapes are fetched before any sanitiser looks).
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

_RUNS: Final = re.compile(
    r"dataviewjs|js-?engine.*|run-.*|button.*|meta-bind-(?:js|button).*|datacore.*|(?:auto-)?card-?link|(?:link-)?embed"
    r"|html|leaflet|plantuml.*|puml|jsx:.*|templater|iframe|webview|custom-?frames?"
)
_BRACED: Final = re.compile(r"\{+\s*[a-z]")
"""`{python}` and the like: run by notebooks and by Execute Code. `{.python}` only names a class."""
_WORD: Final = re.compile(r"[\w:+.#-]+")

_TASKS_SCRIPT: Final = re.compile(r"\bfunction\b", re.IGNORECASE)
_MERMAID: Final = re.compile(
    r"\bimg\W{0,3}:|url\s*\(|themecss|!\[|\\u00|(?:&|\#)(?:lt|\#?0*60|\#?x0*3c)\b"
    r"|<(?!br\s*/?>)(?!(?<=<<)\w+>>)[a-z!/?]|(?:^|;)\s*(?:click|callback|links?)\s",
    re.IGNORECASE | re.MULTILINE,
)
"""An image shape, HTML in a label (but for `<br>`; `<<interface>>` is none), style sheets, entities that would spell HTML,
and what makes a node call a script or lead away."""
_QUERY: Final = re.compile(
    r"!\s*\[|<\s*[a-z!/]|[\"'][^\"'\n]{0,200}[!<]\s*[\"']|\b(?:embed|html|image)\s*\(", re.IGNORECASE
)
"""In Dataview and Bases: an answer put together so that it is shown as an image or as HTML."""


def runs(info: str, body: str) -> bool:
    """Whether a fenced block with this info string (escapes and entities decoded) and body is run or loads something."""
    info = unicodedata.normalize("NFKC", html.unescape(info)).strip().casefold()
    if _BRACED.match(info):
        return True
    found = _WORD.match(info)
    if found is None:
        return False
    word = found[0]
    if word in _BY_BODY:
        return _BY_BODY[word].search(body) is not None
    return _RUNS.fullmatch(word) is not None


def may_run(word: str) -> bool:
    """Whether a block whose info string is this one word is run for some body or other."""
    return word.casefold() in _BY_BODY or runs(word, "")


_BY_BODY: Final = {"tasks": _TASKS_SCRIPT, "mermaid": _MERMAID, "dataview": _QUERY, "base": _QUERY}

_INLINE_SCRIPT: Final = re.compile(r"\s*[a-z]{0,3}\$(?==)", re.IGNORECASE)
_INLINE_QUERY: Final = re.compile(r"\s*(?:dv|dc)?(?==)", re.IGNORECASE)


def inline_script(code: str) -> int | None:
    """Where in a code span's text, between `$` and `=`, a space keeps Dataview from running it; None if it would not."""
    found = _INLINE_SCRIPT.match(code)
    return None if found is None else found.end()


def inline_query(code: str) -> int | None:
    """Where the `=` of an inline query stands whose answer would be shown as an image or as HTML; None if it is no such."""
    found = _INLINE_QUERY.match(code)
    return found.end() if found is not None and _QUERY.search(code) else None
