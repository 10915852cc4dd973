"""`strongroom hidden`: for the owner, what assistants are not shown."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from ops.commands import strongroom
from tests.support.vaults import lay_out
from tests.unit.ops.conftest import House

NOTES = {
    "plain.md": "nothing to see\n<b>bold</b>\n",
    "a/comment.md": "one\n\n<!-- secret\nplan -->\n\nt\u200bwo\U000e0041\n",
    "b.md": '<div style="display:none">gone</div>\n\x1b[31m\n',
    ".obsidian/c.md": "<!-- c -->\n",
}


def typed(*words: str) -> Result:
    result = CliRunner().invoke(strongroom, ["hidden", *words])
    assert result.exception is None, result.exception
    return result


def said(*words: str) -> Any:
    return json.loads(typed(*words, "--json").stdout)


def test_the_notes_that_hide_something_are_listed_with_counts(house: House) -> None:
    """The issue: so that the owner can look."""
    lay_out(house.vault, NOTES)
    assert said() == {
        "notes": [
            {"path": "a/comment.md", "hidden": {"comment": 1, "invisible": 2}, "withheld": None},
            {"path": "b.md", "hidden": {"element": 1, "invisible": 1}, "withheld": None},
        ]
    }
    shown = typed()
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["Note", "a/comment.md", "b.md"]
    assert "2 notes hide something" in shown.stderr
    assert [note["path"] for note in said("a")["notes"]] == ["a/comment.md"]


def test_the_hidden_pieces_of_a_note_stand_with_their_lines_and_can_be_seen(house: House) -> None:
    """Nothing in them can drive a terminal."""
    lay_out(house.vault, NOTES)
    assert said("a/comment.md")["pieces"] == [
        {"line": 3, "text": "<!-- secret"},
        {"line": 4, "text": "plan -->"},
        {"line": 6, "text": "\\u200b"},
        {"line": 6, "text": "\\U000e0041"},
    ]
    shown = typed("b.md")
    assert "\x1b" not in shown.output
    assert "\\x1b" in shown.stdout
    assert "display:none" in shown.stdout


def test_where_nothing_is_hidden_it_says_so(house: House) -> None:
    """Silence would be no answer."""
    lay_out(house.vault, {"plain.md": NOTES["plain.md"]})
    assert typed().stderr == "no note hides anything.\n"
    assert typed("plain.md").stderr == "'plain.md' hides nothing.\n"


def test_it_writes_nothing(house: House) -> None:
    """Read-only."""
    lay_out(house.vault, NOTES)
    before = {path: path.stat().st_mtime_ns for path in (*house.vault.rglob("*"), *house.state.rglob("*"))}
    typed()
    typed("b.md")
    assert {path: path.stat().st_mtime_ns for path in (*house.vault.rglob("*"), *house.state.rglob("*"))} == before
