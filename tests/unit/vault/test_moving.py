"""Moving notes, folders and files: what becomes of each kind of link, and what is left alone."""

from __future__ import annotations

import json
import os
import unicodedata
from dataclasses import replace

import pytest

from service.errors import (
    BadArgument,
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NotText,
    PathAmbiguous,
    PathRefused,
    TooLarge,
    Unavailable,
    UnsafeContent,
)
from service.guards.trust import LowTrust
from service.store import together
from service.vault import move_plan, moving
from service.vault.move_asked import Asked
from service.vault.moving import Moved
from tests.support.desk import Desk
from tests.support.disk import texts
from tests.support.vaults import BOM


def note(source: str, target: str, **more: bool) -> Asked:
    return Asked.of_note(
        source, target, "", is_folder=more.pop("is_folder", False), updates_links=more.pop("links", True)
    )


def move(desk: Desk, source: str, target: str, **more: bool) -> Moved:
    return moving.move(desk.vault, desk.actor, note(source, target, **more))


def file(desk: Desk, source: str, target: str, *, overwrites: bool = False) -> Moved:
    asked = Asked.of_file(source, target, source, target, overwrites=overwrites)
    return moving.move(desk.vault, desk.actor, asked)


# -- each kind of link -----------------------------------------------------------------------------------------------------

REWRITTEN: list[tuple[str, str]] = [
    ("[[Old Name]]", "[[New Name]]"),
    ("[[old name]]", "[[New Name]]"),
    ("[[Old Name|the old one]]", "[[New Name|the old one]]"),
    ("[[Old Name#Part#Deeper]]", "[[New Name#Part#Deeper]]"),
    ("[[Old Name#^block-1|x]]", "[[New Name#^block-1|x]]"),
    ("[[ Old Name ]]", "[[ New Name ]]"),
    ("[[Old Name.md]]", "[[New Name.md]]"),
    ("[[Notes/Old Name]]", "[[Archive/2026/New Name]]"),
    ("[[/Notes/Old Name.md#x]]", "[[/Archive/2026/New Name.md#x]]"),
    ("[[Notes/Old Name|Old Name]]", "[[Archive/2026/New Name|Old Name]]"),
    ("![[Old Name]]", "![[New Name]]"),
    ("![[Old Name#Part|300]]", "![[New Name#Part|300]]"),
    ("[text](Notes/Old%20Name.md)", "[text](Archive/2026/New%20Name.md)"),
    ("[text](<Notes/Old Name.md#Part> 'title')", "[text](<Archive/2026/New Name.md#Part> 'title')"),
    ("[text](./Notes/Old%20Name.md)", "[text](./Archive/2026/New%20Name.md)"),
    ("![alt](/Notes/Old%20Name.md)", "![alt](/Archive/2026/New%20Name.md)"),
    ("[one][r]\n\n[r]: Notes/Old%20Name.md 'title'", "[one][r]\n\n[r]: Archive/2026/New%20Name.md 'title'"),
    ("| a |\n| - |\n| [[Old Name\\|b]] |", "| a |\n| - |\n| [[New Name\\|b]] |"),
    ("---\nup: '[[Old Name]]'\n---\n", "---\nup: '[[New Name]]'\n---\n"),
    ('---\nup:\n  - "[[Old Name|x]]" # why\n---\n', '---\nup:\n  - "[[New Name|x]]" # why\n---\n'),
    ("> [!note] [[Old Name]]\n> text", "> [!note] [[New Name]]\n> text"),
    ("<span hidden>[[Old Name]]</span>", "<span hidden>[[New Name]]</span>"),
]


@pytest.mark.parametrize(("before", "after"), REWRITTEN)
def test_a_link_follows_the_note_and_keeps_its_form(desk: Desk, before: str, after: str) -> None:
    """Complaint 11: alias, heading, block, embed and size are kept; and every other byte."""
    around = "Text before.\n\n{}\r\n\n\ttext after, without end"
    if before.startswith("---"):
        around = "{}\r\nbody"
    desk.put({"Notes/Old Name.md": "# Part\n", "Index.md": around.format(before)})
    moved = move(desk, "Notes/Old Name.md", "Archive/2026/New Name.md")
    assert desk.bytes_of("Index.md").decode() == around.format(after)
    assert [(str(one.path), one.links) for one in moved.changed] == [("Index.md", 1)]


