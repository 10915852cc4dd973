"""The sheet a judge reads: per query every candidate of the pool that has no judgement, by path, with its title, description
and best lines. Which engine found a note, and at which rank, is not on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.bench.quality.tables import DEPTH, Asked, Judgement, Rankings, grades

LINE_CHARS: Final = 90
LINES: Final = 2
WORD: Final = re.compile(r"\w{2,}")


def unjudged(asked: Sequence[Asked], judged: Iterable[Judgement], pools: Iterable[Rankings]) -> dict[str, list[str]]:
    """The paths in the first `DEPTH` of any ranking that were never judged, in the order of paths, by query."""
    known = grades(judged)
    found: dict[str, set[str]] = {}
    for pool in pools:
        for one in asked:
            missing = set(pool.get(one.id, ())[:DEPTH]) - known.get(one.id, {}).keys()
            found.setdefault(one.id, set()).update(missing)
    return {id_: sorted(paths) for id_, paths in found.items() if paths}


def sheet(asked: Sequence[Asked], missing: Mapping[str, Sequence[str]], folders: Mapping[str, Path]) -> Iterator[str]:
    """The lines of the sheet, ready for judging; candidates are numbered within their query."""
    for one in asked:
        if one.id in missing and one.vault in folders:
            yield f"\n## {one.id} [{one.words}] {one.want}"
            for number, path in enumerate(missing[one.id], 1):
                yield f"{number} {path} | {_seen(folders[one.vault] / path, one.words)}"


def _seen(note: Path, words: str) -> str:
    lines = note.read_text(encoding="utf-8", errors="replace").splitlines()
    fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines[:15])}
    title = fields.get("title") or next((line for line in lines if line.startswith("# ")), "")
    wanted = [word.casefold() for word in WORD.findall(words)] or [words.casefold()]
    scored = sorted(
        (
            (-sum(word in line.casefold() for word in wanted), number, line.strip())
            for number, line in enumerate(lines)
            if not line.startswith(("title:", "description:"))
        ),
    )
    best = [_around(line, wanted) for score, _, line in scored[:LINES] if score]
    return " ~ ".join([title[:80], fields.get("description", "")[:LINE_CHARS], *best])


def _around(line: str, wanted: Sequence[str]) -> str:
    """The part of a long line around the first word that is wanted."""
    place = min((at for word in wanted if (at := line.casefold().find(word)) >= 0), default=0)
    start = max(0, min(place - LINE_CHARS // 3, len(line) - LINE_CHARS))
    return line[start : start + LINE_CHARS]
