"""Which lines hold a text, on bytes and on folded characters alike."""

from __future__ import annotations

import pytest

from service.search.matching import needle
from tests.support.vaults import BOM


def lines(query: str, text: str | bytes, *, is_case_sensitive: bool = False) -> list[int]:
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return needle(query, is_case_sensitive=is_case_sensitive).lines_in(data)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("word", "word\nx WORD word\nw ord\nWord", [1, 2, 4]),
        ("WORD", "é\nword", [2]),
        ("é", "x\nÉTÉ\nete", [2]),
        ("strasse", "Straße\nSTRASSE\nSTRAẞE\nstrase", [1, 2, 3]),
        ("STRASSE", "straße é\n", [1]),
        ("straße", "STRASSE", [1]),
        ("große", "GROSSE\nGröße", [1]),
        ("filigree", "x\nﬁligree", [2]),
        ("office", "oﬃce", [1]),
        ("ﬁ", "file", [1]),
        ("kelvin", "\u212aelvin", [1]),
        ("sea", "\u017fea", [1]),
        ("istanbul", "İstanbul\nistanbul", [2]),
        ("i\u0307stanbul", "İstanbul", [1]),
        ("οδός", "ΟΔΌΣ\nοδόσ\nοδος", [1, 2]),
        ("москва", "МОСКВА", [1]),
        ("系統", "- [ ] 更新系統設定\n系 統", [1]),
        ("統", "x系統x", [1]),
        ("会議", "会議メモ", [1]),
        ("می‌روم", "او می‌روم گفت", [1]),
        ("👨‍👩‍👧", "x 👨‍👩‍👧", [1]),
        ("ǰ", "J\u030c", [1]),
    ],
)
def test_case_is_folded_by_unicode_and_every_script_is_found(query: str, text: str, expected: list[int]) -> None:
    """Complaints 1, 2 and 21: one and two characters, in mid-line, after a task's box; search.md 4.2 (ß, İ, ﬁ)."""
    assert lines(query, text) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [("Word", "word\nWord", [2]), ("é", "É é\nÉ", [1]), ("ss", "ß\nSS\nss", [3]), ("\ufffd", b"caf\xe9\n\xff", [1, 2])],
)
def test_case_can_matter(query: str, text: str | bytes, expected: list[int]) -> None:
    """contract.md, case_sensitive."""
    assert lines(query, text, is_case_sensitive=True) == expected


@pytest.mark.parametrize("query", ["a.c", "*", "(", "\\d", "[[", "$", "^a", "a|b", "%", "_", '"', "'", "a AND b"])
def test_a_query_is_literal(query: str) -> None:
    """Complaint 4; contract.md: never a regex."""
    assert lines(query, f"abc a b\nx{query}x\n") == [2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x\r\nword\r\n\r\nword", [2, 4]),
        ("x\rword\nword", [1, 2]),
        ("x\u2028word\nx\u0085word\nx\x0bword\x0cword", [1, 2, 3]),
        (BOM + b"word\nword", [1, 2]),
        (b"\xff\nword\xe9\nword", [2, 3]),
        (b"\0word", [1]),
        (b"", []),
    ],
)
def test_lines_are_those_of_the_file(text: str | bytes, expected: list[int]) -> None:
    """contract.md: line numbers are those of the file; guards.md test 65."""
    assert lines("word", text) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("a\nb", "a\nb", []),
        ("a\r", "a\r\nb", []),
        ("\r", "a\r\nb\rc\r\n", [2]),
        ("a\rb", "a\rb\r\n", [1]),
        ("é\r", "é\r\né\rx", [2]),
        ("\ufeff", BOM + b"word", []),
    ],
)
def test_a_line_end_or_byte_order_mark_is_no_part_of_a_line(query: str, text: str | bytes, expected: list[int]) -> None:
    """Our decision: a hit lies within one line, as read_note shows it."""
    assert lines(query, text) == expected


@pytest.mark.parametrize("is_case_sensitive", [True, False])
def test_bytes_that_are_no_utf8_are_found_as_they_are_shown(is_case_sensitive: bool) -> None:
    """Our decision: what read_note shows can be searched."""
    assert lines("f\ufffd", b"caf\xe9\ncafe", is_case_sensitive=is_case_sensitive) == [1]


def test_a_word_far_down_a_long_note_is_found() -> None:
    """Complaint 3: text at byte 150,000."""
    assert lines("needle", "x" * 149 + "\n" + "filler line\n" * 13_000 + "a NEEDLE\n") == [13_002]


@pytest.mark.parametrize(
    ("query", "line", "found"),
    [
        ("word", "a WORD b", "WORD"),
        ("strasse", "ßß Straße ß", "Straße"),
        ("s", "aß", "ß"),
        ("ﬁ", "ﬀ file", "fi"),
        ("i\u0307", "xxİ", "İ"),
        ("b", "ß" * 5000 + "b" + "ß" * 5000, "b"),
        ("missing", "line", ""),
    ],
)
def test_the_place_in_a_line_is_that_of_its_own_characters(query: str, line: str, found: str) -> None:
    """Our decision: snippets are cut from the line as it stands."""
    start, end = needle(query).span_in(line)
    assert line[start:end] == found
