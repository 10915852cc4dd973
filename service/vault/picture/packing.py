"""How what was found in a note is kept: as few bytes, and made into objects again when it is asked for.

A link as an object takes some 500 bytes, packed some 60; a vault has a hundred thousand. `marshal` is the quickest way there
and back, and its bytes never leave the process that wrote them.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Final

from service.vault.parts.linkuse import LinkKind, LinkUse, Notation
from service.vault.parts.tags import TagUse

_loads: Final = marshal.loads
"""Only of what was packed here: it trusts what it reads."""
_KINDS: Final = tuple(LinkKind)
_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(_KINDS)}
_NOTATIONS: Final = tuple(Notation)
_NOTATION_NUMBERS: Final = {notation: number for number, notation in enumerate(_NOTATIONS)}


def pack_links(uses: Sequence[LinkUse]) -> bytes:
    """The links of one note."""
    return marshal.dumps(
        [
            (
                use.target,
                _KIND_NUMBERS[use.kind],
                use.start,
                use.end,
                use.line,
                use.subpath,
                use.alias,
                use.target_span[0],
                use.target_span[1],
                use.is_embed,
                _NOTATION_NUMBERS[use.notation],
                use.in_json,
            )
            for use in uses
        ]
    )


def links(packed: bytes) -> tuple[LinkUse, ...]:
    """The same again."""
    return tuple(
        LinkUse(
            _KINDS[kind],
            start,
            end,
            line,
            target,
            subpath,
            alias,
            (first, last),
            is_embed,
            _NOTATIONS[notation],
            in_json,
        )
        for target, kind, start, end, line, subpath, alias, first, last, is_embed, notation, in_json in _loads(packed)
    )


def targets(packed: bytes) -> list[tuple[str, LinkKind]]:
    """Only the targets and kinds of links: all that a map of them needs, for a third of the price."""
    return [(one[0], _KINDS[one[1]]) for one in _loads(packed)]


def pack_tags(uses: Sequence[TagUse]) -> bytes:
    """The tags of one note."""
    return marshal.dumps([(use.name, use.line, use.is_property) for use in uses])


def tags(packed: bytes) -> tuple[TagUse, ...]:
    """The same again."""
    return tuple(TagUse(*one) for one in _loads(packed))
