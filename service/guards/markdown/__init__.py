"""What a Markdown text is made of, by one scanner for both guards: blocks, pieces of text, positions in the raw text.

CommonMark 0.31 and what Obsidian adds; linear time, no recursion. See docs/explanation/guards.md, "The scanner".
"""

from service.guards.markdown.document import document
from service.guards.markdown.inlines import inlines
from service.guards.markdown.model import (
    Autolink,
    Block,
    BlockKind,
    Code,
    Definition,
    Document,
    Inline,
    Link,
    Markup,
    Span,
    Tag,
    Unseen,
    Wikilink,
)
from service.guards.markdown.readings import documents, readings

__all__ = [
    "Autolink",
    "Block",
    "BlockKind",
    "Code",
    "Definition",
    "Document",
    "Inline",
    "Link",
    "Markup",
    "Span",
    "Tag",
    "Unseen",
    "Wikilink",
    "document",
    "documents",
    "inlines",
    "readings",
]
