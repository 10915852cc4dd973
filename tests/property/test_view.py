"""Properties of every view: it only leaves out, keeps line breaks, and says what it left out."""

from __future__ import annotations

import time
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.guards import concealed, invisible
from service.guards.outgoing import MAX_PASSES, View, view
from service.guards.suspicion import may_hide, may_hide_by_markup
from tests.support.view_fragments import FRAGMENTS

DOCUMENTS = st.lists(
    st.one_of(
        st.sampled_from(FRAGMENTS),
        st.sampled_from(["\n", "\n\n", "\r\n", "\r", "> ", "- ", "    ", " "]),
        st.text(max_size=8),
    ),
    max_size=14,
).map("".join)
LIMITS = settings(max_examples=400, deadline=None)
HARMLESS = (
    *(
        "<windows.h>",
        "</windows.h>",
        "<a_b>",
        "<https://e.org/a?b=c>",
        "<me@e.org>",
        "<a/b@c>",
        "<p:x>",
        "<b=c@d>",
        "<div>",
    ),
    *(
        "</div>",
        "<b>",
        "<p>",
        "<textarea>",
        "</textarea>",
        "<xmp>",
        "<td>",
        "<table>",
        "<select.x>",
        "<script.x>",
        "<x:>",
    ),
    *(
        "<a.b c>",
        "<rp.x>",
        "<svg.z>",
        "<title.x>",
        "</https://e.org>",
        "<x.y z='a>b'>",
        "<x.y",
        "[a]: x",
        "[a]",
        "&zwj;",
    ),
    *(
        "\u200b",
        "\u200d",
        "\ufeff",
        "%%",
        "$$",
        "`",
        "```\n",
        "|",
        "---\n",
        "\n",
        "\n\n",
        "\r",
        "> ",
        "- ",
        "    ",
        '"',
        "text ",
    ),
)
"""Markup that hides nothing, and what may make something of it that does."""


@given(DOCUMENTS)
@LIMITS
def test_a_view_is_the_raw_text_without_what_it_says_is_removed(raw: str) -> None:
    """guards.md 4.1, 1: the guard only deletes."""
    seen = view(raw)
    kept, at = [], 0
    for start, end in seen.removed:
        assert at <= start < end <= len(raw)
        assert at < start or at == 0  # never touching
        kept.append(raw[at:start])
        at = end
    assert seen.withheld == ""
    assert "".join(kept) + raw[at:] == seen.text


@given(DOCUMENTS)
@LIMITS
def test_no_line_break_is_ever_removed(raw: str) -> None:
    """guards.md 4.1, 1: view lines are file lines, Windows line ends whole."""
    seen = view(raw)
    assert seen.text.count("\n") == raw.count("\n")
    assert seen.text.count("\r\n") >= raw.count("\r\n")
    assert not any("\n" in raw[start:end] for start, end in seen.removed)


@given(DOCUMENTS)
@LIMITS
def test_the_view_of_a_view_is_itself(raw: str) -> None:
    """guards.md 4.7: idempotent."""
    assert view(view(raw).text).is_whole


@given(DOCUMENTS)
@LIMITS
def test_things_are_counted_when_and_only_when_something_is_left_out(raw: str) -> None:
    """guards.md 4.1, 4: counts by kind, never the text."""
    seen = view(raw)
    assert bool(seen.counts) == bool(seen.removed)
    assert all(count > 0 for count in seen.counts.values())


TAGGED: Final = (
    "<a", "<b hid", "</b", "<td", "<name | GUID", "<class\\", "<d![x", "</", " c", "|", ">", ">", ">", "\n", "\n\n", "\n> ", "\r\n",
    "- ", "`", "``", "*", "](", "[", "text ", "<pre>", "</pre>", "<table>", "<td>", "</p>", "<div>", "<textarea>", "<plaintext>",
    "===\n", "---\n", "```\n", "$$", "%%", "<https://a.b>",
)  # fmt: skip
"""Pieces of tags and of what only looks like one, which go over ends of lines."""


@given(st.one_of(DOCUMENTS, st.lists(st.sampled_from(TAGGED), max_size=14).map("".join), st.text()))
@settings(max_examples=1_500, deadline=None)
def test_what_the_look_at_bytes_lets_pass_hides_nothing(raw: str) -> None:
    """The prefilter may say yes for nothing, never no for something: seen with it and without, a text is the same."""
    if not may_hide(raw.encode("utf-8", "surrogatepass")):
        assert concealed.find(raw, lambda: None).spans == []


@given(st.one_of(DOCUMENTS, st.lists(st.sampled_from(HARMLESS), max_size=9).map("".join), st.text()))
@settings(max_examples=1_000, deadline=None)
def test_where_no_markup_may_hide_only_letters_are_hidden(raw: str) -> None:
    """Markdown is scanned only where it may hide something (complaint 5): what goes is the same as with the scan."""
    if not may_hide_by_markup(raw.encode("utf-8", "surrogatepass")):
        assert concealed.find(raw, lambda: None).spans == invisible.spans(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "#include <windows.h>",
        "<source_dir> and <b.d.f>",
        "<https://example.org/a?b=c&d#e> or <mailto:me@example.org>",
        "<me@example.org>",
        "H<sub>2</sub>O",
        "powercfg [<name | GUID>] and <class\\>* or <string[]>",
    ],
)
def test_addresses_and_placeholders_need_no_second_look(raw: str) -> None:
    """Ordinary notes are full of them, and a view costs a hundred times the look at bytes."""
    assert not may_hide(raw.encode())


@pytest.mark.parametrize(
    "raw",
    [
        '<https://example.org/="> x',
        "<me@example.org",
        "<a.b c='>",
        "<x.y",
        '<a.b ">',
        "</b hidden words>",
        "</pre>\n<a hid words\n\n> b",
        "<b hid\n> words>",
    ],
)
def test_a_tag_that_may_swallow_text_is_looked_at(raw: str) -> None:
    """Such a one may end far behind where it seems to, or be one for HTML and none for Markdown."""
    assert may_hide(raw.encode())


def test_what_lies_in_too_many_layers_is_withheld() -> None:
    """guards.md 4.1, 5: on overrun a reason, never the raw text."""
    deep = "<" * (MAX_PASSES + 3) + "!---->" * (MAX_PASSES + 3)
    assert view(deep).withheld == "what it hides lies in too many layers"
    assert view(deep).text == ""


def test_when_time_is_up_the_text_is_withheld() -> None:
    """guards.md 4.1, 5."""
    ticks = iter(range(0, 1_000, 100))
    seen = view("a <!-- s --> b", budget_s=1.0, clock=lambda: float(next(ticks)))
    assert seen == View("a <!-- s --> b", "", withheld="looking for what it hides took too long")


def test_a_text_without_anything_suspicious_is_its_own_view_at_once() -> None:
    """Issue 3: under 1 ms per 100 KB; here only that no parsing takes place, which would take a hundred times as long."""
    plain = "A line with **bold**, a [link](https://e.com) and “quotes” – 日本語 😀.\n" * 20_000
    before = time.perf_counter()
    seen = view(plain)
    assert seen.text is seen.raw
    assert time.perf_counter() - before < 2.0
