"""What a task says behind its words: dates, priority, recurrence, ids, as signs or as Dataview fields.

The plugin takes signifiers off the END of the line, one by one, until what is left there is none (obsidian-tasks,
src/TaskSerializer/DefaultTaskSerializer.ts, deserialize; tags between them are passed over). Where one is given twice the
left one counts, because it is read last. Beyond the plugin, comments and fields that it does not know are passed over, too,
since other programs put them there (obsidian-tasks#3550, #2220), and Dataview fields count anywhere, as for Dataview.
All in one pass from the left, so that a line of any length takes linear time.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from service.guards.markdown import Span


class Kind(enum.Enum):
    """What a field says."""

    DUE = "due"
    SCHEDULED = "scheduled"
    START = "start"
    DONE = "done"
    CREATED = "created"
    CANCELLED = "cancelled"
    PRIORITY = "priority"
    RECURRENCE = "recurrence"
    ID = "id"
    DEPENDS_ON = "depends on"
    ON_COMPLETION = "on completion"


class Style(enum.Enum):
    """How a field is written: `📅 2026-03-01` or `[due:: 2026-03-01]`."""

    SIGN = "sign"
    DATAVIEW = "dataview"


@dataclass(frozen=True, slots=True)
class Field:
    """One field in its place.

    Args:
        start, end: where it stands in the text, without the white space around it.
        value: what it says, as written; of a priority its name.
        value_span: where that stands; empty for a priority.
        is_trailing: whether only fields, tags and comments follow on the line. A sign elsewhere is text, and not found.
    """

    kind: Kind
    style: Style
    start: int
    end: int
    value: str
    value_span: Span
    is_trailing: bool = True

    @property
    def day(self) -> date | None:
        """The day it names; None when there is no such day (the plugin says: Invalid date)."""
        try:
            return date.fromisoformat(self.value)
        except ValueError:
            return None


PRIORITIES: Final = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}

_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ID: Final = r"[A-Za-z0-9_-]+"
_WORDS: Final = r"[A-Za-z0-9, !]+"
_SIGNS: Final = {
    Kind.DUE: ("📅📆🗓", _DAY),
    Kind.SCHEDULED: ("⏳⌛", _DAY),
    Kind.START: ("🛫", _DAY),
    Kind.DONE: ("✅", _DAY),
    Kind.CREATED: ("➕", _DAY),
    Kind.CANCELLED: ("❌", _DAY),
    Kind.RECURRENCE: ("🔁", _WORDS),
    Kind.ID: ("🆔", _ID),
    Kind.DEPENDS_ON: ("⛔", rf"{_ID}(?: *, *{_ID})*"),
    Kind.ON_COMPLETION: ("🏁", "[A-Za-z]+"),
}
_KEYS: Final = {
    "due": (Kind.DUE, _DAY),
    "scheduled": (Kind.SCHEDULED, _DAY),
    "start": (Kind.START, _DAY),
    "completion": (Kind.DONE, _DAY),
    "created": (Kind.CREATED, _DAY),
    "cancelled": (Kind.CANCELLED, _DAY),
    "repeat": (Kind.RECURRENCE, _WORDS),
    "id": (Kind.ID, _ID),
    "dependsOn": (Kind.DEPENDS_ON, rf"{_ID}(?: *, *{_ID})*"),
    "onCompletion": (Kind.ON_COMPLETION, "[A-Za-z]+"),
    "priority": (Kind.PRIORITY, "highest|high|medium|low|lowest"),
}
"""Dataview's names of the same (src/TaskSerializer/DataviewTaskSerializer.ts)."""

SIGN_OF: Final = {kind: signs[0] for kind, (signs, _) in _SIGNS.items()}
KEY_OF: Final = {kind: key for key, (kind, _) in _KEYS.items()}

