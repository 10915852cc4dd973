"""The names of folders that a grant is limited to, as they are read where they are given."""

from __future__ import annotations

import pytest

from service.errors import BadArgument
from service.guards import folders


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ((), ()),
        (("Projects",), ("Projects",)),
        ((" Projects/ ",), ("Projects",)),
        (("Work/Clients", "Projects"), ("Work/Clients", "Projects")),
        (("Work/Clients", "Work", "Work/"), ("Work",)),
        (("Work", "Workshop"), ("Work", "Workshop")),
        (("projects", "Projects"), ("projects", "Projects")),
        (("Ein Ordner, mit Komma",), ("Ein Ordner, mit Komma",)),
    ],
)
def test_names_are_read_once_and_what_lies_in_another_is_left_out(
    words: tuple[str, ...], read: tuple[str, ...]
) -> None:
    """Our decision: what is kept is what will be compared, letter by letter."""
    assert folders.parse(words) == read


@pytest.mark.parametrize("word", ["", " ", "/", ".", "./", " / ", "\n"])
def test_a_name_that_is_empty_never_becomes_the_whole_vault(word: str) -> None:
    """A slip of the hand must not widen a permission (auth.md 5)."""
    with pytest.raises(BadArgument, match="whole vault"):
        folders.parse(["Projects", word])


@pytest.mark.parametrize(
    "word",
    ["..", "../x", "a/../b", "a//b", "/etc", "~", "~/x", ".obsidian", ".trash/Projects", "a\\b", "a\nb", "a\x00b",
     "a\u2028b", "a\u202eb", "a\x85b", "a\x0bb", "a\x1cb", "x" * 5000, "note://a", "a//"],
)  # fmt: skip
def test_what_can_be_no_folder_is_refused(word: str) -> None:
    """attack lines on paths (complaint 36) hold for the permission's own name too."""
    with pytest.raises(BadArgument):
        folders.parse([word])


def test_there_are_only_so_many() -> None:
    """A limit that nobody can keep in mind is none."""
    with pytest.raises(BadArgument, match="at most 20"):
        folders.parse([f"Folder {number}" for number in range(21)])
    assert len(folders.parse([f"Folder {number}" for number in range(20)])) == 20