LEFT_ALONE = [
    "[[Italy]]",
    "![[Italy#Rome|200]]",
    "[text](Italy.md)",
    "```\n[[Travel/Italy]]\n```",
    "    [[Travel/Italy]]",
    "`[[Travel/Italy]]` and %% [[Travel/Italy]] %% and <!-- [[Travel/Italy]] -->",
    "<div>\n[[Travel/Italy]]\n</div>",
    "[web](https://example.com/Travel/Italy.md)",
    "[[Nowhere/Italy]]",
    "\\[[Travel/Italy]]",
    "---\nTravel/Italy: 1\nplain: Travel/Italy\n---\n",
]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_still_leads_there_or_is_no_link_is_left_to_the_byte(desk: Desk, text: str) -> None:
    """Complaint 11: code untouched, `[[Italy]]` that still resolves left byte-identical."""
    desk.put({"Travel/Italy.md": "", "Index.md": text})
    before = os.stat(desk.folder / "Index.md")
    moved = move(desk, "Travel/Italy.md", "Countries/Italy.md")
    assert desk.bytes_of("Index.md").decode() == text
    assert os.stat(desk.folder / "Index.md").st_ino == before.st_ino, "not even rewritten with the same bytes"
    assert moved.changed == ()


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("Q&amp;A", "[x](Q%26amp%3BA.md)"),
        ("Q&amp;A", "[x](Q\\&amp;A.md)"),
        ("Q&amp;A", "[[Q&amp;A]]"),
        ("%41bc", "[x](&#37;2541bc.md)"),
        ("%41bc", "[[%41bc]]"),
        ("Abc", "[x](&#37;41bc.md)"),
        ("Abc", "[x](\\%41bc.md)"),
        ("it's", "---\nup: '[[it''s]]'\n---\n"),
        ("it's", '---\nup: "[[it\\x27s]]"\n---\n'),
        ("a b", '---\nup: "[[a\\ b]]"\n---\n'),
        ("a b", '---\nup: "[[a\\_b]]"\n---\n'),
        ("a b", '---\nup: "[[a\n  b]]"\n---\n'),
        ("a'b c", "---\nup: '[[a''b\n  c]]'\n---\n"),
    ],
)
def test_a_link_follows_however_the_characters_of_the_name_are_written(desk: Desk, name: str, before: str) -> None:
    """The issue: every link that resolved before. The note has no other mention of the name."""
    desk.put({f"{name}.md": "", "Index.md": before})
    moved = move(desk, f"{name}.md", "New.md")
    assert [(str(one.path), one.links) for one in moved.changed] == [("Index.md", 1)]
    assert "New" in desk.bytes_of("Index.md").decode()


def test_the_links_of_the_moved_note_itself_lead_where_they_led(desk: Desk) -> None:
    desk.put(
        {
            "a/Moved.md": "[up](../Top.md) [beside](Beside.md) ![](./pic.png) [[Beside]] [[Moved]] [[#Here]] [self](Moved.md#x)",
            "a/Beside.md": "",
            "b/Beside.md": "",
            "b/c/Beside.md": "",
            "a/pic.png": b"\x89PNG",
            "Top.md": "",
        }
    )
    moved = move(desk, "a/Moved.md", "b/c/New.md")
    assert desk.bytes_of("b/c/New.md").decode() == (
        "[up](../../Top.md) [beside](../../a/Beside.md) ![](../../a/pic.png) [[a/Beside]] [[New]] [[#Here]] [self](New.md#x)"
    )
    assert moved.changed == ()
    assert (moved.version, moved.size_bytes) == (
        desk.vault.files.read(moved.path).version,
        len(desk.bytes_of("b/c/New.md")),
    )


@pytest.mark.parametrize(
    ("source", "target", "before", "after"),
    [
        ("a/x/n.md", "a/n.md", "[b](../b.md) ![[../b#h]]", "[b](b.md) ![[b#h]]"),
        ("a/n.md", "n.md", "[c](../c.md) [[../c]]", "[c](c.md) [[c]]"),
        ("a/n.md", "d/n.md", "[c](../c.md) [b](../a/b.md)", "[c](../c.md) [b](../a/b.md)"),
        ("a/n.md", "a/x/n.md", "[b](./b.md) [c](../c.md)", "[b](../b.md) [c](../../c.md)"),
    ],
)
def test_a_relative_link_is_right_from_where_it_stands(
    desk: Desk, source: str, target: str, before: str, after: str
) -> None:
    """Not only as Obsidian finds it, which takes `../b` for any file `…b.md` if nothing is there: other programs do not."""
    desk.put({source: before, "a/b.md": "# h\n", "c.md": ""})
    move(desk, source, target)
    assert desk.bytes_of(target).decode() == after