_ALL_SIGNS: Final = "".join(PRIORITIES) + "".join(signs for signs, _ in _SIGNS.values())
_ITEM: Final = re.compile(
    "|".join(
        [
            *(
                rf"[{signs}]\ufe0f?[ \u00a0]*(?P<s{number}>{value})"
                for number, (signs, value) in enumerate(_SIGNS.values())
            ),
            rf"(?P<priority>[{''.join(PRIORITIES)}])\ufe0f?",
            # A field in brackets of either kind; what is linked in its value may have brackets of its own.
            r"\[[ ]*(?P<key>[\w-]+)::[ ]*(?P<value>(?:\[\[[^\[\]]*\]\]|[^\[\]])*)\](?:[ ]*,)?",
            r"\([ ]*(?P<key2>[\w-]+)::[ ]*(?P<value2>[^()]*)\)(?:[ ]*,)?",
            rf"(?<!\S)(?P<tag>\#[^\s!@#$%^&*(),.?\":{{}}|<>{_ALL_SIGNS}]+)",
        ]
    )
)
_BEGIN: Final = re.compile(rf"[\[(#{_ALL_SIGNS}]")
_KINDS: Final = {f"s{number}": kind for number, kind in enumerate(_SIGNS)}
_VALUES: Final = {key: re.compile(value) for key, (_, value) in _KEYS.items()}
_BLOCK_ID: Final = re.compile(r"(?:(?<=\s)|^)\^[A-Za-z0-9-]+[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Tail:
    """What a task's body is made of.

    Args:
        fields: in order.
        passed: the spans that are no words of the task: trailing fields, comments, the block id.
        end: where more fields are put in: behind all words and fields, in front of trailing comments and the block id.
    """

    fields: tuple[Field, ...]
    passed: tuple[Span, ...]
    end: int


def read(text: str, body: Span, comments: Sequence[Span] = (), codes: Sequence[Span] = ()) -> Tail:
    """The fields of a task's body.

    Args:
        body: where it stands: what is behind the box, without the line end.
        comments: spans of Obsidian's comments, and `codes` of code spans, as far as they lie in the body; both sorted.
    """
    start, end = body[0], _stripped(text, *body)
    block_id = _BLOCK_ID.search(text[start:end][-_MAX_BLOCK_ID_CHARS:])
    passed: list[Span] = []
    if block_id is not None:
        passed.append((end - (block_id.end() - block_id.start()), end))
        end = _stripped(text, start, passed[0][0])
    items = [*_items(text, start, end, comments, codes)]
    trailing_from, chain_end = end, end
    insert_at = end
    chain: list[Span] = []
    for item in reversed(items):
        item_start, item_end, field, is_comment = item
        if _stripped(text, item_end, chain_end) != item_end:
            break
        if is_comment and insert_at == chain_end:
            insert_at = _stripped(text, start, item_start)
        trailing_from = chain_end = item_start
        chain_end = _stripped(text, start, chain_end)
        if field is not None or is_comment:
            chain.append((item_start, item_end))
    others = [(item[0], item[1]) for item in items if item[3] and item[1] <= trailing_from]
    fields = [
        field if field.start >= trailing_from else _inner(field)
        for _, _, field, _ in items
        if field is not None and (field.start >= trailing_from or field.style is Style.DATAVIEW)
    ]
    return Tail(tuple(fields), tuple(sorted([*others, *chain, *passed])), max(insert_at, start))


_MAX_BLOCK_ID_CHARS: Final = 200

_Item = tuple[int, int, Field | None, bool]


def _inner(field: Field) -> Field:
    return Field(field.kind, field.style, field.start, field.end, field.value, field.value_span, is_trailing=False)


def _items(text: str, start: int, end: int, comments: Sequence[Span], codes: Sequence[Span]) -> Iterator[_Item]:
    """Fields, tags and comments in order, not in code. What the item is: a field, or None; and whether a comment."""
    hidden = sorted([*((*span, True) for span in comments), *((*span, False) for span in codes)])
    at = start
    for hidden_start, hidden_end, is_comment in hidden:
        if hidden_end <= at or hidden_start >= end:
            continue
        yield from _found(text, at, max(at, hidden_start))
        if is_comment:
            yield max(hidden_start, start), min(hidden_end, end), None, True
        at = min(hidden_end, end)
    yield from _found(text, at, end)


def _found(text: str, start: int, end: int) -> Iterator[_Item]:
    at = start
    while mark := _BEGIN.search(text, at, end):
        found = _ITEM.match(text, mark.start(), end)
        at = mark.end() if found is None else found.end()
        if found is not None:
            yield found.start(), _stripped(text, found.start(), at), _field(found), False


def _field(found: re.Match[str]) -> Field | None:
    """The field of an item; None for a tag, and for a field that says nothing of a task."""
    group = found.lastgroup or ""
    if group == "priority":
        name = PRIORITIES[found[group]]
        return Field(Kind.PRIORITY, Style.SIGN, found.start(), found.end(), name, (found.end(), found.end()))
    if group in ("value", "value2"):
        return _dataview(found, group.replace("value", "key"), group)
    kind = _KINDS.get(group)
    if kind is None:
        return None
    at = found.start(group)
    value = found[group].rstrip()
    end = at + len(value)
    return Field(kind, Style.SIGN, found.start(), end, value, (at, end))


def _dataview(found: re.Match[str], key: str, value: str) -> Field | None:
    known = _KEYS.get(found[key])
    words = found[value].rstrip(" ")
    if known is None or not _VALUES[found[key]].fullmatch(words):
        return None
    at = found.start(value)
    return Field(known[0], Style.DATAVIEW, found.start(), found.end(), words, (at, at + len(words)))


def _stripped(text: str, start: int, end: int) -> int:
    """Where `text[start:end]` ends without white space."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
