"""Reading, creating, appending and deleting one note."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace

import pytest

from service.errors import (
    BadArgument,
    Forbidden,
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NotText,
    PathAmbiguous,
    PathRefused,
    TooLarge,
)
from service.guards import limits, paths
from service.store.files import FileContent, Permit
from service.vault import notes
from service.vault.model import Change
from tests.support.desk import NOTE, Desk
from tests.support.vaults import BOM


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# -- reading ---------------------------------------------------------------------------------------------------------------


def test_reading_gives_the_text_as_it_stands_with_size_and_version_of_the_raw_bytes(desk: Desk) -> None:
    """contract.md, Values; complaint 17."""
    raw = "---\r\ntitle: ü\r\n---\r\nline\u2028same line\rstill\r\n".encode()
    desk.put({"n.md": raw})
    note = notes.read(desk.vault, NOTE)
    assert note.content.text.encode() == raw
    assert note.size_bytes == len(raw)
    assert note.version == sha256(raw)[:12]


def test_reading_leaves_out_the_byte_order_mark_but_counts_it(desk: Desk) -> None:
    """Complaint 19: the hash is stable whatever the mark."""
    desk.put({"n.md": BOM + b"text"})
    note = notes.read(desk.vault, NOTE)
    assert note.content.text == "text"
    assert (note.size_bytes, note.version) == (7, sha256(BOM + b"text")[:12])


def test_a_note_that_is_no_utf8_is_read_with_replacement_and_says_so(desk: Desk) -> None:
    """Complaint 20."""
    desk.put({"n.md": b"caf\xe9 au lait"})
    note = notes.read(desk.vault, NOTE)
    assert note.content.text == "caf\ufffd au lait"
    assert not note.content.is_exact


def test_a_missing_note_names_the_nearest_ones(desk: Desk) -> None:
    """contract.md, not found."""
    desk.put({"Projects/Garden.md": "", "Garden plan.md": "", "Other.md": ""})
    with pytest.raises(NoteNotFound) as refused:
        notes.read(desk.vault, paths.note("Garden.md"))
    assert refused.value.nearest == ("Projects/Garden.md", "Garden plan.md")


def test_a_misspelt_name_is_recognised_in_any_folder(desk: Desk) -> None:
    """contract.md, not found: a model seldom remembers the folder."""
    desk.put({"Projects/2026/House/Garden.md": "", "Other.md": ""})
    with pytest.raises(NoteNotFound) as refused:
        notes.read(desk.vault, paths.note("Gardne.md"))
    assert refused.value.nearest == ("Projects/2026/House/Garden.md",)


def test_a_name_stored_decomposed_is_found_by_its_composed_form(desk: Desk) -> None:
    """Complaint 37."""
    desk.put({"Cafe\u0301.md": "text"})
    note = notes.read(desk.vault, paths.note("Caf\u00e9.md"))
    assert str(note.path) == "Cafe\u0301.md"


def test_two_spellings_of_the_same_letters_are_ambiguous(desk: Desk) -> None:
    """Complaint 37: a form that is neither must not pick one of them."""
    desk.put({"\u1e69.md": "composed", "s\u0323\u0307.md": "decomposed"})
    with pytest.raises(PathAmbiguous):
        notes.read(desk.vault, paths.note("s\u0307\u0323.md"))


def test_a_link_is_refused_wherever_it_leads(desk: Desk) -> None:
    """Complaint 33; contract.md, refused path."""
    desk.put({"real.md": "text"})
    (desk.folder / "n.md").symlink_to(desk.folder / "real.md")
    with pytest.raises(PathRefused) as refused:
        notes.read(desk.vault, NOTE)
    assert refused.value.code == "OUTSIDE_VAULT"


# -- creating --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", "text", "a\r\nb\n", "𝄞 👨‍👩‍👧 می‌روم क्‍ष ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿\n", "$1 \\1\n"])
def test_creating_writes_exactly_the_content_and_makes_folders(desk: Desk, content: str) -> None:
    """Complaints 21 and 23; contract.md, create_note."""
    made = notes.create(desk.vault, desk.actor, paths.new_note("New/Folder/n.md"), content)
    assert desk.bytes_of("New/Folder/n.md") == content.encode()
    assert made.version == sha256(content.encode())[:12]
    assert made.size_bytes == len(content.encode())
    assert desk.told == [Change(made.path, None, content.encode())]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<span hidden>x</span>\n", "1 piece of this is not shown when the note is read"),
        (
            '<div style="display:none">\nx\n</div>\n\n[a]: # "b"\n',
            "2 pieces of this are not shown when the note is read",
        ),
        ("a <!-- b -->\n", "1 HTML comment was written"),
    ],
)
def test_creating_a_note_that_hides_something_says_so(desk: Desk, content: str, words: str) -> None:
    """guards.md 4.4, "you will not see these again": whoever wrote it would look for it in vain."""
    assert notes.create(desk.vault, desk.actor, NOTE, content).notice.startswith(words)
    assert desk.bytes_of("n.md") == content.encode()


def test_creating_a_note_that_hides_nothing_says_nothing(desk: Desk) -> None:
    content = "`<span hidden>` <b>x</b> [a][a]\n\n[a]: https://a.example 'title'\n[b]: https://b.example\n"
    assert notes.create(desk.vault, desk.actor, NOTE, content).notice == ""


def test_creating_never_overwrites(desk: Desk) -> None:
    """contract.md, create_note."""
    desk.put({"n.md": "old"})
    with pytest.raises(NoteExists):
        notes.create(desk.vault, desk.actor, NOTE, "new")
    assert desk.bytes_of("n.md") == b"old"
    assert desk.told == []


def test_creating_makes_no_twin_of_a_decomposed_name(desk: Desk) -> None:
    """Complaint 37."""
    desk.put({"Cafe\u0301.md": "old"})
    with pytest.raises(NoteExists):
        notes.create(desk.vault, desk.actor, paths.new_note("Caf\u00e9.md"), "new")
    assert [path.name for path in desk.folder.iterdir()] == ["Cafe\u0301.md"]


def test_more_text_than_one_write_may_bring_is_refused(desk: Desk) -> None:
    """contract.md, content."""
    with pytest.raises(TooLarge, match="1000001 characters; the limit is 1000000"):
        notes.create(desk.vault, desk.actor, NOTE, "x" * (limits.MAX_WRITE_CHARS + 1))
    assert list(desk.folder.iterdir()) == []


def test_half_a_character_is_refused(desk: Desk) -> None:
    """guards.md 2.2: no UnicodeEncodeError gets out."""
    with pytest.raises(BadArgument, match="surrogate"):
        notes.create(desk.vault, desk.actor, NOTE, "x\ud800")


# -- appending -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "added", "after"),
    [
        (b"", "one", b"one\n"),
        (b"a", "one", b"a\none\n"),
        (b"a\n", "one", b"a\none\n"),
        (b"a\n\n", "one\n", b"a\n\none\n"),
        (b"a\r\nb", "one\ntwo", b"a\r\nb\r\none\r\ntwo\r\n"),
        (b"a\r\nb\r\n", "one\r\ntwo\n", b"a\r\nb\r\none\r\ntwo\r\n"),
        (b"a\nb\n", "one\r\ntwo", b"a\nb\none\ntwo\n"),
        (BOM, "one", BOM + b"one\n"),
        (BOM + b"a\r\n", "one", BOM + b"a\r\none\r\n"),
        (b"a\r\nb\nc\r\n", "one", b"a\r\nb\nc\r\none\r\n"),
        (b"a\n", "one\n\n", b"a\none\n\n"),
    ],
)
def test_appending_puts_one_line_end_between_and_takes_the_notes_own_line_ends(
    desk: Desk, before: bytes, added: str, after: bytes
) -> None:
    """contract.md, append_to_note and content; complaints 15, 16 and 19."""
    desk.put({"n.md": before})
    written = notes.append(desk.vault, desk.actor, NOTE, added)
    assert desk.bytes_of("n.md") == after
    assert (written.version, written.size_bytes) == (sha256(after)[:12], len(after))
    assert desk.told == [Change(NOTE, before, after)]
    assert f"+{added.splitlines()[0]}" in written.diff


def test_appending_to_a_missing_note_never_creates_it(desk: Desk) -> None:
    """Complaint 31."""
    with pytest.raises(NoteNotFound):
        notes.append(desk.vault, desk.actor, NOTE, "one")
    assert list(desk.folder.iterdir()) == []


def test_appending_nothing_is_refused(desk: Desk) -> None:
    """Complaint 28: a success always changes the file."""
    desk.put({"n.md": "a"})
    with pytest.raises(BadArgument):
        notes.append(desk.vault, desk.actor, NOTE, "")


def test_a_note_that_is_no_utf8_is_never_changed(desk: Desk) -> None:
    """Complaint 20."""
    desk.put({"n.md": b"caf\xe9\n"})
    with pytest.raises(NotText):
        notes.append(desk.vault, desk.actor, NOTE, "one")
    assert desk.bytes_of("n.md") == b"caf\xe9\n"


def test_a_note_may_not_outgrow_what_can_be_read(desk: Desk) -> None:
    """Our decision: what we write can be read again."""
    desk.put({"n.md": b"x" * (limits.MAX_NOTE_BYTES - 2)})
    with pytest.raises(TooLarge):
        notes.append(desk.vault, desk.actor, NOTE, "one")


def test_the_mode_of_the_file_is_kept(desk: Desk) -> None:
    """contract.md, content."""
    desk.put({"n.md": "a\n"})
    (desk.folder / "n.md").chmod(0o640)
    notes.append(desk.vault, desk.actor, NOTE, "one")
    assert (desk.folder / "n.md").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("digits", [4, 12, 63, 64])
def test_any_prefix_of_the_full_hash_is_a_version(desk: Desk, digits: int) -> None:
    """decisions.md 14."""
    desk.put({"n.md": "a\n"})
    notes.append(desk.vault, desk.actor, NOTE, "one", expected_hash=sha256(b"a\n")[:digits].upper())
    assert desk.bytes_of("n.md") == b"a\none\n"


def test_another_version_is_a_conflict_that_names_both(desk: Desk) -> None:
    """Complaint 32: read, changed from outside, write with the old version."""
    desk.put({"n.md": "a\n"})
    read = notes.read(desk.vault, NOTE)
    desk.put({"n.md": "changed\n"})
    with pytest.raises(NoteChanged) as refused:
        notes.append(desk.vault, desk.actor, NOTE, "one", expected_hash=read.version)
    assert (refused.value.expected, refused.value.found) == (read.version, sha256(b"changed\n")[:12])
    assert desk.bytes_of("n.md") == b"changed\n"


@pytest.mark.parametrize("wrong", ["abc", "xyz0", "a" * 65, "0123 4567"])
def test_an_expected_hash_that_is_none_is_refused(desk: Desk, wrong: str) -> None:
    """decisions.md 14: 4 to 64 hex digits."""
    desk.put({"n.md": "a\n"})
    with pytest.raises(BadArgument, match="4 to 64 hex"):
        notes.append(desk.vault, desk.actor, NOTE, "one", expected_hash=wrong)


def test_parallel_appends_all_land_once(desk: Desk) -> None:
    """Complaint 32."""
    desk.put({"n.md": "start\n"})
    threads = [
        threading.Thread(target=notes.append, args=(desk.vault, desk.actor, NOTE, f"line {number}"))
        for number in range(25)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(desk.bytes_of("n.md").decode().splitlines()) == sorted(["start", *(f"line {n}" for n in range(25))])


def _changing_from_outside(desk: Desk, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let another program write a line just before each of the next `times` replacements."""
    real, left = type(desk.vault.files).replace, iter(range(times))

    def replace_late(self: object, old: FileContent, data: bytes, permit: Permit) -> FileContent:
        if next(left, None) is not None:
            with (desk.folder / "n.md").open("ab") as note:
                note.write(b"outside\n")
        return real(desk.vault.files, old, data, permit)

    monkeypatch.setattr(type(desk.vault.files), "replace", replace_late)