def test_a_relative_link_follows_a_folder_that_moves_deeper(desk: Desk) -> None:
    desk.put({"T/a.md": "", "o/n.md": "[a](../T/a.md) [[../T/a]] [[T/a]]"})
    move(desk, "T", "U/T", is_folder=True)
    assert desk.bytes_of("o/n.md").decode() == "[a](../U/T/a.md) [[../U/T/a]] [[T/a]]"


def test_a_link_that_the_new_name_would_catch_is_written_so_that_it_is_not(desk: Desk) -> None:
    """Every link that resolved before, also those to other notes."""
    desk.put(
        {"deep/folder/Plan.md": "", "Draft.md": "", "Index.md": "[[Plan]] [[Draft]]", "deep/folder/x.md": "[[Plan]]"}
    )
    move(desk, "Draft.md", "Plan.md")
    assert desk.bytes_of("Index.md") == b"[[folder/Plan]] [[Plan]]"
    assert desk.bytes_of("deep/folder/x.md") == b"[[folder/Plan]]"


@pytest.mark.parametrize("before", ["[x](../v1.md)", "[[./../v1]]", "[[v1]]"])
def test_a_link_does_not_come_to_mean_one_of_two_equally_near_files(desk: Desk, before: str) -> None:
    """Also where a relative path leads nowhere now, and Obsidian looks for files whose path ends alike."""
    desk.put({"v1.md": "", "xyz/v1.md": "", "d/Note.md": before})
    moved = move(desk, "v1.md", "abc/v1.md")
    assert [str(one.path) for one in moved.changed] == ["d/Note.md"]
    assert "abc/v1" in desk.bytes_of("d/Note.md").decode()


def test_a_link_that_was_broken_stays_as_it_is(desk: Desk) -> None:
    desk.put({"A.md": "", "Index.md": "[[Missing]] [[A]]"})
    move(desk, "A.md", "Missing.md")
    assert desk.bytes_of("Index.md") == b"[[Missing]] [[Missing]]"


def test_canvases_follow_files_and_text_cards(desk: Desk) -> None:
    canvas = {
        "nodes": [
            {"id": "1", "type": "file", "file": "a/Note.md", "subpath": "#x", "x": 0, "y": 0, "width": 1, "height": 1},
            {
                "id": "2",
                "type": "text",
                "text": 'see [[a/Note|"n"]] and `[[a/Note]]`',
                "x": 0,
                "y": 0,
                "width": 1,
                "height": 1,
            },
            {"id": "3", "type": "link", "url": "https://example.com/a/Note.md"},
        ],
        "edges": [],
    }
    written = json.dumps(canvas, indent="\t") + "\n"
    desk.put({"a/Note.md": "", "boards/b.canvas": written})
    moved = move(desk, "a/Note.md", "c/Ünit.md")
    assert desk.bytes_of("boards/b.canvas").decode() == (
        written.replace('"file": "a/Note.md"', '"file": "c/Ünit.md"').replace("see [[a/Note|", "see [[c/Ünit|")
    )
    assert [(str(one.path), one.links) for one in moved.changed] == [("boards/b.canvas", 2)]


def test_bases_are_not_touched(desk: Desk) -> None:
    desk.put({"a/Note.md": "", "x.base": 'filters: file.path == "a/Note.md"\n'})
    move(desk, "a/Note.md", "b/New.md")
    assert desk.bytes_of("x.base") == b'filters: file.path == "a/Note.md"\n'


def test_line_ends_and_byte_order_mark_stay(desk: Desk) -> None:
    """contract.md, content; complaints 15 and 19."""
    desk.put({"A.md": "", "I.md": BOM + b'---\r\nup: "[[A]]"\r\n---\r\n\xe2\x82\xac [[A]]\r\nx\n'})
    move(desk, "A.md", "B.md")
    assert desk.bytes_of("I.md") == BOM + b'---\r\nup: "[[B]]"\r\n---\r\n\xe2\x82\xac [[B]]\r\nx\n'


