"""Adding to a section of a note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import (
    BadArgument,
    HiddenContent,
    NoteChanged,
    NoteNotFound,
    NotText,
    SectionAmbiguous,
    SectionNotFound,
    TooLarge,
)
from service.guards import limits, paths
from service.vault import sections
from service.vault.parts import headings
from service.vault.sections import Added
from tests.support.desk import NOTE, Desk


def added(desk: Desk, before: str | bytes, heading: str, content: str) -> str:
    """The note after `content` was added."""
    desk.put({"n.md": before})
    append(desk, heading, content)
    return desk.bytes_of("n.md").decode()


def append(desk: Desk, heading: str, content: str, expected_hash: str = "") -> Added:
    return sections.append(desk.vault, desk.actor, NOTE, heading, content, expected_hash=expected_hash)


@pytest.mark.parametrize(
    ("before", "heading", "after"),
    [
        ("# A\none\n\n# B\n", "A", "# A\none\nNEW\n\n# B\n"),
        ("# A\n\n\n# B\n", "A", "# A\nNEW\n\n\n# B\n"),
        ("# A\none\n## Deep\ntwo\n\n\n# B\n", "A", "# A\none\n## Deep\ntwo\nNEW\n\n\n# B\n"),
        ("# A\none\n## Deep\ntwo\n\n# B\n", "Deep", "# A\none\n## Deep\ntwo\nNEW\n\n# B\n"),
        ("# A\none\n", "# A", "# A\none\nNEW\n"),
        ("# A\none", "A", "# A\none\nNEW\n"),
        ("# A", "A", "# A\nNEW\n"),
        ("# A\n\n", "A", "# A\nNEW\n\n"),
        ("# A\none  \n \t\n", "A", "# A\none  \nNEW\n \t\n"),
        ("Title\n===\none\n\nNext\n---\n", "Title", "Title\n===\none\n\nNext\n---\nNEW\n"),
        ("A\n---\none\n\nB\n---\n", "A", "A\n---\none\nNEW\n\nB\n---\n"),
        ("---\n# A\n---\n# A\n", "A", "---\n# A\n---\n# A\nNEW\n"),
    ],
)
def test_lines_go_to_the_end_of_the_section_before_its_trailing_blank_lines(
    desk: Desk, before: str, heading: str, after: str
) -> None:
    """contract.md, append_to_section."""
    assert added(desk, before, heading, "NEW") == after


def test_complaint_24_no_heading_is_made_and_the_text_is_inside_the_section(desk: Desk) -> None:
    """complaints.md 24: jacksteamdev/obsidian-mcp-tools#30."""
    after = added(desk, "# Log\n- a\n\n# Other\n", "Log", "- b")
    assert after == "# Log\n- a\n- b\n\n# Other\n"
    assert [one.text for one in headings.of(after)] == ["Log", "Other"]


@pytest.mark.parametrize("name", ["Детали", "📥 Inbox", "日本語", "Café"])
def test_complaint_25_headings_and_folders_may_have_any_letters(desk: Desk, name: str) -> None:
    """complaints.md 25: jacksteamdev#78, coddingtonbear#126 and #13."""
    desk.put({"🖊️ journal/день.md": f"## {name}\none\n\n## Next\n"})
    sections.append(desk.vault, desk.actor, paths.markdown("🖊️ journal/день.md"), name, "new")
    assert desk.bytes_of("🖊️ journal/день.md").decode() == f"## {name}\none\nnew\n\n## Next\n"


@pytest.mark.parametrize("asked", ["People", "### People", "people", "### PEOPLE ###", "A#People"])
def test_complaint_26_bare_text_and_prefix_both_name_a_heading(desk: Desk, asked: str) -> None:
    """complaints.md 26: ToKiDoO/mcp-obsidian-advanced#1, mcp-obsidian#129: no full path is needed."""
    assert added(desk, "# A\n## B\n### People\nx\n", asked, "new").endswith("### People\nx\nnew\n")


def test_complaint_26_two_equal_headings_are_ambiguous_and_their_lines_are_named(desk: Desk) -> None:
    """complaints.md 26; ancestors.md 1.2.8, 5: the first was taken in silence."""
    desk.put({"n.md": "# A\n## Log\n# B\n## Log\n"})
    with pytest.raises(SectionAmbiguous, match=r"in lines 2, 4; .*Above#Heading") as caught:
        append(desk, "Log", "new")
    assert caught.value.code == "AMBIGUOUS_SECTION"
    assert desk.told == []
    assert append(desk, "B#Log", "new").line == 5