def test_a_change_from_outside_in_the_last_moment_is_kept_and_the_append_still_lands(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complaint 32: decided anew, since nothing had been written."""
    desk.put({"n.md": "a\n"})
    _changing_from_outside(desk, monkeypatch, times=2)
    notes.append(desk.vault, desk.actor, NOTE, "one")
    assert desk.bytes_of("n.md") == b"a\noutside\noutside\none\n"
    assert desk.told == [Change(NOTE, b"a\noutside\noutside\n", b"a\noutside\noutside\none\n")]


def test_a_change_from_outside_in_the_last_moment_is_a_conflict_for_an_expected_version(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complaint 32."""
    desk.put({"n.md": "a\n"})
    _changing_from_outside(desk, monkeypatch, times=1)
    with pytest.raises(NoteChanged):
        notes.append(desk.vault, desk.actor, NOTE, "one", expected_hash=sha256(b"a\n"))
    assert desk.bytes_of("n.md") == b"a\noutside\n"


def test_a_note_that_never_holds_still_is_a_conflict_in_the_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our decision: MAX_ATTEMPTS, then tell."""
    desk.put({"n.md": "a\n"})
    _changing_from_outside(desk, monkeypatch, times=notes.MAX_ATTEMPTS)
    with pytest.raises(NoteChanged):
        notes.append(desk.vault, desk.actor, NOTE, "one")
    assert b"one" not in desk.bytes_of("n.md")
    assert desk.told == []


def test_a_revoked_grant_changes_nothing(desk: Desk) -> None:
    """decisions.md 20."""

    def refuse() -> None:
        raise Forbidden("revoked")

    desk.put({"n.md": "a\n"})
    revoked = replace(desk.actor, permit=refuse)
    with pytest.raises(Forbidden):
        notes.append(desk.vault, revoked, NOTE, "one")
    with pytest.raises(Forbidden):
        notes.create(desk.vault, revoked, paths.new_note("new.md"), "one")
    with pytest.raises(Forbidden):
        notes.delete(desk.vault, revoked, NOTE)
    assert {path.name: path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()} == {"n.md": b"a\n"}
    assert desk.told == []


# -- deleting --------------------------------------------------------------------------------------------------------------


def test_deleting_moves_a_note_into_the_trash_with_its_folders(desk: Desk) -> None:
    """Complaint 39."""
    desk.put({"a/b/n.md": "text"})
    path = paths.writable_note("a/b/n.md")
    deleted, trashed_to = notes.delete(desk.vault, desk.actor, path)
    assert str(trashed_to) == ".trash/a/b/n.md"
    assert desk.bytes_of(".trash/a/b/n.md") == b"text"
    assert not (desk.folder / "a/b/n.md").exists()
    assert (deleted.version, deleted.size_bytes) == (sha256(b"text")[:12], 4)
    assert desk.told == [Change(path, b"text", None), Change(trashed_to, None, b"text")]


def test_deleting_the_same_name_twice_keeps_both(desk: Desk) -> None:
    """contract.md, delete_note."""
    desk.put({"n.md": "first"})
    _, one = notes.delete(desk.vault, desk.actor, NOTE)
    desk.put({"n.md": "second"})
    _, two = notes.delete(desk.vault, desk.actor, NOTE)
    assert one != two
    assert [desk.bytes_of(str(one)), desk.bytes_of(str(two))] == [b"first", b"second"]


def test_deleting_another_version_is_a_conflict(desk: Desk) -> None:
    """contract.md, version."""
    desk.put({"n.md": "text"})
    with pytest.raises(NoteChanged):
        notes.delete(desk.vault, desk.actor, NOTE, expected_hash="0000")
    assert desk.bytes_of("n.md") == b"text"


def test_deleting_a_missing_note_names_the_nearest(desk: Desk) -> None:
    """contract.md, not found."""
    desk.put({"m/n.md": "text"})
    with pytest.raises(NoteNotFound) as refused:
        notes.delete(desk.vault, desk.actor, NOTE)
    assert refused.value.nearest == ("m/n.md",)