# -- what cannot be rewritten ----------------------------------------------------------------------------------------------


def test_a_note_that_is_no_utf8_is_left_and_named(desk: Desk) -> None:
    """Complaint 20."""
    desk.put({"A.md": "", "odd.md": b"[[A]] caf\xe9", "fine.md": "[[A]]", "other.md": b"[[Else]] \xff A"})
    moved = move(desk, "A.md", "B.md")
    assert desk.bytes_of("odd.md") == b"[[A]] caf\xe9"
    assert [(str(one.path), one.why) for one in moved.left] == [("odd.md", "not UTF-8 text")]
    assert [str(one.path) for one in moved.changed] == ["fine.md"]


def test_without_links_the_answer_names_the_notes_that_now_lead_astray(desk: Desk) -> None:
    """Complaint 11: or the reply lists the N notes with links to the old name."""
    desk.put({"A.md": "", "x.md": "[[A]]", "y.md": "[a](A.md)", "z.md": "`[[A]]`"})
    moved = move(desk, "A.md", "B.md", links=False)
    assert [str(one.path) for one in moved.left] == ["x.md", "y.md"]
    assert desk.bytes_of("x.md") == b"[[A]]"
    assert moved.changed == ()


def test_notes_in_low_trust_folders_are_rewritten_and_only_counted(desk: Desk) -> None:
    """They are the owner's links; the names come from outside."""
    vault = replace(desk.vault, low_trust=LowTrust.of(["Clippings"]))
    desk.put({"A.md": "", "Clippings/web.md": "[[A]]", "Clippings/odd.md": b"[[A]] \xff", "x.md": "[[A]]"})
    moved = moving.move(vault, desk.actor, note("A.md", "B.md"))
    assert desk.bytes_of("Clippings/web.md") == b"[[B]]"
    assert ([str(one.path) for one in moved.changed], moved.changed_low_trust) == (["x.md"], 1)
    assert (moved.left, moved.left_low_trust) == ((), 1)


def test_a_note_that_is_too_large_to_be_read_is_counted(desk: Desk) -> None:
    desk.put({"A.md": "", "x.md": "[[A]]"})
    with (desk.folder / "large.md").open("wb") as large:
        large.truncate(10_000_001)
    assert move(desk, "A.md", "B.md").unread == 1


