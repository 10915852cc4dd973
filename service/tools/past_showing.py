"""Old versions as answers: one as read_note gives it, two as a diff of what is shown of each."""

from __future__ import annotations

from typing import Final

from service.guards import limits
from service.guards.paths import VaultPath
from service.history.old import Old
from service.tools import notices, showing
from service.tools.context import Ctx, given, room
from service.tools.past_shapes import local, short
from service.vault import diffs, word_diffs
from service.vault.excerpts import Span

_CUT: Final = "... the rest of the diff is not shown; read_note_version shows either version whole"


def version(ctx: Ctx, old: Old, asked: VaultPath, span: Span) -> str:
    """One version's text, under the name it had, with its revision and time in the first line."""
    return showing.note(ctx, old.note, span, more=_when(ctx, old), also_from=[asked])


def difference(ctx: Ctx, before: Old, after: Old, asked: VaultPath, *, by_words: bool) -> str:
    """What changed between two versions, in what is shown of them; hidden text of neither."""
    here = room(ctx)
    label = given(here, [asked, before.note.path, after.note.path])
    told = [notice for one in (before, after) for notice in notices.of(one.note.view, label, here.tools)]
    head = f"[{asked} | from {_named(ctx, before, asked)} | to {_named(ctx, after, asked)}]"
    if before.note.view.withheld or after.note.view.withheld:
        lines, diff = [], ""
    else:
        compare = word_diffs.unified if by_words else diffs.unified
        diff = compare(before.note.view.text, after.note.view.text, diffs.FULL)
        lines = [] if diff else [_same(before, after)]
    return "\n".join([head, *(f"[{notice}]" for notice in dict.fromkeys([*told, *lines])), _fitting(diff)])


def _named(ctx: Ctx, old: Old, asked: VaultPath) -> str:
    renamed = f" as {old.note.path}" if old.note.path != asked else ""
    return f"{_when(ctx, old)}{renamed}, version {old.note.version}"


def _when(ctx: Ctx, old: Old) -> str:
    if old.revision is None:
        return "now"
    return f"{short(old.revision)} {local(old.revision.time, room(ctx).clock.zone)}"


def _same(before: Old, after: Old) -> str:
    if before.note.version == after.note.version:
        return "the two are the same"
    return "no difference in what is shown: they differ in line ends, or in what is left out here"


def _fitting(diff: str) -> str:
    room_chars = limits.MAX_RESULT_CHARS - 2 * showing.HEAD_CHARS - len(_CUT)
    if len(diff) <= room_chars:
        return diff
    return diff[: diff.rfind("\n", 0, room_chars)] + "\n" + _CUT
