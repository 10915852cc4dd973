"""The second look at what is about to be written: a CommonMark parser and an HTML5 parser, neither of them ours.

Our own scanner finds what to make harmless and where; here nothing has a place, only a name: what would be active in the
page that a reader sees. Whatever the scanner missed shows as a difference. Bounded by CPU time, since Markdown parsers are
quadratic on brackets. Both parsers are imported when first needed: most writes hold nothing that could be active.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from service.guards import active, active_html, destinations, fences
from service.guards.active import Scanned

if TYPE_CHECKING:
    from justhtml import Node
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MAX_CPU_S: Final = 1.0
"""CPU seconds for one look; what takes longer is refused. Most looks take a hundredth of that."""

_S_PER_TAG: Final = 8e-6
_S_PER_CHAR: Final = 0.3e-6
"""What parsing HTML takes, measured with `justhtml` 3.16, which cannot be stopped once it has begun."""

WHOLE_CHARS: Final = 30_000
"""Characters of both texts together up to which they are looked at whole. Of longer ones only the parts that differ are."""

_CUT: Final = re.compile(r"\n\r?\n")  # read backwards
_HARMLESS: Final = re.compile(
    r"</?(?:b|i|u|s|em|strong|br|hr|sub|sup|kbd|code|mark|small|del|ins|p|div|span|details|summary|center|li|ul|ol)\s*/?>"
    r"|!\[[^\[\]\n<>`\\!]{0,200}\]\((?!/)[\w./# -]{0,200}\)"
    r"|(?:```|~~~)(?P<word>[\w+-]{1,30})$",
    re.IGNORECASE | re.MULTILINE,
)
"""Tags without attributes, local images, the first lines of code blocks that no plugin looks at."""
_MARKUP: Final = re.compile("<[/!?]")  # it may end what another part began
_MAX_NESTING: Final = 150  # of containers, each some frames of Python deep
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\r?\n(?:.*\n)*?---[ \t]*(?:\r?\n|$)")
_EMBED: Final = re.compile(r"!\[\[([^\]|\n]+)")

Found = Counter[tuple[str, str]]
"""What is active: kind and what makes it so, as often as it stands there."""


def is_as_harmless(old: Scanned, new: Scanned) -> bool:
    """Whether nothing is active in `new` that was not in `old`.

    Raises:
        TooMuch: it would take too long to say, or nests too deeply.
    """
    if new.text.count("<%") > old.text.count("<%"):  # Templater reads no Markdown, and so needs no parser
        return False
    if len(old.text) + len(new.text) <= WHOLE_CHARS:
        before, after = [old.text], [new.text]
    else:
        parts, others = Counter(_parts(old)), Counter(_parts(new))
        before, after = [*(parts - others).elements()], [*(others - parts).elements()]
        if old.definitions != new.definitions:  # what refers to them may stand anywhere
            before, after = [*parts.elements()], [*others.elements()]
        before = ["\n\n".join(filter(_may_matter, before))]  # as one page, like the reader's
        after = ["\n\n".join(filter(_may_matter, after))]
    watch = _Watch(MAX_CPU_S)
    now = _active(after, new.definitions, watch)
    return not now or not now - _active(before, old.definitions, watch)


def _parts(whole: Scanned) -> Iterator[str]:
    """A document cut where nothing goes on: before a block at the left margin, behind a blank line."""
    text, done = whole.text, 0
    for block in whole.blocks:
        at = block.start
        if at > done and _CUT.match(text[max(0, at - 4) : at][::-1]):
            yield text[done:at]
            done = at
    yield text[done:]


def _may_matter(part: str) -> bool:
    """Whether a part of a long note holds more than what is harmless however it is read."""
    rest = _HARMLESS.sub(_without, part)
    return active.may_hold_any(rest) or _MARKUP.search(rest) is not None


def _without(found: re.Match[str]) -> str:
    word = found["word"]
    return found[0] if word and fences.may_run(word) else " "


class TooMuch(Exception):
    """The look would take longer than it may."""


class _Watch:
    """Stops a parser that takes too long. Given to it as a rule that never matches."""

    def __init__(self, limit_s: float) -> None:
        self._until = time.thread_time() + limit_s
        self._calls = 0

    def look(self) -> None:
        self._calls += 1
        if self._calls % 64 == 0 and time.thread_time() > self._until:
            raise TooMuch

    def expect(self, more_s: float) -> None:
        """Stop before something that would take too long and cannot be stopped within."""
        if time.thread_time() + more_s > self._until:
            raise TooMuch

    def inline(self, state: StateInline, silent: bool) -> bool:
        del state, silent
        self.look()
        return False

    def block(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        del state, start, end, silent
        self.look()
        return False


def _active(texts: Iterable[str], definitions: Sequence[tuple[str, str]], watch: _Watch) -> Found:
    """What is active in Markdown texts, each of which stands by itself but for the definitions of links.

    Raises:
        TooMuch: it would take too long, or nests too deeply.
    """
    found: Found = Counter()
    parser = _parser(watch)
    for text in texts:
        found.update(_active_in(parser, text, definitions, watch))
        watch.look()
    return found


def _active_in(
    parser: MarkdownIt, text: str, definitions: Sequence[tuple[str, str]], watch: _Watch, depth: int = 0
) -> Iterator[tuple[str, str]]:
    from justhtml import JustHTML
    from markdown_it.common.utils import normalizeReference

    references: dict[str, dict[str, str]] = {}
    for label, destination in definitions:
        references.setdefault(normalizeReference(label), {"title": "", "href": destination})
    env = {"references": references}
    try:
        front = _FRONT_MATTER.match(text)
        tokens = parser.parse((text[front.end() :] if front else text) + "\n", env)
        page = parser.renderer.render(tokens, parser.options, env)
        watch.expect(_S_PER_TAG * page.count("<") + _S_PER_CHAR * len(page))
        yield from _in_tokens(tokens)
        for token in tokens:
            body = fences.rendered(token.info, token.content) if token.type == "fence" else ""
            if active.may_hold_any(body) and (
                depth >= fences.MAX_NESTING or next(_active_in(parser, body, (), watch, depth + 1), None)
            ):
                yield "fence", f"{token.info}\n{token.content}"
        yield from _in_page(JustHTML(page, sanitize=False).root)
    except (
        RecursionError,
        IndexError,
    ) as error:  # IndexError: markdown-it-py 4.3 trips over some HTML in nested quotes
        raise TooMuch from error


def _parser(watch: _Watch) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING})
    parser.enable("table").disable("text_join")  # so that escaped characters stay apart from the text around them
    parser.inline.ruler.before("text", "watch", watch.inline)
    parser.block.ruler.before("table", "watch", watch.block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    # The library's own opinions of addresses are not asked: it would hide from us just those that we look for.
    _set(parser, "validateLink", lambda _: True)
    _set(parser, "normalizeLink", lambda url: url)
    return parser


def _set(parser: MarkdownIt, name: str, judge: Callable[[str], object]) -> None:
    setattr(parser, name, judge)


def _in_tokens(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Code that would run, and embeds of addresses, which only Obsidian reads."""
    for token in tokens:
        if token.type == "fence" and fences.runs(token.info, token.content):
            yield "fence", f"{token.info}\n{token.content}"
        children = token.children or ()
        for child in children:
            if child.type == "code_inline" and _is_script(child.content):
                yield "script", child.content
        said = "".join(child.content if child.type == "text" else "\n" for child in children)
        for found in _EMBED.finditer(said):
            if destinations.is_loaded_from_elsewhere(found[1]):
                yield "image", found[1]


def _is_script(code: str) -> bool:
    return fences.inline_script(code) is not None or fences.inline_query(code) is not None


def _in_page(root: Node) -> Iterator[tuple[str, str]]:
    """Elements that are active once the page is built, with what makes them so."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        waiting += getattr(node, "children", None) or ()
        content = getattr(node, "template_content", None)
        if content is not None:
            waiting.append(content)
        written = getattr(node, "attrs", None) or {}
        attributes = tuple((name.lower(), value or "") for name, value in written.items())
        name = str(node.name).lower()
        if name.startswith("#") or not active_html.is_active(name, attributes):
            continue
        telling = [f"{key}={value}" for key, value in attributes if active_html.is_active_attribute(key, value)]
        inside = node.to_text() if name in active_html.TEXT_INSIDE else ""
        yield name, " ".join(telling) + inside
