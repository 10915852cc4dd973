"""Texts that make a careless Markdown scanner slow: each of about a wanted length, in characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

REPEATED: Final = (
    "[",
    "![",
    "](",
    "]",
    "[]",
    "`",
    "a``b",
    "<",
    "<!--",
    "<?",
    "<!X",
    "<![CDATA[",
    "*",
    "_",
    "&",
    "&#1;",
    "\\",
    "\\[",
    "$",
    "$`",
    "%%",
    "%%`",
    "<a ",
    "<a b='",
    "<a b=\"' c='",
    '<a b="" ',
    "</a ",
    "<a@b",
    "<a:b",
    "<div ",
    "<div>\n",
    "<script>\n",
    "<b>\n",
    "[a](",
    '[a](b "',
    "[a](<",
    "[a](b(",
    "[a](\\",
    "[a][",
    "[a](b)",
    "![a](b",
    "![[",
    "[[a]] ",
    "[[a",
    "[[",
    "[a]: ",
    "[a]: u\n",
    "[a]:\n",
    "> [a]: u\n> ===\n",
    "[a]: u\n<b>\n",
    "[a]: u\nx\n<b>\n",
    "[a]: u 'x\n",
    "[a]\n",
    "[^1]: a\n\n    ",
    "[^a",
    ">",
    "> ",
    "> - ",
    "> a\n",
    "- ",
    "-\t",
    "-\n\n",
    "- a\n\n",
    "- * + ",
    "1. ",
    "- - - a\n",
    "* ",
    "# a\n",
    "a\n===\n",
    "a",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "|a",
    "|`",
    "```\n",
    "``` a`\n",
    "~~~\n> ",
    "<!-- x -->",
    "<b>",
    "a `b` c\n",
    "---\n",
    "\ufeff",
    "é",
)


def _lines(line: Callable[[int], str]) -> Callable[[int], str]:
    """Lines that grow: about the square root of `size` of them."""
    return lambda size: "".join(line(number) for number in range(int(size**0.5)))


SHAPED: Final[Mapping[str, Callable[[int], str]]] = {
    "runs of backticks of every length": lambda size: "".join("`" * n + "a" for n in range(1, int((2 * size) ** 0.5))),
    "a list nested line by line": _lines(lambda number: "  " * number + "- a\n"),
    "a quote nested line by line": _lines(lambda number: ">" * number + "a\n"),
    "nested items, then blank lines": lambda size: "- " * (size // 4) + "a\n" + "\n" * (size // 2),
    "nested items, then lazy lines": lambda size: "- " * (size // 4) + "a\n" + "a\n" * (size // 4),
    "nested quotes, then lazy lines": lambda size: ">" * (size // 2) + "a\n" + "a\n" * (size // 4),
    "nested quotes, then shallow ones": lambda size: ">" * (size // 2) + "a\n" + ">a\n" * (size // 6),
    "nested items, then quotes": lambda size: "- " * (size // 4) + "a\n" + "> a\n" * (size // 8),
    "a fence in nested quotes": lambda size: "> " * (size // 4) + "```\n" + "> a\n" * (size // 8),
    "a definition for each link": lambda size: "".join(f"[a{n}]: u\n\n[a{n}]\n\n" for n in range(size // 24)),
    "long labels": lambda size: "[a]: u\n\n" + ("[" + "a" * 998 + "]") * (size // 1000),
    "long labels without end": lambda size: "[a]: u\n\n" + ("[" + "a" * 998) * (size // 999),
    "parentheses without end": lambda size: "[a](" + "(" * size,
    "an attribute for each tag": lambda size: "<a " + "b " * (size // 2),
    "a table of 3,000 columns": lambda size: ("|a" * 3000 + "|\n" + "|-" * 3000 + "|\n" + "|`b`" * 3000 + "|\n") * (1 + size // 24_000),
    "a million headings": lambda size: "# a\n" * (size // 4),
    "properties without end": lambda size: "---\n" + "a: b\n" * (size // 5),
    "code, then a comment that closes in it": lambda size: "%%\n\n" + "```\n%%\n```\n" * (size // 11),
}  # fmt: skip


def hostile() -> dict[str, Callable[[int], str]]:
    """What makes each text, by name."""
    repeated = {repr(piece): _repeat(piece) for piece in REPEATED}
    return {**repeated, **SHAPED}


def _repeat(piece: str) -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece))
