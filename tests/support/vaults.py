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
    for number, name in enumerate(names):
        yield name, _note(chance, number, names)


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


def _note(chance: random.Random, number: int, names: list[str]) -> bytes:
    blocks = [_properties(chance, number)] if number % 3 else []
    blocks += [_block(chance, names) for _ in range(chance.randint(3, 24))]
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


def _properties(chance: random.Random, number: int) -> str:
    if number % 200 == 199:
        return "---\ntitle: {{title}}\n  bad: [\n---"
    day = _FIRST_DAY + timedelta(days=chance.randint(0, 4000))
    return f"---\ntitle: {_word(chance)}\ndate: {day}\ntags: [{_word(chance, 'en')}, a/b]\naliases:\n  - {_word(chance)}\n---"


def _block(chance: random.Random, names: list[str]) -> str:
    link = chance.choice(names).removesuffix(".md")
    day = _FIRST_DAY + timedelta(days=chance.randint(0, 4000))
    return chance.choice(
        (
            f"{'#' * chance.randint(1, 4)} {_word(chance)} {_word(chance)}",
            f"- [{chance.choice(' xX-')}] {_sentence(chance)} 📅 {day}",
            f"- [ ] {_sentence(chance)} 🔁 every week ⏳ {day} ^b{chance.randint(1, 99)}",
            f"See [[{link}]] and [[{link.rsplit('/', 1)[-1]}|{_word(chance)}]], ![[{link}#heading]]. #{_word(chance, 'en')}",
            f"```python\n# not a heading\n- [ ] not a task\nprint({chance.randint(0, 999)})\n```",
            f"| a | b |\n|---|---|\n| {_word(chance)} | `{_word(chance)}` |",
            f"> {_sentence(chance)}\n> %%hidden%% <!-- comment -->",
            f"- {_sentence(chance)}\n  - {_sentence(chance)}",
            _sentence(chance),
            " ".join(_sentence(chance) for _ in range(chance.randint(2, 8))),
            " ".join(_sentence(chance) for _ in range(chance.randint(2, 8))),
        )
    )
