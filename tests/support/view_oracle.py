"""A judge of views that shares nothing with the product: markdown-it-py, lexbor, `regex`, and its own idea of "seen".

A text is rendered to HTML as Obsidian does it, top-level block by block, and read by an HTML5 parser. A word of the text
that is neither shown nor an attribute is hidden; no view may hold one. Its rules for styles are few and written for the
fragments of `view_fragments.py`: they need not be complete, but they must not be the product's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import regex
from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser, LexborNode

WORD = re.compile(r"w\d+z")
"""What stands for text in a fragment; see `view_fragments.glue`."""

_FRONTMATTER = re.compile(r"\A---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_NEVER_SHOWN = {"script", "style", "template", "noscript", "title", "head", "noembed", "noframes", "datalist"}
_FALLBACK = {"iframe", "canvas", "object", "audio", "video"}
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})[ \t\n]?")
_END_TAG = re.compile(r"</[A-Za-z][^<>]*>")
_FENCE_INFO = re.compile(r"^[ >\t*+\-0-9.)]*(?:```+|~~~+)(.*)$", re.MULTILINE)
_BARE_DEFINITION = re.compile(r"(?=\[([^\]\n]+)\]:[ \t>]*\n?[ \t>]*(?:<([^>\n]+)>|(\S+)))")
_FOREIGN = re.compile(r"<(?:svg|math)", re.IGNORECASE)
_ROW = re.compile(r"^[^|\n]*\|.*$", re.MULTILINE)
"""Cells beyond those of a table's head are dropped: a known channel, told of in docs/explanation/guards.md."""
_FOOTNOTE = re.compile(r"\[\^(\S+?)\]:")
"""For Obsidian a footnote, for CommonMark a link definition."""
_FOOTNOTE_BODY = re.compile(r"\[\^\S+?\]:[^\n]*\n(?:[ \t>]*\n)*(?: {4}|[ >]*\t)[\s\S]*")
"""For Obsidian the footnote goes on in an indented line, for CommonMark that is code."""
_DEEP_QUOTE = re.compile(r"^[ \t>*+\-]*(?: {4}|\t)[ \t]*>.*$", re.MULTILINE)
"""Four columns make code of it; markdown-it goes on with a quote all the same."""
_DISPUTED = re.compile(r"\[([^\]\n]+)\]:[^\n]*\n(?:.*\n)??(?: {4}|[ ]{0,3}\t)[^\n]*\[\1\]")
"""A use in the indented line behind a definition: for cmark the paragraph goes on, for markdown-it it is code."""

_GOOD = regex.compile(
    r"\U0001F3F4(?:\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067|\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074"
    r"|\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073)\U000E007F"
    r"|[0-9#*][\uFE0E\uFE0F]\u20E3"
    r"|[\p{Emoji}--\p{ASCII}](?:\p{EMod}|[\uFE0E\uFE0F])?(?:\u200D\p{Extended_Pictographic}(?:\p{EMod}|[\uFE0E\uFE0F])?)*"
    r"|(?<=[\p{Arabic}\p{Devanagari}\p{Sinhala}])[\u200C\u200D](?![\u200C\u200D])"
    r"|(?<![\u200C\u200D])[\u200C\u200D](?=[\p{Arabic}\p{Devanagari}\p{Sinhala}])"
    r"|(?<=[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])\u200B(?=[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])"
    r"|(?<=\p{Han})[\U000E0100-\U000E01EF]|(?<=[\p{Mongolian}--\p{DI}])[\u180B-\u180D\u180F]"
    r"|(?<=\p{hst=L})\u1160|\u115F(?=\p{hst=V})",
    regex.V1,
)
_BAD = regex.compile(r"[\p{DI}[\p{Cc}--[\t\n\r]]\p{Noncharacter_Code_Point}\uFFF9-\uFFFB]|\u2800{2,}", regex.V1)
_BIDI = regex.compile(r"[\u061C\u200E\u200F\u202A-\u202C\u2066-\u2069]")
_RIGHT_TO_LEFT = regex.compile(r"[\p{Hebrew}\p{Arabic}]")
_NEVER_IN_TEXT = regex.compile(r"[\u200B\u2060-\u206F\uFEFF\u00AD\u034F\u3164\x00-\x08\x0E-\x1F\x7F]")


@dataclass
class Seen:
    """What a reader of a rendered text has before them."""

    shown: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)

    def words(self, parts: list[str]) -> set[str]:
        return set(WORD.findall(" ".join(parts)))


def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    made.validateLink = lambda url: True  # type: ignore[method-assign]
    return made


_MARKDOWN = _markdown()


def residue(view: str) -> list[str]:
    """What a view still hides: words, comments, elements, letters. Empty when it is good."""
    if _DEEP_QUOTE.search(view):
        return []
    seen = rendered(view)
    if not _FOREIGN.search(view):  # an open <svg> of one block would change what the next ones mean
        seen.hidden += rendered(view, at_once=True).hidden
    found = [f"hidden text {part!r}" for part in seen.hidden if WORD.search(part) or part.startswith("<!--")]
    found += [f"vanished word {word}" for word in sorted(_vanished(view, seen))]
    found += [f"letter U+{ord(char[0]):04X}" for char in invisible(view)]
    found += [f"decoded U+{ord(char):04X}" for part in seen.shown for char in _NEVER_IN_TEXT.findall(part)]
    return found


