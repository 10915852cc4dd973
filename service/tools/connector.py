"""The two tools that ChatGPT's connectors and deep research look for, in exactly the shapes they expect.

Source: OpenAI, Building MCP servers for ChatGPT and API integrations: `search` answers `{"results": [{"id", "title", "url"}]}`,
`fetch` one object with `id`, `title`, `text`, `url` and `metadata`; each as one text item that holds this as JSON. The
structured content beside it says the same.
"""

from __future__ import annotations

import json
from typing import Annotated, Final

from pydantic import Field

from service.guards import limits, paths
from service.search import query as searching
from service.search.query import Hit, Mode, Query
from service.tools import notices
from service.tools.context import Ctx, given, room
from service.tools.register import ToolSpec
from service.tools.resources import uri_of
from service.tools.shapes import Shape
from service.vault import excerpts, notes
from service.vault.excerpts import Excerpt, Span

_RESULTS: Final = 20
_AROUND_CHARS: Final = 6000  # of an answer, for what is told beside the text


class ResultListed(Shape):
    id: str
    title: str
    url: str

    @staticmethod
    def of(hit: Hit) -> ResultListed:
        return ResultListed(id=str(hit.path), title=hit.path.stem, url=uri_of(str(hit.path)))


class ResultsListed(Shape):
    results: list[ResultListed]


class Document(Shape):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


def search(ctx: Ctx, query: Annotated[str, Field(min_length=1, max_length=1000)]) -> ResultsListed:
    """Find notes that answer a question in plain words, best first. Give a result's id to fetch to read it."""
    here = room(ctx)
    found = searching.search(here.vault, Query(query, Mode.RANKED, limit=_RESULTS))
    given(here, [hit.path for hit in found.page.items])
    return ResultsListed(results=[ResultListed.of(hit) for hit in found.page.items])


def fetch(ctx: Ctx, id: Annotated[str, Field(description="From search: a note's path.")]) -> Document:
    """Read a note that search found, as far as it fits into one answer; metadata says what is left out."""
    here = room(ctx)
    note = notes.read(here.vault, paths.note(id))
    label = given(here, [note.path])
    told = [*notices.of(note.view, label, here.tools)]
    part = _fitting(note.view.text)
    if part.next_line is not None:
        told.append(
            f"cut: lines {part.first}-{part.last} of {part.lines}; go on with read_note, start_line={part.next_line}"
        )
    return Document(
        id=str(note.path),
        title=note.path.stem,
        text="\n".join([*(f"[{notice}]" for notice in told), part.text]),
        url=uri_of(str(note.path)),
        metadata={
            "version": note.version,
            "bytes": str(note.size_bytes),
            **({"notices": "; ".join(told)} if told else {}),
        },
    )


def _fitting(text: str) -> Excerpt:
    """As much of a text as fits into an answer once it is JSON, where some characters take several."""
    chars = limits.MAX_RESULT_CHARS - _AROUND_CHARS
    part = excerpts.excerpt(text, Span(), chars)
    while (size := len(json.dumps(part.text, ensure_ascii=False))) > chars:
        part = excerpts.excerpt(text, Span(), len(part.text) * chars // (size + 1))
    return part


SPECS: Final = (
    ToolSpec(search, "Search for ChatGPT", "connector"),
    ToolSpec(fetch, "Read for ChatGPT", "connector"),
)
