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
from service.vault.parts.task_fields import Field, Kind, Style
from service.vault.parts.tasks import Task

_loads: Final = marshal.loads
"""Only of what was packed here: it trusts what it reads."""
_KINDS: Final = tuple(LinkKind)
_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(_KINDS)}
_NOTATIONS: Final = tuple(Notation)
_NOTATION_NUMBERS: Final = {notation: number for number, notation in enumerate(_NOTATIONS)}

_FIELDS: Final = tuple(Kind)
_FIELD_NUMBERS: Final = {kind: number for number, kind in enumerate(_FIELDS)}
_STYLES: Final = tuple(Style)
_STYLE_NUMBERS: Final = {style: number for number, style in enumerate(_STYLES)}


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


def pack_tasks(found: Sequence[Task]) -> bytes:
    """The tasks of one note."""
    return marshal.dumps([(*_without_fields(task), [_packed(field) for field in task.fields]) for task in found])


def tasks(packed: bytes) -> tuple[Task, ...]:
    """The same again."""
    return tuple(
        Task(line, start, end, symbol, symbol_at, tuple(map(_field, fields)), tail, words, block_id, has_more)
        for line, start, end, symbol, symbol_at, tail, words, block_id, has_more, fields in _loads(packed)
    )


def _without_fields(task: Task) -> tuple[int, int, int, str, int, int, str, tuple[int, int], bool]:
    return (
        task.line,
        task.start,
        task.end,
        task.symbol,
        task.symbol_at,
        task.tail,
        task.words,
        task.block_id,
        task.has_more,
    )


def _packed(field: Field) -> tuple[int, int, int, int, str, tuple[int, int], bool]:
    kind, style = _FIELD_NUMBERS[field.kind], _STYLE_NUMBERS[field.style]
    return kind, style, field.start, field.end, field.value, field.value_span, field.is_trailing


def _field(packed: tuple[int, int, int, int, str, tuple[int, int], bool]) -> Field:
    kind, style, start, end, value, value_span, is_trailing = packed
    return Field(_FIELDS[kind], _STYLES[style], start, end, value, value_span, is_trailing)
