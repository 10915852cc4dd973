"""How values are written: as Obsidian does, and so that nobody misreads them."""

from __future__ import annotations

import pytest

from service.vault.parts import yaml, yaml_writing
from service.vault.parts.yaml import Value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain words", "plain words"),
        ("Ünïcode 系統", "Ünïcode 系統"),
        ("📥 Inbox", "📥 Inbox"),
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ("C#", "C#"),
        ("it's", "it's"),
        ("2026-03-01", "2026-03-01"),
        ("2026-03-01T10:00", "2026-03-01T10:00"),
        ("2026-03-01T10:00:59", "2026-03-01T10:00:59"),
        ("2026-02-30", '"2026-02-30"'),
        ("2026-3-1", '"2026-3-1"'),
        ("2026-03-01T25:00:00", '"2026-03-01T25:00:00"'),
        ("22:30", '"22:30"'),
        ("1.10", '"1.10"'),
        ("007", '"007"'),
        ("1e3", '"1e3"'),
        ("12345678901234567890", '"12345678901234567890"'),
        ("on", '"on"'),
        ("Yes", '"Yes"'),
        ("n", '"n"'),
        ("NULL", '"NULL"'),
        ("~", '"~"'),
        ("", '""'),
        ("[[Note]]", '"[[Note]]"'),
        ("#tag", '"#tag"'),
        ("@home", '"@home"'),
        ("- x", '"- x"'),
        ("a: b", '"a: b"'),
        ("a:", '"a:"'),
        ("a #b", '"a #b"'),
        (" a", '" a"'),
        ("a\tb", '"a\\tb"'),
        ('say "x"', 'say "x"'),
        ('"x"', "'\"x\"'"),
        ("[C:\\x]", "'[C:\\x]'"),
        ("[it's \\]", "'[it''s \\]'"),
        ("=", '"="'),
        ("<<", "'<<'"),
        (True, "true"),
        (None, "null"),
        (3, "3"),
        (-1.5, "-1.5"),
        (1e22, "1.0e+22"),
        (1.5e-7, "1.5e-07"),
    ],
)
def test_what_stands_behind_the_colon(value: str | float | bool | None, written: str) -> None:
    """Obsidian help, Properties; yaml.org/type for what YAML 1.1 takes for something else."""
    assert yaml_writing.scalar(value) == written
    read = yaml.parse(f"key: {written}")["key"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (["a, b", "c:d", "e]", "f"], '["a, b", "c:d", "e]", f]'),
        ([["a"], {"k": None, "l:m": "x"}], '[[a], {k: null, "l:m": x}]'),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_within_brackets_more_is_quoted(value: Value, written: str) -> None:
    """YAML 1.2.2, 7.3.3."""
    assert yaml_writing.flow(value) == written
    assert yaml.parse(f"key: {written}")["key"] == value


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a b", "a b"),
        ("Größe", "Größe"),
        ("on", '"on"'),
        ("a: b", '"a: b"'),
        ("C:\\x", "'C:\\x'"),
        ("22", '"22"'),
        ("2026-03-01", '"2026-03-01"'),
    ],
)
def test_a_name_is_quoted_where_it_could_be_something_else(name: str, written: str) -> None:
    """A name is text to everybody: `on` and a day are none to readers of YAML 1.1."""
    assert yaml_writing.name(name) == written
    assert yaml.parse(f"{written}: 1") == {name: 1}


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("a\nb", ("|-", ["  a", "  b"])),
        ("a\n\n b\n", ("|", ["  a", "", "   b"])),
        (" a\nb", ('" a\\nb"', ())),
        ("a\n\n", ('"a\\n\\n"', ())),
        ("a \nb", ('"a \\nb"', ())),
        ("a\r\nb", ('"a\\r\\nb"', ())),
    ],
)
def test_several_lines_become_a_block_where_a_block_is_plain(value: str, lines: tuple[str, object]) -> None:
    """Otherwise they are quoted: blanks at an edge are easily lost."""
    inline, below = yaml_writing.block(value, 2)
    assert (inline, below) == lines
    assert yaml.parse("\n".join([f"key: {inline}", *below, ""]))["key"] == value
