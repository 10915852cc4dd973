"""Real notes read back as they are, unless they have something to hide; who has, stands in a reviewed table.

The vaults are public collections and lie in a shared folder beside the checkout (guards.md 6, 59). Each row of
`tests/vectors/reviewed_views.tsv` was looked at: vault, path, what is hidden, and why that is right.
"""

from __future__ import annotations

import csv
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.guards import concealed
from service.guards.outgoing import may_hide, view
from service.vault import text

ROOT = Path(__file__).resolve().parents[3]
VAULTS = ROOT.parent / "shared" / "vaults"
SUFFIXES = (".md", ".markdown", ".txt")
SAMPLE = 8
"""In the ordinary run one note in so many is read, and all that the table names."""

needs_vaults = pytest.mark.skipif(not VAULTS.is_dir(), reason="the shared vaults are not beside this checkout")


def reviewed() -> dict[tuple[str, str], str]:
    with (ROOT / "tests" / "vectors" / "reviewed_views.tsv").open(encoding="utf-8", newline="") as file:
        return {(row["vault"], row["path"]): row["hidden"] for row in csv.DictReader(file, delimiter="\t")}


def notes(vault: str) -> Iterator[tuple[str, bytes]]:
    """Every note of a vault: its path and bytes."""
    with tarfile.open(VAULTS / f"{vault}.tar.xz") as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            is_hidden = any(part.startswith(".") for part in path.split("/"))
            file = archive.extractfile(member) if path.lower().endswith(SUFFIXES) and not is_hidden else None
            if file is not None:
                yield path, file.read()


def hidden(raw: str) -> str:
    """What the view of a text leaves out, as the table has it."""
    seen = view(raw)
    return seen.withheld or ",".join(sorted(f"{kind.value}={count}" for kind, count in seen.counts.items()))


def unexpected(vault: str, one_in: int) -> list[tuple[str, str, str]]:
    """Notes whose view is another than the table says: path, what is hidden, what the table has."""
    expected = {path: shown for (name, path), shown in reviewed().items() if name == vault}
    found = []
    for number, (path, data) in enumerate(notes(vault)):
        if number % one_in and path not in expected:
            continue
        is_hiding = may_hide(data) or path in expected
        actual = hidden(text.decode(data).text) if is_hiding else ""
        if actual != expected.pop(path, ""):
            found.append((path, actual, expected.get(path, "")))
    return found + [(path, "", shown) for path, shown in expected.items()]


@needs_vaults
@pytest.mark.parametrize(("vault", "one_in"), [("kepano", 1), ("wdd", SAMPLE)])
def test_notes_read_back_as_they_are_unless_the_table_says_why_not(vault: str, one_in: int) -> None:
    """guards.md 6, 59: view == raw unless flagged, and every flagged note has a reason."""
    assert unexpected(vault, one_in) == []


@needs_vaults
@pytest.mark.long
@pytest.mark.timeout(1_800)
def test_all_notes_read_back_as_they_are_unless_the_table_says_why_not() -> None:
    """The same for every note, and without trust in the look at bytes."""
    assert unexpected("wdd", 1) == []
    flagged = {path for vault, path in reviewed() if vault == "wdd"}
    quiet = ((path, text.decode(data).text) for path, data in notes("wdd") if path not in flagged)
    assert [path for path, raw in quiet if concealed.find(raw, lambda: None).spans] == []


def test_every_row_of_the_table_gives_a_reason() -> None:
    """Nobody adds a row without looking."""
    lines = (ROOT / "tests" / "vectors" / "reviewed_views.tsv").read_text(encoding="utf-8").splitlines()
    assert all(len(line.split("\t")) == 4 and len(line.split("\t")[3]) > 20 for line in lines[1:])