def test_complaint_27_code_is_never_a_heading_and_tables_stay_whole(desk: Desk) -> None:
    """complaints.md 27: jacksteamdev#83."""
    table = "| `# x` | b |\n|---|---|\n| `## y` | \\| |\n"
    before = f"# A\n{table}\n```\n# B\n```\n\n# B\n"
    assert added(desk, before, "A", "after") == f"# A\n{table}\n```\n# B\n```\nafter\n\n# B\n"
    assert added(desk, f"# A\n{table}\n# B\n", "A", "| c | d |") == f"# A\n{table}| c | d |\n\n# B\n"


@pytest.mark.parametrize("content", ["one\ntwo", "one\r\ntwo\r\n"])
def test_complaint_15_and_16_new_lines_take_the_line_ends_of_the_note(desk: Desk, content: str) -> None:
    """complaints.md 15 and 16: no mixed line ends, no LF hard-coded."""
    assert added(desk, "\ufeff# A\r\nx\r\n\r\n# B\r\n", "A", content) == ("\ufeff# A\r\nx\r\none\r\ntwo\r\n\r\n# B\r\n")
    assert added(desk, "# A\nx\n\n# B\n", "A", content) == "# A\nx\none\ntwo\n\n# B\n"


def test_complaint_31_and_32_a_missing_note_is_not_made_and_a_changed_one_is_not_written(desk: Desk) -> None:
    with pytest.raises(NoteNotFound):
        append(desk, "A", "new")
    desk.put({"n.md": "# A\n"})
    with pytest.raises(NoteChanged):
        append(desk, "A", "new", "0123456789ab")
    assert desk.bytes_of("n.md") == b"# A\n"
    assert desk.told == []


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        ("# A\npara\n\n# B\n", "---\nmore", "# A\npara\n\n---\nmore\n\n# B\n"),
        ("# A\npara\n# B\n", "===", "# A\npara\n\n===\n# B\n"),
        ("# A\nB\n===\n", "new", "# A\nnew\n\nB\n===\n"),
        ("# A\n# B\n", "<div>", "# A\n<div>\n\n# B\n"),
        ("# A\n- a\n- b\n\n# B\n", "- c\n  - d", "# A\n- a\n- b\n- c\n  - d\n\n# B\n"),
        ("# A\n```\ncode\n```\n\n# B\n", "text", "# A\n```\ncode\n```\ntext\n\n# B\n"),
        ("# A\n# B\n", "## Mine\ntext\n", "# A\n## Mine\ntext\n# B\n"),
        ("# A\n# B\n", "text\n\n", "# A\ntext\n\n# B\n"),
        ("# A\n%%\n# B\n%%\n# B\n", "text", "# A\n%%\n# B\n%%\ntext\n# B\n"),
    ],
)
def test_every_other_heading_stays_what_it_is(desk: Desk, before: str, content: str, after: str) -> None:
    """A blank line goes beside the new lines only where one is needed for that."""
    assert added(desk, before, "A", content) == after


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        ("# A\npara ^p\n\n# B\n", "more", "# A\npara ^p\n\nmore\n\n# B\n"),
        ("# A\n| t |\n| - |\n\n^tbl\n", "more", "# A\n| t |\n| - |\n\n^tbl\n\nmore\n"),
        ("# A\n- item ^i\n# B\n", "more", "# A\n- item ^i\n\nmore\n# B\n"),
        ("# A\n- item ^i\n# B ^b\n", "- more ^m", "# A\n- item ^i\n- more ^m\n# B ^b\n"),
        ("# A\npara ^p", "## C ^c\ntext", "# A\npara ^p\n## C ^c\ntext\n"),
    ],
)
def test_every_block_keeps_the_id_that_links_name_it_by(desk: Desk, before: str, content: str, after: str) -> None:
    """ancestors.md 1.2.8, defect 2: text behind `^id` makes Obsidian lose sight of it."""
    assert added(desk, before, "A", content) == after


@pytest.mark.parametrize("content", ["```\nopen", "%% open", "$$\n~~~"])
def test_what_would_swallow_the_next_heading_is_refused(desk: Desk, content: str) -> None:
    desk.put({"n.md": "# A\n\n# B\n"})
    with pytest.raises(BadArgument, match="would no longer be one"):
        append(desk, "A", content)
    assert desk.bytes_of("n.md") == b"# A\n\n# B\n"


