"""What may come in: what a model writes can run nothing, load nothing and expose nothing.

The whole note is compared before and after a change, because a fragment can finish something: a `!` before a link, two
letters behind `dataview`. What is active afterwards and was not before is made harmless if it stands in what was written,
and else the change is refused. What the owner had is never touched. Source: guards.md 4.4; docs/explanation/guards.md.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, TypeAlias

from service.errors import UnsafeContent
from service.guards import active, cautions, invisible, verifying
from service.guards.active import Scanned
from service.guards.active_model import Active, Kind, Patch

Span: TypeAlias = tuple[int, int]

_MAX_ROUNDS: Final = 8
"""Times the note is looked at anew, since making one thing harmless may wake another."""

_MAX_TAGS: Final = 100_000  # in what is written; verifying would give up on them later

_MARKS: Final = re.compile(r"<|!\[|\](?=[(:\[])")
_ESCAPES: Final = {"<": "&lt;", "![": "!\\[", "]": "\\]"}


@dataclass(frozen=True, slots=True)
class Incoming:
    """A note's text as it may be written.

    Args:
        text: the whole note.
        counts: how many things were made harmless, by kind; `INVISIBLE` characters count one by one.
        warnings: sentences about what was let through and may surprise; never words of the note.
    """

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """What was changed and what to know, in fixed sentences with counts; empty when there is nothing to say."""
        return " ".join([*_sentences(self.counts), *self.warnings])


INVISIBLE: Final = "invisible character"
ESCAPED: Final = "escaped mark"

_WOULD_BE: Final[Mapping[Kind, str]] = {
    Kind.IMAGE: "would turn text of this note into an image that is loaded from elsewhere",
    Kind.ELEMENT: "would turn text of this note into HTML that loads or runs something, or change some that does",
    Kind.LINK: "would turn text of this note into a link to an address that may do something",
    Kind.BLOCK: "would turn a block of this note into code that runs, or change some that does",
    Kind.SCRIPT: "would turn text of this note into a script that runs, or change one",
    Kind.TEMPLATE: "would turn text of this note into a template command, or change one",
    Kind.MATHS: "would turn text of this note into maths that loads something or leads away, or change some that does",
    Kind.PROPERTY: "would turn text of this note into a property that makes a plugin run something, or change one",
}

_SAID: Final[Mapping[str, tuple[str, str]]] = {
    Kind.IMAGE.value: ("remote image was made a link", "remote images were made links"),
    Kind.ELEMENT.value: ("HTML tag that would load or run something was made plain text",
                         "HTML tags that would load or run something were made plain text"),
    Kind.LINK.value: ("link to an address that may do something was made plain text",
                      "links to addresses that may do something were made plain text"),
    Kind.BLOCK.value: ("code block that would run was made plain text", "code blocks that would run were made plain text"),
    Kind.SCRIPT.value: ("script in a line was made plain code", "scripts in lines were made plain code"),
    Kind.TEMPLATE.value: ("template command was made plain text", "template commands were made plain text"),
    Kind.MATHS.value: ("command in maths that may load something was made plain text",
                       "commands in maths that may load something were made plain text"),
    Kind.PROPERTY.value: ("property that makes a plugin run something was renamed",
                          "properties that make a plugin run something were renamed"),
    INVISIBLE: ("invisible character was left out", "invisible characters were left out"),
    ESCAPED: ("mark was escaped because two readers disagree about this text",
              "marks were escaped because two readers disagree about this text"),
}  # fmt: skip


def guard(
    before: str, after: str, changed: Sequence[Span], *, wrote: Sequence[Span] = (), may_be_active: bool = False
) -> Incoming:
    """Make what was written harmless.

    Args:
        before: the raw text of the note as it was; empty for a new one.
        after: the raw text as it would be.
        changed: where in `after` it differs from `before`. Only there invisible characters are left out.
        wrote: where in `after` the words of the model stand, if that is more than what they change: what becomes active
            within is made harmless and not refused.
        may_be_active: the owner lets this folder run things; only invisible characters go.

    Raises:
        UnsafeContent: old text would become active, or what was written cannot be made harmless.
    """
    counts: Counter[str] = Counter()
    text, spans = _visible(after, _merged(changed), _merged([*changed, *wrote]), counts)
    if not may_be_active and active.may_hold_any(text):
        text = _harmless(before, text, spans, counts)
    if text == before != after:
        raise UnsafeContent("would only add what may not be written here")
    return Incoming(text, dict(counts), cautions.about(before, text))


def visible(text: str) -> str:
    """`text` by itself, without the characters that nobody sees."""
    return _visible(text, [(0, len(text))], [], Counter())[0]


def _harmless(before: str, text: str, spans: Sequence[Span], counts: Counter[str]) -> str:
    try:
        return _harmless_for_certain(before, text, spans, counts)
    except (active.TooMany, verifying.TooMuch) as error:
        raise UnsafeContent("takes too long to look through; bring it in smaller pieces") from error


def _harmless_for_certain(before: str, text: str, spans: Sequence[Span], counts: Counter[str]) -> str:
    if sum(text.count("<", start, end) for start, end in spans) > _MAX_TAGS:
        raise verifying.TooMuch
    old = active.scanned(before)
    new, spans = _patched(old, active.scanned(text), spans, counts)
    if verifying.is_as_harmless(old, new):
        return new.text
    new, _ = _patched(old, *_escaped(new, spans, counts), counts)
    if not verifying.is_as_harmless(old, new):
        raise UnsafeContent("cannot be made harmless for certain: readers of Markdown disagree about it")
    return new.text


def _visible(
    text: str, changed: Sequence[Span], spans: Sequence[Span], counts: Counter[str]
) -> tuple[str, Sequence[Span]]:
    """The text without the invisible characters of its changed parts, which are judged within their lines."""
    for _ in range(_MAX_ROUNDS):
        found: list[Span] = []
        for start, end in changed:
            line = text.rfind("\n", 0, start) + 1
            line_end = text.find("\n", end)
            piece = text[line : line_end if line_end >= 0 else len(text)]
            if not piece.isascii() or not piece.isprintable():
                here = ((line + at, line + to) for at, to in invisible.spans(piece))
                found += [(at, to) for at, to in here if start <= at and to <= end]
        if not found:
            break
        hidden = [Patch(at, to, "") for at, to in _merged(found)]
        counts[INVISIBLE] += sum(patch.end - patch.start for patch in hidden)
        changed, spans = _moved(changed, hidden), _moved(spans, hidden)
        text = _applied(text, hidden)
    return text, spans


def _patched(old: Scanned, new: Scanned, spans: Sequence[Span], counts: Counter[str]) -> tuple[Scanned, Sequence[Span]]:
    """The text without what is active anew, as far as it stands within `spans`.

    Raises:
        UnsafeContent: some of it does not, or always more comes to light.
    """
    for _ in range(_MAX_ROUNDS):
        fresh = _fresh(*active.compare(old, new), spans)
        inside = [one for one in fresh if _holds(spans, one.start, one.end)]
        if not fresh:
            return new, spans
        if not inside:
            first = fresh[0]
            raise UnsafeContent(_WOULD_BE[first.kind], new.text.count("\n", 0, first.start) + 1)
        if any(
            one.kind is Kind.LINK and not one.is_by_reference for one in inside
        ):  # maybe a definition: the links go with it
            inside = [one for one in inside if not one.is_by_reference]
        patches: list[Patch] = []
        for one in inside:
            more = [_with_bangs(new.text, patch, spans) for patch in one.patches]
            if not patches or more[0].start >= patches[-1].end:
                patches += more
                counts[one.kind.value] += 1
        spans, text = _moved(spans, patches), _applied(new.text, patches)
        new = active.scanned(text)
    raise UnsafeContent("holds too much that would run or load something, one within the other")


def _fresh(old: Sequence[Active], new: Sequence[Active], spans: Sequence[Span]) -> list[Active]:
    """What is active in `new` more often than it was in `old`: of several alike, those within `spans` first."""
    surplus = Counter((one.kind, one.key) for one in new)
    surplus.subtract((one.kind, one.key) for one in old)
    fresh: list[Active] = []
    for one in sorted(new, key=lambda one: not _holds(spans, one.start, one.end)):
        if surplus[one.kind, one.key] > 0:
            surplus[one.kind, one.key] -= 1
            fresh.append(one)
    return sorted(fresh, key=lambda one: (one.start, -one.end))


def _escaped(new: Scanned, spans: Sequence[Span], counts: Counter[str]) -> tuple[Scanned, Sequence[Span]]:
    """The last resort: within `spans`, every mark that could begin something active is escaped, outside code."""
    code = active.code_spans(new.text)
    patches = [
        Patch(found.start(), found.end(), _ESCAPES[found[0]])
        for found in _MARKS.finditer(new.text)
        if _holds(spans, found.start(), found.end()) and not _holds(code, found.start(), found.end())
    ]
    counts[ESCAPED] += len(patches)
    return active.scanned(_applied(new.text, patches)), _moved(spans, patches)


def _with_bangs(text: str, patch: Patch, spans: Sequence[Span]) -> Patch:
    """A patch that drops an image's `!`, with all others that stand before it and would take its place.

    One that is not ours to drop is kept from it by a backslash.
    """
    if text[patch.start : patch.end] != "!":
        return patch
    first = patch.start
    while text[first - 1 : first] == "!" and not _is_escaped(text, first - 1) and _holds(spans, first - 1, patch.end):
        first -= 1
    is_after_another = text[first - 1 : first] == "!" and not _is_escaped(text, first - 1)
    return Patch(first, patch.end, "\\!" if is_after_another and not patch.text else patch.text)


def _is_escaped(text: str, at: int) -> bool:
    before = text[max(0, at - 100) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _applied(text: str, patches: Sequence[Patch]) -> str:
    parts, at = [], 0
    for patch in patches:
        parts += [text[at : patch.start], patch.text]
        at = patch.end
    return "".join([*parts, text[at:]])


def _moved(spans: Sequence[Span], patches: Sequence[Patch]) -> list[Span]:
    """Where the spans stand once the patches, all within them and in order, are applied."""
    starts = [patch.start for patch in patches]
    grown = [0, *accumulate(len(patch.text) - (patch.end - patch.start) for patch in patches)]
    return [(start + grown[bisect_left(starts, start)], end + grown[bisect_left(starts, end)]) for start, end in spans]


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _holds(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether one of the spans (sorted, disjoint) holds all of this."""
    at = bisect_right(spans, start, key=lambda span: span[0]) - 1
    return at >= 0 and end <= spans[at][1]


def _sentences(counts: Mapping[str, int]) -> Iterator[str]:
    for kind, (one, many) in _SAID.items():
        if count := counts.get(kind, 0):
            yield f"{count} {one if count == 1 else many}."
