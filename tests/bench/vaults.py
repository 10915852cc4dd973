"""Vaults to measure on: a generated Obsidian vault of any size, the public collection `wdd`, or a folder of yours.

The generated one has what real ones have, in the shares search.md 1 counted: sizes with a long tail (median 1.2 kB, the
hundredth 8 kB, two of several MB), words as often as language has them (Zipf), so that rare, middling and common ones exist,
folders in folders, daily notes, links, tags, tasks, properties, canvases, attachments, hidden text, every script and line
end. The same count and seed give the same bytes everywhere. 100,000 notes are about 180 MB and take two minutes.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Final

from tests.bench.words import FREQUENT, OTHER_SCRIPTS, invented

WDD: Final = Path(__file__).resolve().parents[2].parent / "shared" / "vaults" / "wdd.tar.xz"
SEED: Final = 20261201
SIZES: Final = {"100": 100, "1k": 1_000, "10k": 10_000, "100k": 100_000}
"""Generated vaults that have a name: notes."""

MEDIAN_BYTES: Final = 1_200
SPREAD: Final = 0.816
"""Of the logarithm of a note's size: the hundredth is then 6.7 times the median."""

_LARGEST: Final = {2: 5_400_000, 7: 2_100_000}
"""Bytes of the few large notes, by number; in vaults of 10,000 notes and more."""

_VOCABULARY: Final = 40_000
_ZIPF: Final = 1.05
_FIRST_DAY: Final = date(2012, 1, 1)
_BOM: Final = b"\xef\xbb\xbf"
_PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


@dataclass(frozen=True, slots=True)
class Measured:
    """A vault to measure on: its name in tables, where it is, and what it holds."""

    name: str
    folder: Path
    notes: int
    size_bytes: int

    @property
    def title(self) -> str:
        return f"{self.name}: {self.notes:,} notes, {self.size_bytes / 1e6:.1f} MB"


def prepare(name: str, cache: Path) -> Measured:
    """The vault of that name: one of SIZES, `wdd`, or a folder. Made below `cache` when it is not there yet.

    Raises:
        FileNotFoundError: `wdd` is not beside this checkout, or there is no such folder.
    """
    if name in SIZES:
        folder = cache / f"generated-{name}-{SEED}"
        _once(folder, lambda: generate(folder, SIZES[name]))
    elif name == "wdd":
        folder = cache / "wdd"
        _once(folder, lambda: _unpack(folder))
    else:
        folder = Path(name).resolve(strict=True)
    return look_at(name if name in (*SIZES, "wdd") else folder.name, folder)


def look_at(name: str, folder: Path) -> Measured:
    """Count the notes of a folder, as they are now."""
    sizes = [path.stat().st_size for path in visible(folder)]
    return Measured(name, folder, len(sizes), sum(sizes))


