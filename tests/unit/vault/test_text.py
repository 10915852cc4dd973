"""Bytes to text and back."""

from __future__ import annotations

import pytest

from service.vault import text
from service.vault.text import NoteText
from tests.support.vaults import BOM


@pytest.mark.parametrize("data", [b"", BOM, BOM + b"a\r\nb", b"a\rb\n", "\u2028\u0085x".encode(), b"\0", BOM + BOM])
def test_what_is_read_is_written_back_byte_for_byte(data: bytes) -> None:
    """guards.md test 65."""
    assert text.encode(text.decode(data), "n.md") == data


@pytest.mark.parametrize(
    ("words", "line_end"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\nb", "\n"),
        ("a\r\nb", "\r\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\r\nb\n", "\n"),
        ("a\rb", "\n"),
    ],
)
def test_the_line_end_of_a_note_is_the_one_that_most_lines_have(words: str, line_end: str) -> None:
    """Complaint 16."""
    assert NoteText(words).line_end == line_end


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\r\n\nb", ["a\r\n", "\n", "b"]),
        ("a\rb\u2028c\u0085d\x0be\x0cf\n", ["a\rb\u2028c\u0085d\x0be\x0cf\n"]),
    ],
)
def test_only_lf_and_crlf_end_a_line(words: str, lines: list[str]) -> None:
    """guards.md test 65: the traps of str.splitlines."""
    assert text.lines_with_ends(words) == lines
