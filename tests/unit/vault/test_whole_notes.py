"""Writing notes whole: what of the old one stays, what is told, and what is refused.

contract.md, write_note and create_note; decisions.md 13.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Never

import pytest

from service.errors import (
    BadArgument,
    HiddenContent,
    InvalidFrontmatter,
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NotText,
    PathRefused,
    TooLarge,
    UnsafeContent,
    VersionNeeded,
)
from service.guards import paths
from service.store import listing
from service.vault import notes, properties, whole_notes
from service.vault.parts.yaml import Value
from service.vault.whole_notes import Asked, Mode, Rewritten
from tests.support.desk import NOTE, Desk
from tests.support.vaults import BOM


def version(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:12]


def overwrite(
    desk: Desk, note: str | bytes, content: str, values: dict[str, Value] | None = None, *, may_discard: bool = False
) -> Rewritten:
    desk.put({"n.md": note})
    asked = Asked(content, values or {}, Mode.OVERWRITE, version(note), may_discard)
    return whole_notes.write(desk.vault, desk.actor, NOTE, asked)


def add(desk: Desk, note: str | bytes, content: str, mode: Mode, values: dict[str, Value] | None = None) -> Rewritten:
    desk.put({"n.md": note})
    return whole_notes.write(desk.vault, desk.actor, NOTE, Asked(content, values or {}, mode))


def test_a_note_that_exists_is_replaced_only_by_who_names_the_version_read(desk: Desk) -> None:
    """contract.md, version; the way out tells both ways on. Complaint 32."""
    desk.put({"n.md": "old\n"})
    with pytest.raises(VersionNeeded, match=r"read it and give its version as expected_hash, or use mode append"):
        whole_notes.write(desk.vault, desk.actor, NOTE, Asked("new", {}))
    with pytest.raises(NoteChanged):
        whole_notes.write(desk.vault, desk.actor, NOTE, Asked("new", {}, expected_hash="abcdef"))
    assert desk.bytes_of("n.md") == b"old\n"
    done = overwrite(desk, "old\n", "new\n")
    assert desk.bytes_of("n.md") == b"new\n"
    assert (done.is_new, done.is_changed, done.diff) == (False, True, "@@ -1 +1 @@\n-old\n+new")
    assert done.written.version == version("new\n")


def test_making_a_note_looks_for_nothing_of_a_like_name(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """issue 6, write_note: a new note costs the same in a vault of any size."""

    def walked(_root: object) -> Never:
        raise AssertionError("the vault was walked")

    desk.put({"other.md": "x\n"})
    monkeypatch.setattr(listing, "everything", walked)
    made = whole_notes.write(desk.vault, desk.actor, NOTE, Asked("new", {}))
    assert (made.is_new, desk.bytes_of("n.md")) == (True, b"new")
    with pytest.raises(AssertionError, match="walked"):
        whole_notes.write(desk.vault, desk.actor, paths.writable_note("gone.md"), Asked("x", {}, Mode.APPEND))


def test_one_that_is_missing_is_made_by_overwriting_only(desk: Desk) -> None:
    """Complaint 31: a misspelt path must not become a note when somebody wanted to add to one."""
    for asked in (
        Asked("x", {}, Mode.APPEND),
        Asked("x", {}, Mode.PREPEND),
        Asked("x", {}, expected_hash="abcdef"),
    ):
        with pytest.raises(NoteNotFound):
            whole_notes.write(desk.vault, desk.actor, NOTE, asked)
    with pytest.raises(PathRefused):
        whole_notes.write(desk.vault, desk.actor, paths.writable_note("CON.md"), Asked("x", {}))
    assert not list(desk.folder.glob("*.md"))
    made = whole_notes.write(desk.vault, desk.actor, paths.writable_note("New/n.md"), Asked("x\r\n", {"a": "on"}))
    assert desk.bytes_of("New/n.md") == b'---\r\na: "on"\r\n---\r\nx\r\n'
    assert (made.is_new, made.is_changed, made.gone) == (True, True, ())


@pytest.mark.parametrize(
    ("note", "content", "expected"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\nb\n", "x\r\ny", b"x\ny"),
        (BOM + b"a\r\n", "x\n", BOM + b"x\r\n"),
        (BOM, "", None),
        (b"a", "", b""),
    ],
)
def test_line_ends_and_the_mark_at_the_beginning_stay(
    desk: Desk, note: bytes, content: str, expected: bytes | None
) -> None:
    """Complaints 15, 16 and 19; contract.md, content."""
    done = overwrite(desk, note, content)
    assert desk.bytes_of("n.md") == (note if expected is None else expected)
    assert done.is_changed == (expected is not None)


def test_the_mode_of_the_file_stays(desk: Desk) -> None:
    """contract.md, content."""
    desk.put({"n.md": "a\n"})
    os.chmod(desk.folder / "n.md", 0o640)
    whole_notes.write(desk.vault, desk.actor, NOTE, Asked("b\n", {}, expected_hash=version("a\n")))
    assert stat.S_IMODE((desk.folder / "n.md").stat().st_mode) == 0o640


def test_properties_that_are_gone_are_named(desk: Desk) -> None:
    """Complaint 17: C read without front matter and wrote over it, and nobody heard of it."""
    note = "---\na: 1\nb: [x]\nc\u200bd: 1\n---\ntext\n"
    done = overwrite(desk, note, "new\n", may_discard=True)
    assert done.gone == ("a", "b", "cd")
    assert desk.bytes_of("n.md") == b"new\n"
    kept = overwrite(desk, note, "---\nb: 2\n---\nnew\n", {"c": "22:30"}, may_discard=True)
    assert kept.gone == ("a", "cd")
    assert desk.bytes_of("n.md") == b'---\nb: 2\nc: "22:30"\n---\nnew\n'


def test_what_was_read_can_be_written_back(desk: Desk) -> None:
    """Complaint 17: read, change a word, overwrite: all else is as it was."""
    note = "---\ntime: 22:30\nlist: [a,b] # c\n---\n```dataviewjs\nx\n```\n![a](https://example.com/p.png)\n\nold\n"
    desk.put({"n.md": note})
    read = notes.read(desk.vault, NOTE)
    new = read.view.text.replace("old", "new")
    done = whole_notes.write(desk.vault, desk.actor, NOTE, Asked(new, {}, expected_hash=read.version))
    assert desk.bytes_of("n.md") == note.replace("old", "new").encode()
    assert (done.gone, done.written.notice) == ((), "")
    assert done.diff.splitlines()[-2:] == ["-old", "+new"]
    same = whole_notes.write(desk.vault, desk.actor, NOTE, Asked(new, {}, expected_hash=done.written.version))
    assert (same.is_changed, same.diff) == (False, "")


def test_what_is_hidden_is_not_lost_unasked(desk: Desk) -> None:
    """decisions.md 13: named as a count, and discard_hidden says that it is meant."""
    note = "one <!-- secret --> two\n\n<p hidden>three</p>\n\nfo\u200bur\n"
    with pytest.raises(HiddenContent, match=r"3 things .*\(1 comment, 1 element, 1 invisible character\)") as caught:
        overwrite(desk, note, "new\n")
    assert "secret" not in str(caught.value)
    assert desk.bytes_of("n.md") == note.encode()
    done = overwrite(desk, note, "new\n", may_discard=True)
    assert desk.bytes_of("n.md") == b"new\n"
    assert (
        done.written.notice
        == "3 things that a read did not show are gone (1 comment, 1 element, 1 invisible character)."
    )


@pytest.mark.parametrize(
    ("note", "content"), [("a\r\nb\nc\n", "a\nb\nc\n"), ("a <!-- x -->\n", "a \n"), ("a\u200b\n", "a\n")]
)
def test_a_change_that_no_diff_shows_is_one(desk: Desk, note: str, content: str) -> None:
    """Complaint 28, the other way round: line ends and hidden things are bytes too."""
    done = overwrite(desk, note, content, may_discard=True)
    assert (done.is_changed, done.diff) == (True, "")
    assert desk.bytes_of("n.md") == content.encode()


def test_a_note_that_nobody_can_be_shown_is_not_replaced(desk: Desk) -> None:
    """docs/explanation/guards.md: withheld."""
    note = "<!-" * 9 + "<!--x-->" + "- x -->" * 9 + "\n"
    with pytest.raises(HiddenContent, match="withheld"):
        overwrite(desk, note, "new\n", may_discard=True)
    assert desk.bytes_of("n.md") == note.encode()


def test_new_text_is_made_harmless_and_may_hide_something(desk: Desk) -> None:
    """guards.md 4.4; as with a new note."""
    done = overwrite(desk, "old\n", "![x](https://example.com/y.png)\n<!-- c -->\n\nz\u200b <b hidden>q</b>\n")
    assert desk.bytes_of("n.md") == b"[x](https://example.com/y.png)\n<!-- c -->\n\nz <b hidden>q</b>\n"
    assert "1 remote image was made a link." in done.written.notice
    assert "1 invisible character was left out." in done.written.notice
    assert "1 HTML comment was written" in done.written.notice
    assert "1 piece of this is not shown" in done.written.notice


@pytest.mark.parametrize(
    ("note", "content", "values", "expected"),
    [
        ("---\na: 1\n---\nbody\n", "top", {}, "---\na: 1\n---\ntop\nbody\n"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "top\nmore\n", {}, "---\r\na: 1\r\n---\r\ntop\r\nmore\r\nbody\r\n"),
        ("---\na: 1\n---", "top", {}, "---\na: 1\n---\ntop\n"),
        ("body", "top", {}, "top\nbody"),
        ("", "top", {}, "top\n"),
        ("---\na: 1 # c\n---\nbody\n", "top", {"a": 2, "b": "x"}, "---\na: 2 # c\nb: x\n---\ntop\nbody\n"),
        ("body\n", "top", {"b": "x"}, "---\nb: x\n---\ntop\nbody\n"),
        ("---\na: 1\n---\n\nbody\n", "---\n", {}, "---\na: 1\n---\n---\n\nbody\n"),
    ],
)
def test_text_above_goes_below_the_front_matter(
    desk: Desk, note: str, content: str, values: dict[str, Value], expected: str
) -> None:
    """contract.md, write_note."""
    done = add(desk, note, content, Mode.PREPEND, values)
    assert desk.bytes_of("n.md").decode() == expected
    assert done.is_changed
    assert "+top" in done.diff or "+---" in done.diff


@pytest.mark.parametrize(
    ("note", "content", "values", "expected"),
    [
        ("a\r\nb", "c", {}, "a\r\nb\r\nc\r\n"),
        ("a\n", "c\nd", {}, "a\nc\nd\n"),
        ("---\nx: 1\n---\na", "c", {"x": [1]}, "---\nx:\n  - 1\n---\na\nc\n"),
        ("a\n", "c", {"x": 1}, "---\nx: 1\n---\na\nc\n"),
        ("", "c", {}, "c\n"),
    ],
)
def test_text_below_begins_a_line_of_its_own(
    desk: Desk, note: str, content: str, values: dict[str, Value], expected: str
) -> None:
    """contract.md, append_to_note; C glued it to the last line (ancestors.md 1.3). Complaints 15 and 16."""
    add(desk, note, content, Mode.APPEND, values)
    assert desk.bytes_of("n.md").decode() == expected


@pytest.mark.parametrize(
    ("note", "content", "mode"),
    [
        ("body\n", "---\na: 1\n---\n", Mode.PREPEND),
        ("body\n\n---\n\nmore\n", "---\ntitle: x\n", Mode.PREPEND),
        ("", "---\na: 1\n---\n", Mode.APPEND),
        ("---\nopen: 1\n", "---\n", Mode.APPEND),
    ],
)
def test_text_that_would_make_or_end_a_front_matter_is_refused(desk: Desk, note: str, content: str, mode: Mode) -> None:
    """A line of `---` in the wrong place would take the note's own text for properties."""
    with pytest.raises(BadArgument, match="frontmatter"):
        add(desk, note, content, mode)
    assert desk.bytes_of("n.md").decode() == note


