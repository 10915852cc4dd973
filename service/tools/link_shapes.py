"""What tools answer about links. Texts of links and lines are as the note shows them, cut where they are long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field

from service.guards import limits
from service.tools.shapes import LeftOut, NextOffset, Shape, named
from service.vault.destinations import Destination
from service.vault.links import Broken, Incoming, Linked, Loose, Outgoing
from service.vault.model import Page
from service.vault.parts.links import LinkUse

_MAX_LINK_CHARS: Final = 300
_MAX_ALTERNATIVES: Final = 20
_AROUND_CHARS: Final = 2000  # of an answer, for what is told beside the items

T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S", bound=Shape)
V = TypeVar("V", bound=Shape)

Written = Annotated[str, Field(description="As written: path and #heading or #^block.")]
Whose = Annotated[str, Field(description="Whose text some of this is; mostly empty.")]
Skipped = Annotated[int, Field(description="Notes too large, unreadable or withheld, not looked into.")]


class LinkResolved(Shape):
    path: str
    line: Annotated[int | None, Field(description="Where the heading or block begins.")]
    alternatives: Annotated[
        list[str], Field(description="Other files of that name; write more of the path to mean one.")
    ]
    left_out: LeftOut
    notice: str

    @staticmethod
    def of(found: Destination, *, notice: str) -> LinkResolved:
        lacks = "The note has no such heading or block." if found.lacks_place else ""
        return LinkResolved(
            path=str(found.path),
            line=found.line,
            alternatives=[str(path) for path in found.others[:_MAX_ALTERNATIVES]],
            left_out=named(found.left_out),
            notice=" ".join(filter(None, (lacks, _more(len(found.others)), notice))),
        )


class OutgoingListed(Shape):
    link: Written
    path: Annotated[str | None, Field(description="The file it leads to.")]
    status: Literal["resolved", "broken", "low_trust"]
    line: int
    snippet: str

    @staticmethod
    def of(one: Outgoing) -> OutgoingListed:
        return OutgoingListed(
            link=_written(one.use),
            path=None if one.path is None else str(one.path),
            status="low_trust" if one.is_left_out else "broken" if one.is_broken else "resolved",
            line=one.use.line,
            snippet=one.snippet,
        )


class IncomingListed(Shape):
    path: str
    link: Written
    line: int
    snippet: str

    @staticmethod
    def of(one: Incoming) -> IncomingListed:
        return IncomingListed(path=str(one.path), link=_written(one.use), line=one.use.line, snippet=one.snippet)


class LinksListed(Shape):
    path: str
    outgoing: list[OutgoingListed]
    total_outgoing: int
    broken: Annotated[int, Field(description="Of all outgoing ones, those that lead to no file.")]
    backlinks: list[IncomingListed]
    total_backlinks: int
    next_offset: NextOffset
    skipped: Skipped
    left_out: LeftOut
    notice: Whose

    @staticmethod
    def of(found: Linked, *, notice: str) -> LinksListed:
        outgoing, incoming, next_offset = _both(found.outgoing, OutgoingListed.of, found.incoming, IncomingListed.of)
        return LinksListed(
            path=str(found.path),
            outgoing=outgoing,
            total_outgoing=found.outgoing.total,
            broken=found.broken,
            backlinks=incoming,
            total_backlinks=found.incoming.total,
            next_offset=next_offset,
            skipped=found.skipped,
            left_out=named(found.left_out),
            notice=notice,
        )


class BrokenListed(Shape):
    path: str
    link: Written
    line: int

    @staticmethod
    def of(one: Broken) -> BrokenListed:
        return BrokenListed(path=str(one.path), link=_written(one.use), line=one.use.line)


class OrphanListed(Shape):
    path: str


class LooseListed(Shape):
    broken: list[BrokenListed]
    total_broken: int
    orphans: list[str]
    total_orphans: int
    next_offset: NextOffset
    skipped: Skipped
    left_out: LeftOut
    notice: Whose

    @staticmethod
    def of(found: Loose, *, notice: str) -> LooseListed:
        broken, orphans, next_offset = _both(
            found.broken, BrokenListed.of, found.orphans, lambda path: OrphanListed(path=str(path))
        )
        return LooseListed(
            broken=broken,
            total_broken=found.broken.total,
            orphans=[one.path for one in orphans],
            total_orphans=found.orphans.total,
            next_offset=next_offset,
            skipped=found.skipped,
            left_out=named(found.left_out),
            notice=notice,
        )


def _written(use: LinkUse) -> str:
    words = use.target + use.subpath
    return words if len(words) <= _MAX_LINK_CHARS else words[:_MAX_LINK_CHARS] + "…"


def _more(others: int) -> str:
    return f"{others - _MAX_ALTERNATIVES} more files have that name." if others > _MAX_ALTERNATIVES else ""


def _both(
    first: Page[T], first_shape: Callable[[T], S], second: Page[U], second_shape: Callable[[U], V]
) -> tuple[list[S], list[V], int | None]:
    """As much of two pages as one answer holds, at least one of each, and where both go on: as `shapes.fitting`."""
    firsts: list[S] = []
    seconds: list[V] = []
    left = limits.MAX_LIST_CHARS - _AROUND_CHARS
    wanted = max(len(first.items), len(second.items))
    for index in range(wanted):
        new_firsts = [first_shape(one) for one in first.items[index : index + 1]]
        new_seconds = [second_shape(one) for one in second.items[index : index + 1]]
        left -= sum(len(one.model_dump_json()) + 1 for one in (*new_firsts, *new_seconds))
        if left < 0 and index:
            wanted = index
            break
        firsts += new_firsts
        seconds += new_seconds
    following = first.offset + wanted
    return firsts, seconds, following if wanted and following < max(first.total, second.total) else None
