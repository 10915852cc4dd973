"""Which parts of a text lie in elements that nobody sees.

Start tags are matched with end tags by name, as HTML's tree builder would in all but odd cases; where the two differ, the
element is taken to go on. Source: HTML Standard, 13.2.6; rules: docs/explanation/guards.md, "Hidden elements".
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service.guards.markup import css, css_tokens, drawn
from service.guards.markup.css import Look
from service.guards.markup.css_sheets import Sheets
from service.guards.markup.html import BREAKS_OUT, RAW_TEXT, End, Start, Token
from service.guards.markup.words import words

Span = tuple[int, int]


class Reach(enum.Enum):
    """How far an element goes that nothing closes: what of the blocks and containers around it ends it."""

    LEAF = "paragraph"
    CONTAINER = "list item or quote"
    SECTION = "top-level block"


EndOfBlock = Callable[[int, Reach], int]
"""Where a tag's block ends: (offset of the tag, how far its element goes)."""

TOKENS_PER_CHECK: Final = 2048
"""Tokens looked at between two looks at the clock; a style takes most, about 0.1 ms."""
VOID: Final = words(
    "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr"
)
"""Elements without content (HTML, 13.1.2, and the obsolete ones of 13.2.6.4.7)."""
NEVER_SHOWN: Final = words("script style template noscript title head noembed noframes datalist rp fencedframe")
"""Elements whose content browsers never show (HTML, 15.3.1); of `rp` see `_is_ruby_parenthesis`."""
NEVER_SHOWN_IN_FOREIGN: Final = words(
    "desc metadata defs symbol clippath mask pattern marker lineargradient radialgradient filter annotation "
    "annotation-xml mphantom maction switch"
)
"""The same in SVG and MathML."""
FALLBACK: Final = words("iframe canvas object audio video progress meter")
"""Elements whose content only shows in programs that do not know them. The tags themselves stay."""
_SHOWN_IN_FALLBACK: Final = frozenset({"source", "track", "param"})
_MAX_WITHIN: Final = 16
"""Drawings, formulas and choices within each other that are looked through; a deeper one is left out."""
_FORMATTING: Final = words("a b big code em font i nobr s small strike strong tt u")
_TABLE_PARTS: Final = words("table caption colgroup tbody thead tfoot tr td th")
_SCOPES: Final = words("applet caption html table td th marquee object template foreignobject select")
"""What an end tag within does not look beyond (13.2.4.2), with `select`, which keeps some in."""
_TABLE_SCOPES: Final = frozenset({"table", "template", "html"})
_SPECIAL: Final = _SCOPES | _TABLE_PARTS | words(
    "address article aside blockquote body center dd details dir div dl dt fieldset figcaption figure footer form "
    "frameset h1 h2 h3 h4 h5 h6 header hgroup iframe li listing main menu nav noembed noframes noscript ol p "
    "plaintext pre script search section style summary textarea title ul xmp"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unseen:
    """Parts of the text that are not seen, and how many elements that are."""

    spans: list[Span]
    count: int


def unseen(
    text: str, tokens: Sequence[Token], end_of_block: EndOfBlock, check: Callable[[], None] = lambda: None
) -> Unseen:
    """What lies in hidden elements, never-shown ones and fallbacks. Takes time linear in the number of tokens.

    Args:
        text: what the tokens' places are in.
        tokens: in order.
        end_of_block: see there.
        check: called every now and then; may raise to stop.
    """
    closings = _matched(tokens)
    open_scopes = _left_open(tokens, closings, end_of_block)
    looks = _Looks()
    sheets = Sheets(_sheets(text, tokens, closings))
    within: list[int] = []
    spans: list[Span] = []
    count = covered = 0
    for at, token in enumerate(tokens):
        if at % TOKENS_PER_CHECK == 0:
            check()
        if not isinstance(token, Start):
            continue
        is_void = token.name in VOID or token.is_empty
        closing = None if is_void else closings.get(at)
        if is_void:
            inner_end = outer_end = token.end
        elif closing is not None:
            inner_end, outer_end = closing.start, closing.end
        else:
            inner_end = outer_end = max(token.end, end_of_block(token.start, _reach(token.name)))
            if _is_any_between(open_scopes, token.start, outer_end):
                inner_end = outer_end = max(token.end, end_of_block(token.start, Reach.SECTION))
        found: Sequence[Span] = ()
        if (
            looks.hides(token, outer_end)
            or sheets.hides(token)
            or _is_never_shown(token, text[token.end : min(inner_end, token.end + 20)])
        ):
            found = ((token.start, outer_end),)
        elif token.name in FALLBACK and inner_end > covered:
            found = [*_fallback(text, tokens, at, inner_end)]
        elif token.name in drawn.TEXT_ONLY_IN and inner_end > covered:
            within = [end for end in within if end > token.start]
            is_deep = len(within) >= _MAX_WITHIN
            shown_in = drawn.TEXT_ONLY_IN[token.name]
            found = ((token.start, outer_end),) if is_deep else [*_undrawn(text, tokens, at, inner_end, shown_in)]
            within.append(inner_end)
            outer_end = outer_end if is_deep else token.end  # what it holds is still to be looked at
        elif token.is_foreign and token.name in drawn.SHAPES and not is_void and token.start >= covered:
            shape_end = inner_end if closing is not None else min([inner_end, *within])
            found = ((token.end, shape_end),) if text[token.end : shape_end].strip() else ()
            outer_end = shape_end
        if found:
            spans.extend(found)
            count += token.start >= covered
            covered = max(covered, outer_end)
    return Unseen(spans, count)


def _left_open(tokens: Sequence[Token], closings: Mapping[int, End], end_of_block: EndOfBlock) -> list[int]:
    """Where scopes begin that go on behind their block."""
    return [
        token.start
        for at, token in enumerate(tokens)
        if isinstance(token, Start)
        and _reach(token.name) is Reach.SECTION
        and (at not in closings or closings[at].start > end_of_block(token.start, Reach.LEAF))
    ]


def _sheets(text: str, tokens: Sequence[Token], closings: Mapping[int, End]) -> Iterator[str]:
    """The text of each `<style>`."""
    for at, token in enumerate(tokens):
        if isinstance(token, Start) and token.name == "style":
            closing = closings.get(at)
            yield text[token.end : closing.start if closing else token.end + css_tokens.MAX_STYLE_CHARS]


def _is_any_between(places: list[int], start: int, end: int) -> bool:
    at = bisect_right(places, start)
    return at < len(places) and places[at] < end


def _reach(name: str) -> Reach:
    """13.2.6.4.7: formatting is opened again in each paragraph, scopes and raw text hear no end tag of others, and a
    paragraph's end tag closes no block."""
    if name in _FORMATTING or name in _SCOPES or name in RAW_TEXT:
        return Reach.SECTION
    return Reach.CONTAINER if name in _SPECIAL else Reach.LEAF


def _is_never_shown(token: Start, content: str) -> bool:
    if token.name == "rp":
        return not _is_ruby_parenthesis(content)
    if token.name == "dialog":
        return "open" not in token.attributes
    return token.name in NEVER_SHOWN or (token.is_foreign and token.name in NEVER_SHOWN_IN_FOREIGN)


def _is_ruby_parenthesis(content: str) -> bool:
    """`<rp>(</rp>` is in every ruby text, and says nothing."""
    content = content.strip()
    return len(content) <= 2 and not any(char.isalnum() for char in content)


def _fallback(text: str, tokens: Sequence[Token], at: int, end: int) -> Iterator[Span]:
    """What of a fallback is left out: all but the tags that say what to play."""
    start = tokens[at].end
    while (at := at + 1) < len(tokens) and tokens[at].start < end:
        token = tokens[at]
        if isinstance(token, Start) and token.name in _SHOWN_IN_FALLBACK:
            if text[start : token.start].strip():
                yield start, token.start
            start = token.end
    if text[start:end].strip():
        yield start, end


def _undrawn(text: str, tokens: Sequence[Token], at: int, end: int, shown_in: frozenset[str]) -> Iterator[Span]:
    """Characters of a drawing that stand in no text of it, and so are not drawn (SVG 2, 11.1); HTML within ends it.

    The same in formulas (MathML Core 2.1) and in lists to choose from.
    """
    is_foreign = "option" not in shown_in
    start = tokens[at].end
    texts = 0
    while (at := at + 1) < len(tokens) and tokens[at].start < end:
        token = tokens[at]
        if not texts and text[start : token.start].strip():
            yield start, token.start
        start = token.end
        if isinstance(token, Start) and is_foreign and token.name in BREAKS_OUT and not texts:
            return
        if isinstance(token, Start | End) and token.name in shown_in:
            texts = max(0, texts + (1 if isinstance(token, Start) else -1))
    if not texts and text[start:end].strip():
        yield start, end


def _matched(tokens: Sequence[Token]) -> dict[int, End]:
    """For each start tag, by its index, the end tag that closes it."""
    closings: dict[int, End] = {}
    open_by_name: defaultdict[str, list[int]] = defaultdict(list)
    barriers = _Barriers()
    for at, token in enumerate(tokens):
        if isinstance(token, Start) and token.name not in VOID and not token.is_empty:
            open_by_name[token.name].append(at)
            barriers.opened(token.name, at)
        elif isinstance(token, End) and open_by_name.get(token.name):
            candidates = open_by_name[token.name]
            if not barriers.keep_in(token.name, candidates[-1]):
                opened_at = candidates.pop()
                closings[opened_at] = token
                barriers.closed(token.name, opened_at)
    return closings


class _Barriers:
    """Open elements that an end tag of another name cannot close (HTML, 13.2.4.2 and "any other end tag")."""

    def __init__(self) -> None:
        self._special: list[int] = []
        self._scopes: list[int] = []
        self._table_scopes: list[int] = []
        self._paragraph = -1
        """Index of the innermost special element if that is a `p`: the next block closes it unasked."""

    def opened(self, name: str, at: int) -> None:
        if name not in _SPECIAL:
            return
        if self._special and self._special[-1] == self._paragraph:
            self._special.pop()
        self._paragraph = at if name == "p" else -1
        self._special.append(at)
        if name in _SCOPES:
            self._scopes.append(at)
        if name in _TABLE_SCOPES:
            self._table_scopes.append(at)

    def keep_in(self, name: str, opened_at: int) -> bool:
        """Whether an end tag does not reach the element of its name that was opened at `opened_at`."""
        if name in _TABLE_PARTS:
            barriers = self._table_scopes
        elif name in _SPECIAL or name in _FORMATTING:
            barriers = self._scopes
        else:
            barriers = self._special
        return bool(barriers) and barriers[-1] > opened_at

    def closed(self, name: str, opened_at: int) -> None:
        """Forget what was open within; a formatting element leaves open what it held (the adoption agency)."""
        if name in _FORMATTING:
            return
        for barriers in (self._special, self._scopes, self._table_scopes):
            while barriers and barriers[-1] >= opened_at:
                barriers.pop()


class _Looks:
    """The looks of the elements around, and those already worked out."""

    def __init__(self) -> None:
        self._around: list[tuple[int, Look]] = []
        self._known: dict[tuple[str, int], tuple[bool, Look, Look]] = {}

    def hides(self, token: Start, end: int) -> bool:
        """Whether the element's own attributes hide it; its look holds for what starts before `end`."""
        attributes = token.attributes
        if not attributes:
            return token.is_foreign and (drawn.is_cut(token) or (token.name in drawn.LETTERS and self._is_blank(token)))
        is_hidden = "hidden" in attributes or "popover" in attributes
        if token.name == "input" and attributes.get("type", "").strip().lower() == "hidden":
            is_hidden = True
        if is_hidden or drawn.is_cut(token):
            return True
        style = _style(token)
        if not style:
            return token.name in drawn.LETTERS and self._is_blank(token)
        while self._around and self._around[-1][0] <= token.start:
            self._around.pop()
        around = self._around[-1][1] if self._around else css.PLAIN
        key = (style, id(around))
        if key not in self._known:
            self._known[key] = (*css.look(style, around), around)  # `around` is kept, so that its id is not used again
        hides, look, _ = self._known[key]
        if not hides and look is not around and end > token.end:
            self._around.append((end, look))
        return hides or (token.name in drawn.LETTERS and look.is_unfilled and not look.is_stroked)

    def _is_blank(self, token: Start) -> bool:
        """Whether letters of a drawing have neither colour nor outline from what is around them."""
        while self._around and self._around[-1][0] <= token.start:
            self._around.pop()
        look = self._around[-1][1] if self._around else css.PLAIN
        return look.is_unfilled and not look.is_stroked


def _style(token: Start) -> str:
    """The style attribute, after what older attributes ask for (HTML, 15.2: presentational hints come first)."""
    attributes = token.attributes
    hints = []
    if "bgcolor" in attributes:
        hints.append(f"background-color:{_legacy_colour(attributes['bgcolor'])}")
    if token.name == "font" and "color" in attributes:
        hints.append(f"color:{_legacy_colour(attributes['color'])}")
    if token.name == "body" and "text" in attributes:
        hints.append(f"color:{_legacy_colour(attributes['text'])}")
    if token.is_foreign:
        hints.extend(f"{name}:{attributes[name]}" for name in drawn.PRESENTED if name in attributes)
        hints.extend(
            f"{drawn.RENAMED[name]}:{drawn.with_unit(attributes[name])}" for name in drawn.RENAMED if name in attributes
        )
    return ";".join([*hints, attributes.get("style", "")]) if hints else attributes.get("style", "")


def _legacy_colour(value: str) -> str:
    value = value.strip()
    is_bare = len(value) in (3, 6) and all(char in "0123456789abcdefABCDEF" for char in value)
    return f"#{value}" if is_bare else value.replace(";", "")
