"""A note's text as its features see it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.vault.parts import prose

PIECES = st.sampled_from(
    ["%%", "%", "a", " ", "\n", "\r\n", "`", "```\n", "# ", "> ", "- ", "---\n", "<!--", "-->", "é"]
)


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("a %%b%% c", ["%%b%%"]),
        ("a\n%%\nb\n\nc\n%%\nd", ["%%\nb\n\nc\n%%"]),
        ("`%%` a %%b%%", ["%%b%%"]),
        ("```\n%%\n```\n%%b%%", ["%%b%%"]),
        ("---\nk: '%%'\n---\n%%b%%", ["%%b%%"]),
        ("a %% b `%%` c", ["%% b `%%"]),
        ("a %% b\n\nc", ["%% b\n\nc"]),
        ("50 % and 60 %", []),
    ],
)
def test_a_comment_goes_from_mark_to_mark_outside_code(text: str, comments: list[str]) -> None:
    """Obsidian help, Basic formatting syntax: comments."""
    assert [text[start:end] for start, end in prose.read(text).comments] == comments


def test_what_is_wholly_a_comment_is_not_spoken() -> None:
    """Our decision: tags, tasks, links and headings in it do not count."""
    page = prose.read("# a\n\n%%\n# b\n\nc\n%%\n\nd %%e%%\n")
    assert [page.text[block.start : block.end] for block, _ in page.spoken()] == ["# a", "d %%e%%"]


def test_lines_count_from_one_and_end_at_line_feeds_alone() -> None:
    """`service.vault.text`: a lone CR and U+2028 are characters of a line."""
    page = prose.read("a\rb\r\nc\u2028d\n")
    assert [page.line_of(at) for at in (0, 2, 4, 5, 7)] == [1, 1, 1, 2, 2]
    assert [page.text[slice(*page.line_span(line))] for line in (1, 2, 3)] == ["a\rb", "c\u2028d", ""]


@given(st.lists(PIECES).map("".join))
def test_comments_are_sorted_and_disjoint_and_begin_with_their_mark(text: str) -> None:
    """What the others rely on."""
    page = prose.read(text)
    ends = 0
    for start, end in page.comments:
        assert ends <= start < end <= len(text)
        assert text.startswith("%%", start)
        assert page.is_comment(start)
        assert page.is_comment(end - 1)
        ends = end