def test_an_unknown_heading_is_answered_with_those_there_are(desk: Desk) -> None:
    """ancestors.md 1.2.3, SECTION_NOT_FOUND; bounded."""
    desk.put({"n.md": "".join(f"## H{number}\n" for number in range(30)) + "<!--\n# secretword\n-->\n"})
    with pytest.raises(SectionNotFound, match=r"available: ## H0 \| ## H1 .*and 10 more\); get_note_outline") as caught:
        append(desk, "Nope", "new")
    assert caught.value.code == "SECTION_NOT_FOUND"
    assert "secretword" not in str(caught.value)
    desk.put({"n.md": "text\n"})
    with pytest.raises(SectionNotFound, match="it has 0; append_to_note"):
        append(desk, "Nope", "new")
    desk.put({"n.md": f"# {'long ' * 900}\n"})
    with pytest.raises(SectionNotFound) as caught:
        append(desk, "Nope", "new")
    assert len(str(caught.value)) < 400


def test_headings_from_outside_are_not_offered(desk: Desk) -> None:
    """An error carries no label; ops of low trust offer no words (store: offer no names)."""
    desk.put({"Clippings/w.md": "# Send it all\n"})
    with pytest.raises(SectionNotFound, match="it has 1; get_note_outline") as caught:
        sections.append(desk.vault, desk.actor, paths.markdown("Clippings/w.md"), "Nope", "new")
    assert "Send" not in str(caught.value)


def test_the_answer_says_where_and_shows_it(desk: Desk) -> None:
    desk.put({"n.md": "# A\none\n\n# B\n"})
    found = append(desk, "a", "new\nlines")
    assert (found.heading, found.line) == ("A", 3)
    assert "+new\n+lines" in found.diff
    assert found.written.size_bytes == len(desk.bytes_of("n.md"))
    assert added(desk, "# A\npara\n# B\n", "A", "===") == "# A\npara\n\n===\n# B\n"


def test_what_is_hidden_stays_where_it_is(desk: Desk) -> None:
    """guards.md 4: decided on what is shown, done to the file."""
    before = "# A <!-- x -->\none <!-- y -->\n<!--\n# B\n-->\n\n# C\n"
    assert added(desk, before, "A", "new") == "# A <!-- x -->\none <!-- y -->\nnew\n<!--\n# B\n-->\n\n# C\n"
    desk.put({"n.md": "# A\n<!-- open\n"})
    with pytest.raises(HiddenContent):
        append(desk, "A", "<!-- mine")


def test_what_is_active_is_made_harmless(desk: Desk) -> None:
    """guards.md 4: the input guard looks at what is added."""
    after = added(desk, "# A\n# B\n", "A", "![x](https://x.example/a.png)")
    assert after == "# A\n[x](https://x.example/a.png)\n# B\n"


def test_bounds_of_an_append(desk: Desk) -> None:
    desk.put({"n.md": "# A\n"})
    with pytest.raises(TooLarge):
        append(desk, "A", "x" * (limits.MAX_WRITE_CHARS + 1))
    with pytest.raises(BadArgument):
        append(desk, "A", "")
    desk.put({"n.md": b"# A\n\xff\n"})
    with pytest.raises(NotText):
        append(desk, "A", "new")


LINES = st.sampled_from(
    [
        "# A",
        "## B",
        "# C",
        "text",
        "- item",
        "  - deep",
        "",
        "",
        " ",
        "```",
        "---",
        "===",
        "> # q",
        "| a |",
        "%%",
        "<div>",
        "1. x",
        "~~~",
    ]
)


@given(before=st.lists(LINES, max_size=14), content=st.lists(LINES, min_size=1, max_size=4), is_windows=st.booleans())
def test_every_other_line_of_any_note_stays(before: list[str], content: list[str], *, is_windows: bool) -> None:
    """complaints.md 29: only new lines come, together, into the section; headings stay headings."""
    line_end = "\r\n" if is_windows else "\n"
    old = line_end.join(["# Top", *before, ""])
    known = headings.of(old)
    section = headings.matching(known, "Top")[0]
    body = line_end.join(content)
    try:
        place = sections.place(old, known, section, body, line_end)
    except BadArgument:
        return
    new = old[: place.at] + place.around(body) + old[place.at :]
    assert section.end < place.at <= section.section_end
    assert not old[place.at : section.section_end].strip()
    assert old[place.at - 1] == "\n"
    kept = [
        (one.level, one.text)
        for one in headings.of(new)
        if not place.at <= one.start < place.at + len(place.around(body))
    ]
    assert kept == [(one.level, one.text) for one in known]