def test_adding_stays_away_from_what_is_hidden(desk: Desk) -> None:
    """guards.md 4.5."""
    for mode in (Mode.APPEND, Mode.PREPEND):
        for note, content in (("a <!-- x -->\n\n<!-- open", "b"), ("a\n", "<!-- b -->")):
            if mode is Mode.PREPEND and content == "b":
                continue  # above what is hidden, which stays so
            with pytest.raises(HiddenContent):
                add(desk, note, content, mode)
            assert desk.bytes_of("n.md").decode() == note
    add(desk, "a <!-- x -->\n\n<!-- open", "b", Mode.PREPEND)
    assert desk.bytes_of("n.md") == b"b\na <!-- x -->\n\n<!-- open"


def test_what_would_waken_old_text_is_refused(desk: Desk) -> None:
    """guards.md 4.4: a definition that an old reference waits for."""
    for mode in (Mode.APPEND, Mode.PREPEND):
        with pytest.raises(UnsafeContent):
            add(desk, "![x][y]\n\n", "[y]: https://example.com/p.png\n", mode)
        assert desk.bytes_of("n.md") == b"![x][y]\n\n"


@pytest.mark.parametrize("mode", [Mode.APPEND, Mode.PREPEND])
def test_there_must_be_something_to_add(desk: Desk, mode: Mode) -> None:
    """As append_to_note has it."""
    with pytest.raises(BadArgument, match="nothing to"):
        add(desk, "a\n", "", mode)


