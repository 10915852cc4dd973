"""Which file a link leads to: a table of targets, sources and files, and what holds for all."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from service.guards import paths
from service.guards.paths import VaultPath
from service.vault.resolving import Names

_TABLE = json.loads(
    (Path(__file__).resolve().parents[2] / "vectors" / "link_resolution.json").read_text(encoding="utf-8")
)


def names_of(*files: str) -> Names:
    return Names.of(map(paths.parse, files))


def at(path: str) -> VaultPath:
    return paths.parse(path)


@pytest.mark.parametrize("case", _TABLE["cases"], ids=[case[0] for case in _TABLE["cases"]])
def test_a_link_leads_where_obsidian_goes(case: list[object]) -> None:
    """Obsidian 1.12 and 1.13, getFirstLinkpathDest; complaints 9 (ambiguous names) and 10 (root note by stem and case)."""
    _, target, source, expected, others = case
    names = names_of(*_TABLE["files"])
    found = names.resolve(str(target), at(str(source)))
    assert (found.path and str(found.path)) == expected
    assert [str(path) for path in found.candidates[1:]] == others
    assert names.first(str(target), at(str(source))) == found.path


def test_ambiguous_readmes_are_all_named() -> None:
    """Complaint 9: bitbonsai/mcpvault#165, an ambiguous [[README]] silently picked one."""
    found = names_of("x/README.md", "b/README.md", "c/d/README.md").resolve("README", None)
    assert [str(path) for path in found.candidates] == ["b/README.md", "x/README.md", "c/d/README.md"]
    assert found.is_ambiguous


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("link_form", ["NFC", "NFD"])
def test_a_name_is_found_however_its_letters_are_composed(form: str, link_form: str) -> None:
    """Complaint 37: oflisback/obsidian-bridge.nvim#43, srid/neuron#611."""
    stored = unicodedata.normalize(form, "Notizen/Café Übung.md")  # type: ignore[arg-type]
    names = names_of(stored, "other.md")
    for target in ("Café Übung", "notizen/CAFÉ übung.md", "./Café Übung"):
        link = unicodedata.normalize(link_form, target)  # type: ignore[arg-type]
        source = at(unicodedata.normalize(link_form, "Notizen/x.md"))  # type: ignore[arg-type]
        assert str(names.resolve(link, source).path) == stored


def test_two_names_of_the_same_letters_are_ambiguous() -> None:
    """Complaint 37: both forms present."""
    both = ["Caf\u00e9.md", "Cafe\u0301.md"]
    found = names_of(*both).resolve("Cafe\u0301", None)
    assert [str(path) for path in found.candidates] == [both[1], both[0]]


def test_a_blank_that_breaks_no_line_is_a_blank() -> None:
    """Obsidian takes U+00A0 and U+202F in paths for blanks."""
    assert names_of("My\u00a0Note.md").first("My Note", None) == at("My\u00a0Note.md")


def test_a_canvas_names_a_file_by_its_whole_path() -> None:
    """jsoncanvas.org 1.0: a path within the system."""
    names = names_of("a/Note.md")
    assert names.at("A/note.md") == at("a/Note.md")
    assert names.at("Note.md") is None


def test_a_hundred_thousand_names_are_known_and_found_quickly() -> None:
    """Issue 4; house rule: linear, so ten thousand links among as many namesakes end within the suite's patience."""
    files = [VaultPath((f"folder{n}", "index.md")) for n in range(50_000)]
    files += [VaultPath(("notes", f"note {n}.md")) for n in range(50_000)]
    names = Names.of(files)
    assert len(names) == 100_000
    for path in files[:10_000]:
        assert names.first("index", path) is not None
    assert names.first("index", files[777]) == files[777]
    assert names.first("note 49999", files[0]) == files[-1]
