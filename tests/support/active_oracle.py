"""What would run, load or lead away in a note, found without a line of the product: markdown-it, lexbor, and own lists.

For tests of the input guard. It knows the two parsers' page and what Obsidian and its plugins do with some code; nothing of
where anything stands. Lists are written down anew from guards.md 4.4, so that a wrong one in the product shows.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

LINKABLE = ("http:", "https:", "mailto:", "tel:", "zotero:", "message:", "things:")
NEVER = {
    "iframe",
    "object",
    "embed",
    "svg",
    "math",
    "link",
    "style",
    "script",
    "meta",
    "base",
    "form",
    "frame",
    "frameset",
}
LOADS = {"src", "srcset", "poster", "background", "data", "lowsrc", "dynsrc", "imagesrcset", "attributionsrc"}
NEVER_ATTRIBUTES = {"ping", "srcdoc", "formaction", "action", "http-equiv"}
RUNNING = re.compile(
    r"(dataviewjs|js-?engine|button|cardlink|embed|html|leaflet|plantuml)(?![\w-])|run-|meta-bind-(js|button)|datacore|\{\s*[a-z]"
)


def active(text: str) -> Counter[tuple[str, str]]:
    """Everything active, as (kind, what makes it so)."""
    return Counter(_active(text))


def _active(text: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer("<%", text):
        yield "template", text[found.start() : found.start() + 2]
    parser = _parser()
    front = re.match(r"---[ \t]*\r?\n(?:.*\n)*?---[ \t]*(?:\r?\n|$)", text)
    tokens = parser.parse(text[front.end() :] if front else text)
    for number, token in enumerate(tokens):
        if token.type == "fence" and _runs(token.info, token.content):
            yield "block", token.info + token.content
        for child in token.children or ():
            if child.type == "code_inline" and re.match(r"\s*\$=", child.content):
                yield "script", child.content
        said = "".join(child.content if child.type == "text" else "\x00" for child in token.children or ())
        # A bar ends the cell of a table: readers that do not know tables see the whole of an embed that it cuts.
        end = r"(?:\]\]|\Z)" if number and tokens[number - 1].type in ("td_open", "th_open") else r"\]\]"
        for found in re.finditer(r"!\[\[([^\]\n|\x00]*)(?:\|[^\]\n\x00]*)?" + end, said):
            if _is_remote(found[1]):
                yield "embed", found[1]
    page = LexborHTMLParser(parser.renderer.render(tokens, parser.options, {}))
    for node in page.root.traverse() if page.root else ():
        attributes = {name.lower(): value or "" for name, value in node.attributes.items()}
        why = [f"{name}={value}" for name, value in attributes.items() if _does_something(node.tag or "", name, value)]
        if node.tag in NEVER or why:
            yield f"element {node.tag}", " ".join(why)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable("table").disable("text_join")
    parser.validateLink = lambda _: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser


def _does_something(tag: str, name: str, value: str) -> bool:
    if name.startswith("on") or name in NEVER_ATTRIBUTES:
        return True
    if name == "style":
        return re.search(r"url\(|image-set\(|@import|\\", value, re.IGNORECASE) is not None
    if name in ("srcset", "imagesrcset"):
        return any(_is_remote(part) for part in re.split(r"[\s,]+", value))
    if name in LOADS or name.endswith(":href") or (name == "href" and tag in ("use", "image", "link", "base")):
        return _is_remote(value)
    return name == "href" and _is_bad(value)


def _plain(address: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\u200b-\u200f\ufeff\u00ad]", "", html.unescape(address)).strip()


def _is_remote(address: str) -> bool:
    plain = _plain(address)
    if re.fullmatch(r"data:image/(png|jpe?g|gif|webp|avif|bmp);base64,[A-Za-z0-9+/=]*", plain):
        return False
    return any(re.match(r"[a-z][a-z0-9+.-]*:|[/\\]{2}", one, re.IGNORECASE) for one in (plain, unquote(plain)))


def _is_bad(address: str) -> bool:
    plain = _plain(address).lower()
    if plain.startswith("\\\\"):
        return True
    if not re.match(r"[a-z][a-z0-9+.-]*:", plain) or plain.startswith(LINKABLE):
        return False
    query = unquote(plain)
    writes = re.search(r"[?&](append|prepend|overwrite|content|x-success)", query)
    return not (re.match(r"obsidian://(open|search)/?(\?|$)", plain) and not writes)


def _runs(info: str, body: str) -> bool:
    info = html.unescape(info).strip().lower()
    if RUNNING.match(info.split()[0] if info.split() else ""):
        return True
    if re.match(r"tasks(?![\w-])", info):
        return re.search(r"\bfunction\b", body, re.IGNORECASE) is not None
    return re.match(r"mermaid(?![\w-])", info) is not None and (
        re.search(r"img\s*:|url\(|themecss|<(?!br)[a-z]|^\s*click ", body, re.IGNORECASE | re.MULTILINE) is not None
    )