def test_bytes_that_are_no_text_are_never_replaced(desk: Desk) -> None:
    """Complaint 20."""
    for mode in Mode:
        desk.put({"n.md": b"a\xff\n"})
        with pytest.raises(NotText):
            whole_notes.write(desk.vault, desk.actor, NOTE, Asked("x", {}, mode, version(b"a\xff\n")))
        assert desk.bytes_of("n.md") == b"a\xff\n"


def test_a_text_that_is_too_large_is_refused(desk: Desk) -> None:
    """contract.md, content."""
    with pytest.raises(TooLarge):
        overwrite(desk, "a\n", "x" * 1_000_001)
    assert desk.bytes_of("n.md") == b"a\n"


# -- a new note with properties ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "values", "expected"),
    [
        ("text\n", {"tags": ["a"], "due": "2026-03-01"}, "---\ntags:\n  - a\ndue: 2026-03-01\n---\ntext\n"),
        ("---\na: 1 # c\n---\ntext", {"b": 2}, "---\na: 1 # c\nb: 2\n---\ntext"),
        ("---\na: 1 # c\n---\ntext", {"a": 2}, "---\na: 2 # c\n---\ntext"),
        ("", {"a": None}, "---\na:\n---\n"),
        ("text\n", {}, "text\n"),
        ("a\r\n", {"b": ["x"]}, "---\r\nb:\r\n  - x\r\n---\r\na\r\n"),
    ],
)
def test_a_new_note_gets_its_properties(desk: Desk, content: str, values: dict[str, Value], expected: str) -> None:
    """contract.md, create_note."""
    made = whole_notes.create(desk.vault, desk.actor, NOTE, content, values)
    assert desk.bytes_of("n.md").decode() == expected
    assert made.version == version(expected)
    assert {name: properties.read(desk.vault, NOTE).values[name] for name in values} == values
    with pytest.raises(NoteExists):
        whole_notes.create(desk.vault, desk.actor, NOTE, content, values)


