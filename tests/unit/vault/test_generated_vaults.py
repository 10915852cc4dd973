"""The generator that benches and other rooms' tests stand on."""

from __future__ import annotations

from pathlib import Path

from service.vault import listing
from tests.support.desk import Desk
from tests.support.vaults import BOM, generate, notes


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others() -> None:
    """The issue: a seeded generator."""
    assert list(notes(50, seed=7)) == list(notes(50, seed=7))
    assert list(notes(50, seed=7)) != list(notes(50, seed=8))


def test_a_generated_vault_holds_what_is_odd_in_real_ones(desk: Desk) -> None:
    """search.md 1: line ends, marks, bytes that are no UTF-8, properties that are no YAML, emoji names, many scripts."""
    made = generate(desk.folder, 1000)
    entries = listing.by_path(desk.vault)
    assert (len(entries), sum(entry.size_bytes for entry in entries)) == (made.notes, made.size_bytes)
    contents = dict(notes(1000))
    assert {str(entry.path) for entry in entries} == contents.keys()
    raw = list(contents.values())
    text = [data.decode("utf-8", errors="replace") for data in raw]
    assert sum(data.startswith(BOM) for data in raw) == 10
    assert sum("\ufffd" in words for words in text) == 1
    assert any(data.count(b"\r\n") == data.count(b"\n") > 0 for data in raw)
    assert any(0 < data.count(b"\r\n") < data.count(b"\n") for data in raw)
    assert any(name.startswith("🖊️ journal/2015-") for name in contents)
    assert any(name.endswith(".txt") for name in contents)
    everything = "".join(text)
    for sign in ("{{title}}", "[[", "|", "- [ ] ", "📅", "```", "%%", "系統", "می‌روم", "ﬁ", "\u2028"):
        assert sign in everything


def test_notes_are_laid_out_byte_for_byte(tmp_path: Path) -> None:
    """Every other test relies on it."""
    [(name, data)] = notes(1)
    generate(tmp_path / "v", 1)
    assert (tmp_path / "v" / name).read_bytes() == data
