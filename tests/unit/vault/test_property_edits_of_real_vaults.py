"""Properties of vaults that people keep: whichever is changed, set anew or removed, all other lines stay."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import InvalidFrontmatter
from service.vault import frontmatter, text
from service.vault.parts import property_edits, yaml_entries
from service.vault.parts.property_edits import Wanted

VAULTS = Path(__file__).resolve().parents[3].parent / "shared" / "vaults"

needs_vaults = pytest.mark.skipif(not VAULTS.is_dir(), reason="the shared vaults are not beside this checkout")


def notes_of(vault: str, one_in: int) -> Iterator[text.NoteText]:
    with tarfile.open(VAULTS / f"{vault}.tar.xz") as archive:
        for number, member in enumerate(archive):
            file = archive.extractfile(member) if number % one_in == 0 and member.name.endswith(".md") else None
            if file is not None:
                yield text.decode(file.read())


def changed(note: text.NoteText, wanted: Wanted) -> str:
    return property_edits.applied(note.text, property_edits.plan(note.text, wanted, note.line_end).pieces)


@needs_vaults
@pytest.mark.parametrize(
    ("vault", "one_in", "unreadable"),
    [
        pytest.param("kepano", 1, 28, id="kepano"),  # all of them templates: `date: {{date}}` is a mapping as a name
        pytest.param("wdd", 150, 0, id="wdd, one in 150"),
        pytest.param("wdd", 10, 0, id="wdd, one in ten", marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ],
)
def test_every_other_line_of_a_real_note_stays(vault: str, one_in: int, unreadable: int) -> None:
    """The issue, "a person's bytes": a new property, and each property in turn."""
    seen = Counter[str]()
    for note in notes_of(vault, one_in):
        block = frontmatter.block(note.text)
        try:
            with_new = changed(note, Wanted({"zz-new": "22:30"}))
        except InvalidFrontmatter:
            seen["unreadable"] += 1
            assert block is not None
            assert re.search(r"\{\{.*\}\}", note.text[block.start : block.end])
            continue
        if block is None:
            end = note.line_end
            assert with_new == f'---{end}zz-new: "22:30"{end}---{end}{note.text}'
            continue
        assert with_new == f'{note.text[: block.end]}zz-new: "22:30"{note.line_end}{note.text[block.end :]}'
        seen["read"] += 1
        for entry in yaml_entries.of(note.text[block.start : block.end]).entries[:: max(1, one_in // 10)]:
            lines = iter(note.text.split("\n"))
            without = changed(note, Wanted({}, frozenset({entry.name})))
            assert all(line in lines for line in without.split("\n")), entry.name
            for value in (["22:30", "[[x]]"], "1.10"):
                after = changed(note, Wanted({entry.name: value}))
                assert changed(text.NoteText(after), Wanted({}, frozenset({entry.name}))) == without
                seen["changed"] += 1
    assert seen["unreadable"] == unreadable
    assert seen["changed"] >= 2 * seen["read"] > 0