def leaked(raw: str, view: str) -> set[str]:
    """Words that a reader of the raw text cannot see, but a reader of its view can."""
    if _DEEP_QUOTE.search(raw):
        return set()
    return _vanished(raw, rendered(raw)) & set(WORD.findall(view))


def lost(raw: str, view: str) -> set[str]:
    """Words that a reader of the raw text sees, but a reader of its view does not."""
    seen = rendered(raw)
    return seen.words(seen.shown) - set(WORD.findall(view))


def _vanished(text: str, seen: Seen) -> set[str]:
    """Words that are neither shown nor written in an attribute, an end tag, a fence or a bare definition."""
    written = [
        *_END_TAG.findall(text),
        *_FENCE_INFO.findall(text),
        *(" ".join(parts) for parts in _BARE_DEFINITION.findall(text)),
    ]
    written += [match[0] for match in _FOOTNOTE_BODY.finditer(text)]
    written += _ROW.findall(text) + _DEEP_QUOTE.findall(text)
    written += [match[0] for match in _DISPUTED.finditer(text)]
    front = _FRONTMATTER.match(text)
    written.append(front[0] if front else "")
    return set(WORD.findall(text)) - seen.words(seen.shown) - seen.words(seen.attributes) - seen.words(written)


def invisible(text: str) -> list[str]:
    """Letters that are not seen and have no work. Bidi controls are judged by line: some letter must need them."""
    left = _GOOD.sub(lambda match: match[0] and "\ue000", text)
    lines = regex.split(r"[\r\n]", left)
    kept = [_BIDI.sub("", line) if _RIGHT_TO_LEFT.search(line) else line for line in lines]
    return [match[0] for line in kept for match in _BAD.finditer(line)]


def rendered(text: str, *, at_once: bool = False) -> Seen:
    """What the text shows and hides: block by block as in Obsidian, or all `at_once` as on a web page.

    On a web page a fallback that nothing closes swallows the rest; it is not counted there.
    """
    front = _FRONTMATTER.match(text)
    body = text[front.end() :] if front else text
    seen = Seen()
    tokens = _MARKDOWN.parse(
        _FOOTNOTE.sub(r"[^\1];", body) + "\n"
    )  # without the line end it raises IndexError at times
    for part in [tokens] if at_once else _sections(tokens):
        page = _MARKDOWN.renderer.render(part, _MARKDOWN.options, {})
        root = LexborHTMLParser(f"<!DOCTYPE html><html><body>{page}").body
        if root is not None:
            _walk(root, seen, is_hidden=False, fallback=set() if at_once else _FALLBACK)
    return seen


def _sections(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            parts.append([])
        parts[-1].append(token)
        depth += token.nesting
    return parts


def _walk(node: LexborNode, seen: Seen, *, is_hidden: bool, fallback: set[str]) -> None:
    child = node.first_child
    while child is not None:
        tag = child.tag
        if tag == "-text":
            is_undrawn = node.tag == "svg" or (node.tag == "g" and node.parent is not None and node.parent.tag == "svg")
            (seen.hidden if is_hidden or is_undrawn else seen.shown).append(child.text_content or "")
        elif tag == "-comment" or tag == "_comment" or tag == "!--":
            seen.hidden.append(f"<!-- {child.html or ''}")
        elif tag is not None:
            attributes = child.attributes
            seen.attributes.append(tag)
            seen.attributes.extend(f"{name} {value or ''}" for name, value in attributes.items())
            hides = is_hidden or _is_hidden(tag, attributes)
            _walk(child, seen, is_hidden=hides or tag in fallback, fallback=fallback)
            if hides and tag in ("input", "img", "br", "hr"):
                seen.hidden.append(child.html or "")
        child = child.next


def _is_hidden(tag: str, attributes: dict[str, str | None]) -> bool:
    if tag in _NEVER_SHOWN or "hidden" in attributes or (tag == "dialog" and "open" not in attributes):
        return True
    if (
        tag == "input" and (attributes.get("type") or "").lower() == "hidden"
    ):  # in SVG it holds text, which is not drawn
        return True
    style = _CSS_ESCAPE.sub(lambda match: chr(int(match[1], 16)), _CSS_COMMENT.sub("", attributes.get("style") or ""))
    declared: dict[str, str] = {}
    for one in style.lower().split(";"):
        name, colon, value = one.partition(":")
        if colon:
            declared[name.strip()] = value.replace("!important", "").strip()
    return (
        declared.get("display") == "none"
        or declared.get("visibility") in ("hidden", "collapse")
        or re.fullmatch(r"0*\.?0*", declared.get("opacity", "1")) is not None
        or re.fullmatch(r"[01]?(\.\d+)?(px)?", declared.get("font-size", "16px")) is not None
        or declared.get("color") in ("transparent", "rgba(0,0,0,0)", "#0000")
        or "scale(0)" in declared.get("transform", "")
        or re.match(r"-\d{4,}px", declared.get("left", "0")) is not None
        or (declared.get("height") in ("0", "0px") and declared.get("overflow") == "hidden")
        or (declared.get("color") in ("#fff", "white") and declared.get("background") in ("#fff", "white"))
    )