def test_no_move_changes_more_notes_than_it_may(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is told, and nothing is changed."""
    monkeypatch.setattr(move_plan, "MAX_REWRITTEN", 2)
    desk.put({"A.md": "", "x.md": "[[A]]", "y.md": "[[A]]", "z.md": "[[A]]"})
    before = texts(desk.folder)
    with pytest.raises(TooLarge, match="3 notes; the limit is 2"):
        move(desk, "A.md", "B.md")
    assert texts(desk.folder) == before
    assert move(desk, "A.md", "B.md", links=False).files == 1


def test_planning_that_takes_too_long_ends_with_a_way_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_plan, "DEADLINE_S", 0.0)
    desk.put({"A.md": "", "x.md": "[[A]]"})
    with pytest.raises(Unavailable, match="move without update_links"):
        move(desk, "A.md", "B.md")
    assert desk.bytes_of("A.md") == b""
    assert move(desk, "A.md", "B.md", links=False).is_cut_short
    assert desk.bytes_of("B.md") == b""


# -- where one may move ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "error", "words"),
    [
        ("A.md", "Taken.md", NoteExists, "exists already"),
        ("A.md", "taken.md", NoteExists, "one name to many devices"),
        ("A.md", "A.md", NoteExists, "exists already"),
        ("A.md", "Taken.md/x.md", PathRefused, "is a file, not a folder"),
        ("A.md", "FOLDER/x.md", NoteExists, "one name to many devices"),
        ("A.md", "CON/x.md", PathRefused, "reserved on Windows"),
        ("no.md", "B.md", NoteNotFound, "there is no"),
        ("s\u0307\u0323.md", "B.md", PathAmbiguous, "two files answer"),
    ],
)
def test_a_move_that_cannot_be_is_refused_and_changes_nothing(
    desk: Desk, source: str, target: str, error: type[Exception], words: str
) -> None:
    """contract.md: never overwrites; complaint 37."""
    desk.put({"A.md": "", "Taken.md": "mine", "folder/x.md": "[[A]]", "\u1e69.md": "1", "s\u0323\u0307.md": "2"})
    before = texts(desk.folder)
    for is_trial in (True, False):
        with pytest.raises(error, match=words):
            moving.move(desk.vault, desk.actor, note(source, target), is_trial=is_trial)
    assert texts(desk.folder) == before
    assert sorted(path.name for path in desk.folder.iterdir() if path.is_dir()) == ["folder"]


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [
        ("folder", "other", "NOT_A_NOTE"),
        ("a.md", "b", "NOT_A_NOTE"),
        ("a.png", "b.png", "NOT_A_NOTE"),
        ("a.md", "b.canvas", "NOT_A_NOTE"),
        ("../a.md", "b.md", "INVALID_PATH"),
        ("a.md", "Allowed/../Other/b.md", "INVALID_PATH"),
        ("a.md", ".obsidian/b.md", "HIDDEN_PATH"),
        (".trash/a.md", "b.md", "HIDDEN_PATH"),
        ("a.md", "x#y.md", "INVALID_PATH"),
    ],
)
def test_paths_obey_the_same_rules_as_everywhere(source: str, target: str, code: str) -> None:
    """Complaint 36; contract.md, refused path."""
    with pytest.raises(PathRefused) as refused:
        note(source, target)
    assert refused.value.code == code


def test_a_folder_without_the_switch_is_told_the_way(desk: Desk) -> None:
    with pytest.raises(PathRefused, match="set folder to true"):
        note("Projects", "Archive/Projects")


def test_another_version_than_expected_is_refused_before_anything_is_read(desk: Desk) -> None:
    desk.put({"A.md": "new", "x.md": "[[A]]"})
    with pytest.raises(NoteChanged):
        moving.move(desk.vault, desk.actor, replace(note("A.md", "B.md"), expected_hash="0000"))
    assert desk.bytes_of("x.md") == b"[[A]]"


@pytest.mark.parametrize(
    ("old", "new"),
    [("a.md", "A.md"), ("Cafe\u0301.md", "Caf\u00e9.md"), ("x/Straße.md", "x/STRASSE.md")],
)
def test_a_name_may_change_in_case_or_encoding_alone(desk: Desk, old: str, new: str) -> None:
    """Complaint 37: looked up by either form; no twin is made."""
    plain = unicodedata.normalize("NFC", old).rpartition("/")[2].removesuffix(".md")
    desk.put({old: "text", "Index.md": f"[[{plain}]]"})
    moved = move(desk, unicodedata.normalize("NFC", old), new)
    assert str(moved.path) == new
    assert set(texts(desk.folder)) == {new, "Index.md"}
    if unicodedata.normalize("NFC", old).lower() == unicodedata.normalize("NFC", new).lower():
        assert desk.bytes_of("Index.md").decode() == f"[[{plain}]]"


# -- folders ---------------------------------------------------------------------------------------------------------------


def test_a_folder_moves_with_all_in_it(desk: Desk) -> None:
    """Attachments and hidden files as well; links among its notes stay as they are."""
    desk.put(
        {
            "P/Plan.md": "[[Task]] ![[pic.png]] [t](sub/Task.md) [o](../Other.md)",
            "P/sub/Task.md": "[up](../Plan.md)",
            "P/pic.png": b"\x89PNG",
            "P/.hidden/x": "x",
            "P/empty/.keep": "",
            "Other.md": "[[P/Plan]] [[Task]] [p](P/sub/Task.md)",
        }
    )
    moved = move(desk, "P", "Archive/2026/P2", is_folder=True)
    assert texts(desk.folder) == {
        "Archive/2026/P2/Plan.md": b"[[Task]] ![[pic.png]] [t](sub/Task.md) [o](../../../Other.md)",
        "Archive/2026/P2/sub/Task.md": b"[up](../Plan.md)",
        "Archive/2026/P2/pic.png": b"\x89PNG",
        "Archive/2026/P2/.hidden/x": b"x",
        "Archive/2026/P2/empty/.keep": b"",
        "Other.md": b"[[Archive/2026/P2/Plan]] [[Task]] [p](Archive/2026/P2/sub/Task.md)",
    }
    assert (moved.files, moved.version) == (3, "")
    assert [str(one.path) for one in moved.changed] == ["Archive/2026/P2/Plan.md", "Other.md"]


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("P", "P/in", BadArgument),
        ("", "Q", BadArgument),
        ("P", "Taken", NoteExists),
        ("P", "taken", NoteExists),
        ("P", "note.md", NoteExists),
        ("note.md", "Q", PathRefused),
        ("no", "Q", NoteNotFound),
    ],
)
def test_a_folder_that_cannot_move_there_stays(desk: Desk, source: str, target: str, error: type[Exception]) -> None:
    desk.put({"P/x.md": "", "Taken/y.md": "", "note.md": "[[x]]"})
    before = texts(desk.folder)
    with pytest.raises(error):
        move(desk, source, target, is_folder=True)
    with pytest.raises(BadArgument):
        moving.move(desk.vault, desk.actor, replace(note("P", "Q", is_folder=True), expected_hash="abcd"))
    assert texts(desk.folder) == before


def test_a_folder_may_change_only_the_case_of_its_name(desk: Desk) -> None:
    desk.put({"plans/x.md": "", "y.md": "[[plans/x]]"})
    move(desk, "plans", "Plans", is_folder=True)
    assert texts(desk.folder) == {"Plans/x.md": b"", "y.md": b"[[plans/x]]"}


# -- files of any type -----------------------------------------------------------------------------------------------------


def test_a_picture_moves_and_embeds_follow(desk: Desk) -> None:
    data = bytes(range(256)) * 10
    desk.put({"pic.png": data, "a/x.md": "![[pic.png|100x200]] ![alt](../pic.png) `pic.png`"})
    moved = file(desk, "pic.png", "Files/photo 1.png")
    assert desk.bytes_of("Files/photo 1.png") == data
    assert desk.bytes_of("a/x.md") == b"![[photo 1.png|100x200]] ![alt](../Files/photo%201.png) `pic.png`"
    assert [(str(one.path), one.links) for one in moved.changed] == [("a/x.md", 2)]


def test_a_file_of_any_size_moves_without_being_read(desk: Desk) -> None:
    with (desk.folder / "film.mp4").open("wb") as film:
        film.truncate(1 << 40)
    desk.put({"x.md": "![[film.mp4]]"})
    moved = file(desk, "film.mp4", "Films/cut.mp4")
    assert (desk.folder / "Films/cut.mp4").stat().st_size == 1 << 40
    assert (moved.version, moved.size_bytes) == ("", 1 << 40)
    assert desk.bytes_of("x.md") == b"![[cut.mp4]]"


def test_what_is_overwritten_goes_to_the_trash(desk: Desk) -> None:
    """Never lost; complaint 39."""
    desk.put({"new.pdf": b"%PDF new", "a/old.pdf": b"%PDF old", "x.md": "[[old.pdf]] [[new.pdf]]"})
    with pytest.raises(NoteExists):
        file(desk, "new.pdf", "a/old.pdf")
    moved = file(desk, "new.pdf", "a/old.pdf", overwrites=True)
    assert texts(desk.folder) == {
        "a/old.pdf": b"%PDF new",
        ".trash/a/old.pdf": b"%PDF old",
        "x.md": b"[[old.pdf]] [[old.pdf]]",
    }
    assert str(moved.trashed_to) == ".trash/a/old.pdf"


def test_a_folder_is_never_overwritten(desk: Desk) -> None:
    desk.put({"a.pdf": b"1", "b.pdf/x.md": "x"})
    with pytest.raises((NoteExists, PathRefused)):
        file(desk, "a.pdf", "b.pdf", overwrites=True)
    assert texts(desk.folder) == {"a.pdf": b"1", "b.pdf/x.md": b"x"}


def test_a_file_keeps_its_type(desk: Desk) -> None:
    """Otherwise text could become a page, a script or a canvas, past the guard of what is written."""
    desk.put({"a.txt": "x", "b.md": "y", "noext": "z"})
    for target in ("a.html", "a.canvas", "a", "a.js"):
        with pytest.raises(PathRefused, match="keeps its type"):
            file(desk, "a.txt", target)
    assert str(file(desk, "a.txt", "a.md").path) == "a.md"
    assert str(file(desk, "b.md", "B.MD").path) == "B.MD"
    assert str(file(desk, "noext", "other").path) == "other"


@pytest.mark.parametrize(
    "text", ["```dataviewjs\nx\n```", "![](https://example.com/p.png)", "<script>x</script>", "a\u200bb"]
)
def test_plain_text_that_would_come_to_life_as_markdown_stays_plain_text(desk: Desk, text: str) -> None:
    """What comes from outside as a text file was never looked at for what Obsidian runs or loads."""
    desk.put({"a.txt": text, "odd.txt": b"caf\xe9", "fine.txt": "see [web](https://example.com) <!-- x -->\n"})
    for move_it in (move, file):
        with pytest.raises(UnsafeContent, match="once it is Markdown"):
            move_it(desk, "a.txt", "a.md")
    with pytest.raises(NotText):
        move(desk, "odd.txt", "odd.md")
    move(desk, "fine.txt", "fine.md")
    move(desk, "a.txt", "b.txt")
    assert set(texts(desk.folder)) == {"b.txt", "odd.txt", "fine.md"}


def test_both_paths_must_be_confirmed() -> None:
    for given in (("a.md", "x.md"), ("x.png", "b.png")):
        with pytest.raises(BadArgument, match="must equal"):
            Asked.of_file("a.png", "b.png", *given, overwrites=False)


# -- one change, and other programs ----------------------------------------------------------------------------------------


def test_all_of_it_is_one_change_of_one_grant(desk: Desk) -> None:
    """The issue: history knows it as one grant's."""
    desk.put({"a/A.md": "[[x]]", "a/pic.png": b"png", "x.md": "[[a/A]]"})
    desk.room.history.commit("start", may_use_child=False)
    move(desk, "a", "b", is_folder=True)
    assert {(str(one.path), one.before, one.after) for one in desk.told} == {
        ("x.md", b"[[a/A]]", b"[[b/A]]"),
        ("a/A.md", b"[[x]]", None),
        ("b/A.md", None, b"[[x]]"),
        ("a/pic.png", b"png", None),
        ("b/pic.png", None, b"png"),
    }
    report = desk.room.history.flush()
    assert len(report.commits) == 1


def test_a_note_that_changes_after_the_plan_is_planned_anew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complaint 12: no stale offsets. The other program's words are there, and the link in them follows."""
    desk.put({"A.md": "", "x.md": "[[A]]"})
    made, real = [], move_plan.make

    def make(*arguments: object) -> object:
        plan = real(*arguments)  # type: ignore[arg-type]
        made.append(1)
        if len(made) == 1:
            desk.put({"x.md": "a new first line\n\n[[A]] and [[A|more]]"})
        return plan

    monkeypatch.setattr(move_plan, "make", make)
    move(desk, "A.md", "B.md")
    assert desk.bytes_of("x.md") == b"a new first line\n\n[[B]] and [[B|more]]"
    assert len(made) == 2


def test_a_note_that_keeps_changing_is_a_conflict_and_nothing_has_changed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The issue: a version check of each note, all or nothing."""
    desk.put({"A.md": "", "w.md": "[[A]]", "x.md": "[[A]]"})
    real, times = together.apply, [0]

    def apply(*arguments: object, **more: object) -> object:
        times[0] += 1
        desk.put({"x.md": f"[[A]] {times[0]}"})
        return real(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(together, "apply", apply)
    with pytest.raises(NoteChanged, match=r"'x\.md' has changed"):
        move(desk, "A.md", "B.md")
    assert texts(desk.folder) == {"A.md": b"", "w.md": b"[[A]]", "x.md": b"[[A]] 3"}
    assert desk.told == []


def test_a_link_that_was_written_after_the_plan_is_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new note between plan and lock."""
    desk.put({"A.md": "", "x.md": "[[A]]"})
    real, made = move_plan.make, []

    def make(*arguments: object) -> object:
        plan = real(*arguments)  # type: ignore[arg-type]
        if not made:
            desk.put({"later.md": "[[A]]"})
        made.append(1)
        return plan

    monkeypatch.setattr(move_plan, "make", make)
    move(desk, "A.md", "B.md")
    assert desk.bytes_of("later.md") == b"[[B]]"