def visible(folder: Path) -> list[Path]:
    """The Markdown and text notes of a folder that tools see, sorted."""
    kinds = {".md", ".markdown", ".txt"}
    found = (path for path in folder.rglob("*") if path.suffix.lower() in kinds and path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def generate(folder: Path, count: int, seed: int = SEED) -> None:
    """Make a vault with `count` notes in `folder`, which may not exist yet."""
    made: set[Path] = set()
    for name, content in itertools.chain(notes(count, seed), _beside(count, seed)):
        target = folder / name
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        target.write_bytes(content)


def notes(count: int, seed: int = SEED) -> Iterator[tuple[str, bytes]]:
    """The paths and bytes of `count` notes, one after the other."""
    pen = _Pen(random.Random(seed), count)
    for number, name in enumerate(pen.names):
        yield name, _note(pen, number)


def _once(folder: Path, make: object) -> None:
    """Make a folder, unless it was made to its end before."""
    stamp = folder.with_name(f"{folder.name}.made")
    if stamp.exists():
        return
    assert callable(make)
    folder.mkdir(parents=True, exist_ok=True)
    make()
    (folder / ".obsidian").mkdir(exist_ok=True)  # obsidian-mcp takes nothing else for a vault
    stamp.touch()


def _unpack(folder: Path) -> None:
    if not WDD.exists():
        raise FileNotFoundError(f"the collection wdd is not at {WDD.name} beside this checkout")
    with tarfile.open(WDD) as archive:
        archive.extractall(folder, filter="data")


# ---- names -----------------------------------------------------------------------------------------------------------

_AREAS: Final = (
    "Projects", "Areas", "Reference", "Archive", "Inbox", "Clippings", "People", "Meetings", "Küche & Garten", "📚 Books",
    "日本語", "Работа",
)  # fmt: skip


@dataclass(frozen=True)
class _Pen:
    """What the notes of one vault are written with."""

    chance: random.Random
    count: int

    @cached_property
    def words(self) -> list[str]:
        return [*FREQUENT, *invented(random.Random(self.count), _VOCABULARY)]

    @cached_property
    def weights(self) -> list[float]:
        return list(itertools.accumulate(1 / (rank + 2.7) ** _ZIPF for rank in range(len(self.words))))

    @cached_property
    def folders(self) -> list[str]:
        """About one for 85 notes, some of them three deep."""
        pick, found = random.Random(self.count + 1), list(_AREAS)
        while len(found) < self.count // 85:
            above = pick.choice(found)
            if above.count("/") < 3:
                found.append(f"{above}/{self.words[pick.randrange(60, 4000)].title()}")
        return sorted(set(found))

    @cached_property
    def names(self) -> list[str]:
        pick = random.Random(self.count + 2)
        taken: dict[str, None] = {}
        for number in range(self.count):
            taken[_name(self, pick, number, taken)] = None
        return list(taken)

    def some(self, many: int) -> list[str]:
        return self.chance.choices(self.words, cum_weights=self.weights, k=many)

    def word(self) -> str:
        """A word that is neither among the most common nor the rarest."""
        return self.words[int(60 * 40 ** self.chance.random())]

    def day(self) -> date:
        return _FIRST_DAY + timedelta(days=self.chance.randrange(5400))


def _name(pen: _Pen, pick: random.Random, number: int, taken: dict[str, None]) -> str:
    if number % 20 == 3:
        day = _FIRST_DAY + timedelta(days=number // 20)
        return f"Journal/{day.year}/{day}.md"
    folder = pick.choice(pen.folders)
    title = " ".join(pen.words[int(40 * 900 ** pick.random())] for _ in range(pick.randint(1, 4))).capitalize()
    if number % 10 == 4:
        title = f"{pick.choice('🌱🧠📥❤🔥🎯')} {title}"
    elif number % 16 == 9:
        title = f"{pick.choice(pick.choice(OTHER_SCRIPTS))} {number}"
    kind = "txt" if number % 250 == 17 else "md"
    name = f"{folder}/{title}.{kind}"
    return name if name not in taken else f"{folder}/{title} {number}.{kind}"


# ---- notes -----------------------------------------------------------------------------------------------------------


def _note(pen: _Pen, number: int) -> bytes:
    wanted = int(pen.chance.lognormvariate(0, SPREAD) * MEDIAN_BYTES)
    wanted = _LARGEST.get(number, wanted) if pen.count >= 10_000 else wanted
    blocks = [_properties(pen, number)] if number % 5 < 3 else []
    blocks.append(f"# {pen.word().capitalize()} {pen.word()}")
    size = sum(map(len, blocks))
    if number % 16 == 9:
        script = pen.chance.choice(OTHER_SCRIPTS)
        blocks.append(" ".join(pen.chance.choices(script, k=min(wanted, 4000) // 12)))
        size += wanted // 2
    while size < wanted:
        blocks.append(_block(pen, wanted - size))
        size += len(blocks[-1]) + 2
    if (odd := _odd(pen, number)) is not None:
        blocks.insert(pen.chance.randint(1, len(blocks)), odd)
    return _encoded("\n\n".join(blocks) + "\n", number)


def _encoded(text: str, number: int) -> bytes:
    """A few have other line ends, a byte order mark, or are no UTF-8 (search.md 1: 991, 199 and 21 of 100,000)."""
    if number % 100 == 31:
        text = text.replace("\n", "\r\n")
    elif number % 20_000 == 77:
        text = text.replace("\n", "\r\n", text.count("\n") // 2)
    data = text.encode()
    if number % 500 == 131:
        data = _BOM + data
    if number % 4_800 == 59:
        data += "café, d\xe9j\xe0 vu\n".encode("latin-1")
    return data


def _properties(pen: _Pen, number: int) -> str:
    if number % 280 == 30:
        return f"---\ntitle: {{{{title}}}}\n  bad: [{pen.word()}\n---"
    tags = ", ".join(_tag(pen) for _ in range(pen.chance.randint(1, 3)))
    lines = [f"title: {pen.word().capitalize()} {pen.word()}", f"created: {pen.day()}", f"tags: [{tags}]"]
    lines += [f"aliases:\n  - {pen.word()} {number}"] if number % 7 == 0 else []
    lines += [f"status: {pen.chance.choice(['open', 'done', 'someday'])}"] if number % 3 == 0 else []
    return "\n".join(["---", *lines, "---"])


def _tag(pen: _Pen) -> str:
    word = pen.words[int(60 * 12 ** pen.chance.random())]
    return f"{word}/{pen.words[60 + len(word)]}" if pen.chance.random() < 0.2 else word


def _link(pen: _Pen) -> str:
    if pen.chance.random() < 0.03:
        return f"[[{pen.word()} that is not there]]"
    path = pen.chance.choice(pen.names).rpartition(".")[0]
    name = path.rpartition("/")[2]
    match pen.chance.randrange(6):
        case 0:
            return f"[[{path}|{pen.word()}]]"
        case 1:
            return f"![[{name}]]"
        case 2:
            return f"[[{name}#{pen.word().capitalize()}]]"
        case 3:
            return f"[{pen.word()}](<{path}.md>)"
        case _:
            return f"[[{name}]]"


def _block(pen: _Pen, room: int) -> str:
    """The next paragraph, list, task, heading, code or quotation; `room` in characters is about what is left."""
    draw = pen.chance.random()
    if draw < 0.10:
        return f"{'#' * pen.chance.randint(2, 4)} {pen.word().capitalize()} {pen.word()}"
    if draw < 0.22:
        return "\n".join(_task(pen) for _ in range(pen.chance.randint(1, 4)))
    if draw < 0.34:
        return f"See {_link(pen)} and {_link(pen)}: {' '.join(pen.some(8))}. #{_tag(pen)}"
    if draw < 0.38:
        return f"```python\n# not a heading, #not_a_tag\n- [ ] not a task\n{'_'.join(pen.some(3))}()\n```"
    if draw < 0.42:
        return f"| {pen.word()} | {pen.word()} |\n|---|---|\n| {pen.word()} | `{pen.word()}` |"
    if draw < 0.47:
        return f"> [!note] {pen.word()}\n> {' '.join(pen.some(14))}."
    if draw < 0.57:
        return "\n".join(f"- {' '.join(pen.some(7))}" for _ in range(pen.chance.randint(2, 6)))
    many = min(max(room // 6, 8), pen.chance.randint(20, 160) if room < 100_000 else 4_000)
    text = pen.some(many)
    sentences = [" ".join(text[start : start + 13]).capitalize() for start in range(0, many, 13)]
    return ". ".join(sentences) + "."


def _task(pen: _Pen) -> str:
    words = " ".join(pen.some(5))
    match pen.chance.randrange(5):
        case 0:
            return f"- [x] {words} ✅ {pen.day()}"
        case 1:
            return f"- [ ] {words} 📅 {pen.day()}"
        case 2:
            return f"- [ ] {words} #{_tag(pen)} 🔁 every week ⏳ {pen.day()} ^t{pen.chance.randrange(999)}"
        case _:
            return f"- [ ] {words}"


def _odd(pen: _Pen, number: int) -> str | None:
    """What few notes have: text that is hidden from a reader, signs that nobody sees, letters that fold oddly."""
    match number % 1000:
        case 5 | 205 | 405 | 605 | 805 | 15 | 215 | 415 | 615 | 815:
            return f"<!-- {' '.join(pen.some(6))} -->"
        case 25 | 225 | 425 | 625 | 825:
            return f"%% {' '.join(pen.some(6))} %%"
        case 35:
            return f'Shown <span style="display:none">{" ".join(pen.some(4))}</span> again.'
        case 45:
            return f"soft\u00adhyphen, zero\u200bwidth and \u202eturned\u202c {pen.word()}"
        case 55:
            return f"<details><summary>{pen.word()}</summary>\n\n{' '.join(pen.some(20))}\n\n</details>"
        case 65:
            return "Straße GRÖSSE İstanbul ΟΔΌΣ ﬁligree naïve cafe\u0301 K2"
        case 75:
            return "x" * 20_000
        case _:
            return None


# ---- beside the notes ------------------------------------------------------------------------------------------------


def _beside(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Settings of Obsidian, the trash, attachments (one for 40 notes) and canvases (one for 400)."""
    pen = _Pen(random.Random(seed + 1), count)
    yield ".obsidian/app.json", b"{}"
    yield ".obsidian/daily-notes.json", b'{"folder": "Journal", "format": "YYYY/YYYY-MM-DD"}'
    yield ".trash/Old.md", b"a note in the trash\n"
    for number in range(max(count // 40, 1)):
        size = pen.chance.randint(100, 4_000)
        yield f"attachments/{number // 500}/picture {number}.png", _PNG + pen.chance.randbytes(size)
    for number in range(max(count // 400, 1)):
        cards = [
            {"id": f"{card}", "type": "file", "file": pen.chance.choice(pen.names), "x": 300 * card, "y": 0}
            for card in range(pen.chance.randint(2, 8))
        ]
        cards.append({"id": "t", "type": "text", "text": " ".join(pen.some(20)), "x": 0, "y": 300})
        board = {"nodes": [{**card, "width": 250, "height": 60} for card in cards], "edges": []}
        yield f"{pen.chance.choice(pen.folders)}/board {number}.canvas", json.dumps(board).encode()


if __name__ == "__main__":
    where, many = Path(sys.argv[1]), int(sys.argv[2])
    generate(where, many)
    print(look_at(where.name, where).title)