def test_a_new_note_whose_own_front_matter_is_malformed_gets_no_second(desk: Desk) -> None:
    """Complaint 17."""
    for content in ("---\na: [\n---\n", "---\na: 1\n"):
        with pytest.raises(InvalidFrontmatter):
            whole_notes.create(desk.vault, desk.actor, NOTE, content, {"b": 1})
    assert not (desk.folder / "n.md").exists()


@pytest.mark.parametrize("content", ["---\nno end", "---\na: [\n---\n", "\n---\na: 1\n---\n", "---\n{a: 1}\n---\n"])
def test_what_is_wrong_with_the_given_text_is_not_sought_in_the_note(desk: Desk, content: str) -> None:
    """contract.md: errors say what to do next; there is no note yet to be read or edited."""
    with pytest.raises(InvalidFrontmatter, match="in content") as refused:
        whole_notes.create(desk.vault, desk.actor, NOTE, content, {"b": 1})
    assert "read_note" not in str(refused.value)
    with pytest.raises(InvalidFrontmatter, match="in content"):
        overwrite(desk, "old", content, {"b": 1})
    assert desk.bytes_of("n.md") == b"old"


def test_only_markdown_has_properties(desk: Desk) -> None:
    """contract.md, path: Markdown features are for .md and .markdown."""
    text = paths.new_note("n.txt")
    with pytest.raises(PathRefused):
        whole_notes.create(desk.vault, desk.actor, text, "x", {"a": 1})
    with pytest.raises(PathRefused):
        whole_notes.write(desk.vault, desk.actor, text, Asked("x", {"a": 1}))
    assert whole_notes.write(desk.vault, desk.actor, text, Asked("x", {})).is_new
