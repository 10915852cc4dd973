"""What a `<style>` in the note hides: elements by class, id, attribute or name.

Only the last part of a selector is looked at, the elements around are taken as given; so an element may be taken for hidden
that is not, but not the other way. Rules for print and for pseudo-elements say nothing about the page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from service.guards.markup import css
from service.guards.markup.html import Start

MAX_RULES: Final = 1000
"""Rules of all style sheets of a note that are looked at. Nobody writes so many by hand; each further one counts as hiding."""

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_PRINT: Final = re.compile(r"@media\s+print\s*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", re.IGNORECASE)
_BRACE: Final = re.compile(r"([{}])")
_PSEUDO: Final = re.compile(
    r"(?<!\()::?(?:before|after|hover|focus|active|visited|first-l|marker|selection|placeholder)"
)
_LAST: Final = re.compile(r"[^\s>+~]*+\Z")
_FUNCTION: Final = re.compile(r":[\w-]+(?:\([^()]*\))?")
_NAME: Final = re.compile(r"[.#]?-?[A-Za-z_\u0080-\U0010ffff][\w-]*|\[\s*[\w-]+")


class Sheets:
    """The style sheets of a note."""

    def __init__(self, sheets: Iterable[str]) -> None:
        self._hidden: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
        left = MAX_RULES
        for sheet in sheets:
            for selectors, declarations in _rules(sheet):
                left -= 1
                if left < 0 or css.look(declarations, css.PLAIN)[0]:
                    for wanted in _wanted(selectors):
                        self._hidden[min(wanted)].append(wanted)

    def hides(self, element: Start) -> bool:
        """Whether one of the rules hides this element."""
        if not self._hidden:
            return False
        names = {element.name}
        attributes = element.attributes
        names.update(f".{name}" for name in attributes.get("class", "").split())
        names.update(f"[{name}" for name in attributes)
        if "id" in attributes:
            names.add(f"#{attributes['id'].strip()}")
        return any(wanted <= names for name in names for wanted in self._hidden.get(name, ()))


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of each rule; of rules within rules the innermost."""
    parts = _BRACE.split(_PRINT.sub("", _COMMENT.sub("", sheet)))
    for at in range(1, len(parts), 2):
        is_rule = parts[at] == "{" and parts[at + 2 : at + 3] in (["}"], [])
        if is_rule:
            yield parts[at - 1].rpartition(";")[2], parts[at + 1]


def _wanted(selectors: str) -> Iterator[frozenset[str]]:
    for selector in selectors.split(","):
        last = _LAST.search(selector.strip())
        if last is None or _PSEUDO.search(selector):
            continue
        names = _NAME.findall(_FUNCTION.sub("", last[0]))
        if names:
            yield frozenset(name if name[0] in ".#" else name.lower().replace(" ", "") for name in names)
