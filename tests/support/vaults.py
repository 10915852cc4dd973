"""Vaults for tests: a handful of notes laid out by hand, or any number of them made from a seed.

The generated ones look like real Obsidian vaults: wikilinks with aliases and headings, embeds, tasks with emoji dates,
tags, properties (some of them no YAML), code fences, many languages, emoji names, CRLF and mixed line ends, byte order
marks, a few notes that are no UTF-8, daily notes, attachments, hidden folders. The same seed gives the same bytes.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final

BOM: Final = b"\xef\xbb\xbf"

_WORDS: Final[Mapping[str, str]] = {
    "en": (
        "garden project meeting recipe budget travel notes kernel driver system review draft idea book summary weekly "
        "plan question answer reading health water light winter music letter history question family computer"
    ),
    "de": "Straße größe Übung Gemüse Frühling Schlüssel außen Küche Änderung Fußweg müde schön Gespräch",
    "fr": "été forêt déjà garçon œuvre naïve à-côté élève château où français leçon",
    "tr": "İstanbul ışık çiçek ağaç öğrenci üzüm IĞDIR kış düşünce",
    "el": "ΟΔΟΣ οδός λόγος Ψυχή θάλασσα φως άνθρωπος",
    "ru": "детали встреча проект книга зима Москва вопрос ответ история",
    "zh": "系統 會議 筆記 花園 專案 歷史 電腦 閱讀 冬天",
    "ja": "会議メモ 買い物 日本語 東京 データ 計画 読書",
    "fa": "می‌روم کتاب باغ نامه پرسش خانه‌ها",
    "hi": "क्‍ष किताब बगीचा प्रश्न यात्रा",
    "emoji": "🌱 👨‍👩‍👧 ❤️ 🧠 📥 🏴󠁧󠁢󠁳󠁣󠁴󠁿 📚",
    "odd": 'ﬁligree oﬃce K2 ſchloß C# 100% a"b x_y [[ $1 e\u0301cole U+2028:\u2028end',
}
_LANGUAGES: Final = ("en",) * 12 + tuple(name for name in _WORDS if name != "en")  # more than half is English
_FOLDERS: Final = (
    "Projects", "Areas/Health", "Areas/Küche", "Archive/2024", "🖊️ journal", "Reference/日本", "Inbox", "Clippings", "5-notes",
    "5-notes-old",
)  # fmt: skip
_FIRST_DAY: Final = date(2015, 1, 1)
_SENTENCES: Final = 4000  # different ones in a vault


@dataclass(frozen=True, slots=True)
class Made:
    """What a generated vault holds: notes that tools see, and their bytes in all."""

    notes: int
    size_bytes: int


def lay_out(folder: Path, notes: Mapping[str, str | bytes]) -> None:
    """Write files below `folder`, byte for byte (text as UTF-8), making folders."""
    for name, content in notes.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def generate(folder: Path, count: int, seed: int = 1) -> Made:
    """Make a vault with `count` notes below `folder`, which may not exist yet. About 2 kB a note."""
    size_bytes = 0
    for name, content in notes(count, seed):
        lay_out(folder, {name: content})
        size_bytes += len(content)
    lay_out(
        folder,
        {
            ".obsidian/app.json": "{}",
            ".obsidian/daily-notes.json": '{"folder": "🖊️ journal", "format": "YYYY-MM-DD"}',
            ".trash/Old.md": "a note in the trash\n",
            "attachments/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(64),
        },
    )
    return Made(count, size_bytes)


def notes(count: int, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """The paths and bytes of `count` notes."""
    chance = random.Random(seed)
    names = [_name(chance, number) for number in range(count)]
    sentences = [_sentence(chance) for _ in range(_SENTENCES)]
    for number, name in enumerate(names):
        yield name, _note(_Pen(chance, names, sentences), number)


@dataclass(frozen=True, slots=True)
class _Pen:
    """What a note is written with."""

    chance: random.Random
    names: list[str]
    sentences: list[str]

    def word(self, language: str = "") -> str:
        return _word(self.chance, language)

    def sentence(self) -> str:
        return self.chance.choice(self.sentences)

    def paragraph(self) -> str:
        return " ".join(self.chance.choices(self.sentences, k=self.chance.randint(2, 8)))

    def day(self) -> date:
        return _FIRST_DAY + timedelta(days=self.chance.randint(0, 4000))


def _name(chance: random.Random, number: int) -> str:
    if number % 10 == 0:
        return f"🖊️ journal/{_FIRST_DAY + timedelta(days=number // 10)}.md"
    folder = chance.choice(_FOLDERS)
    if number % 7 == 0:
        folder += f"/{_word(chance, 'en')}"
    title = " ".join(_word(chance) for _ in range(chance.randint(1, 3)))
    plain = "".join(char for char in title if char not in '<>:"/\\|?*[]#^%\u2028')
    return f"{folder}/{plain.strip(' .')} {number}.{'txt' if number % 97 == 96 else 'md'}"


def _word(chance: random.Random, language: str = "") -> str:
    return chance.choice(_words(language or chance.choice(_LANGUAGES)))


@functools.cache
def _words(language: str) -> list[str]:
    return _WORDS[language].split(" ")


def _sentence(chance: random.Random) -> str:
    return " ".join(_word(chance) for _ in range(chance.randint(4, 16))) + "."


def _note(pen: _Pen, number: int) -> bytes:
    blocks = [_properties(pen, number)] if number % 3 else []
    blocks += [_block(pen) for _ in range(pen.chance.randint(3, 24))]
    text = "\n\n".join(blocks) + "\n"
    if number % 50 == 25:
        text = text.replace("\n", "\r\n")
    elif number % 500 == 250:
        text = text.replace("\n", "\r\n", text.count("\n") // 2)
    data = text.encode("utf-8")
    if number % 100 == 50:
        data = BOM + data
    if number % 1000 == 999:
        data += b"latin-1: caf\xe9\n"
    return data


def _properties(pen: _Pen, number: int) -> str:
    if number % 200 == 199:
        return "---\ntitle: {{title}}\n  bad: [\n---"
    tags = f"[{pen.word('en')}, a/b]"
    return f"---\ntitle: {pen.word()}\ndate: {pen.day()}\ntags: {tags}\naliases:\n  - {pen.word()}\n---"


def _block(pen: _Pen) -> str:
    match pen.chance.randrange(11):
        case 0:
            return f"{'#' * pen.chance.randint(1, 4)} {pen.word()} {pen.word()}"
        case 1:
            return f"- [{pen.chance.choice(' xX-')}] {pen.sentence()} 📅 {pen.day()}"
        case 2:
            return f"- [ ] {pen.sentence()} 🔁 every week ⏳ {pen.day()} ^b{pen.chance.randint(1, 99)}"
        case 3:
            link = pen.chance.choice(pen.names).removesuffix(".md")
            name = link.rsplit("/", 1)[-1]
            return f"See [[{link}]] and [[{name}|{pen.word()}]], ![[{link}#heading]]. #{pen.word('en')}"
        case 4:
            return f"```python\n# not a heading\n- [ ] not a task\nprint({pen.chance.randint(0, 999)})\n```"
        case 5:
            return f"| a | b |\n|---|---|\n| {pen.word()} | `{pen.word()}` |"
        case 6:
            return f"> {pen.sentence()}\n> %%hidden%% <!-- comment -->"
        case 7:
            return f"- {pen.sentence()}\n  - {pen.sentence()}"
        case _:
            return pen.paragraph()
