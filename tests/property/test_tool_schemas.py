"""Every tool with arguments that its schema allows, and with some that it does not: never INTERNAL, nothing done when refused.

The issue: fuzz over every tool's input schema. In memory, with the real server, a real vault and real history.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from service.tools.catalogue import SPECS
from service.tools.register import as_tool
from service.tools.workers import Workers
from tests.support import rooms
from tests.support.clock import HeldClock
from tests.support.schemas import arguments
from tests.support.toolpaths import Desk, desk_over
from tests.support.vaults import lay_out

NOTES: Final[Mapping[str, str | bytes]] = {
    "one.md": "---\ntags: [a, b/c]\ntitle: One\n---\n# One\n\n- [ ] water 🔁 every week 📅 2026-03-01 ^id\n- [x] done ✅ 2026-02-01\n\n"
    "## Two\n\nsee [[two]], [[Folder/three#Head|alias]] and ![[pic.png]] #inline\n",
    "two.md": "two\r\nlines\r\n\r\n[back](one.md)\r\n",
    "Folder/three.md": "# Head\n\ntext ^block\n",
    "Folder/board.canvas": '{"nodes":[{"id":"1","type":"file","file":"one.md","x":0,"y":0,"width":1,"height":1}],"edges":[]}',
    "pic.png": b"\x89PNG\r\n\x1a\n",
    "bad.md": b"\xff\xfe no text",
    "broken.md": "---\na: [1\n---\ntext\n",
    "Clippings/four.md": "from outside #far\n",
    ".trash/gone.md": "gone\n",
    ".obsidian/daily-notes.json": '{"folder": "Daily", "format": "YYYY-MM-DD"}',
}
PATHS: Final = [name for name in NOTES if not name.startswith(".")]
VERSIONS: Final = [
    hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()[:12]
    for content in NOTES.values()
]
_LIKELY: Final[tuple[tuple[str, list[object]], ...]] = (
    ("path paths from to from_path link confirm_from confirm_to id", [*PATHS, "new.md", "gone.md"]),
    ("folder path_prefix exclude_paths", ["", "Folder", "Clippings"]),
    ("expected_hash", [*VERSIONS]),
    ("date new_date done_date due_before due_after", ["2026-03-01", "2026-02-30", "tomorrow"]),
    ("since until at", ["2026-03-01", "yesterday", "2 days ago"]),
    ("old_string query content text new_string", ["two", "lines", "# One", "- [ ] x\n", "系"]),
    ("heading", ["One", "## Two", "Head"]),
    ("tag add remove key", ["a", "b/c", "title", "#inline", "tags"]),
    ("line", [7, 8, 1]),
    ("start_line end_line start_column offset depth limit recent", [1, 2, 3]),
)
LIKELY: Final = {name: values for names, values in _LIKELY for name in names.split()}
SCHEMAS: Final = {spec.name: as_tool(spec, Workers()).parameters for spec in SPECS}
WRITES: Final = {spec.name for spec in SPECS if spec.writes}
EXAMPLES, MANY_EXAMPLES = 25, 300


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[tuple[Desk, Path]]:
    room = rooms.room_for(rooms.settings_for(tmp_path, WRITE_BUDGET="off"), HeldClock.at("2026-03-01T12:00:00"))
    lay_out(tmp_path / "vault", NOTES)
    with desk_over(room) as desk:
        yield desk, tmp_path / "vault"
    rooms.close(room)


def bytes_of(vault: Path) -> dict[str, bytes]:
    return {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def made_anew(vault: Path, now: Mapping[str, bytes]) -> None:
    """Put the vault back as it was laid out."""
    wanted = {name: content if isinstance(content, bytes) else content.encode() for name, content in NOTES.items()}
    for name in now.keys() - wanted.keys():
        (vault / name).unlink()
    lay_out(vault, {name: content for name, content in wanted.items() if now.get(name) != content})


def attack(name: str, desk: Desk, vault: Path, examples: int, *, is_fresh: bool = False) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=not is_fresh,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def one(data: st.DataObject) -> None:
        call: dict[str, Any] = data.draw(arguments(SCHEMAS[name], LIKELY))
        before = bytes_of(vault)
        try:
            said = desk.call(name, call)
        except UnicodeEncodeError:  # half a surrogate pair: no JSON text can hold it, so it never leaves the client
            return
        after = bytes_of(vault)
        assert said.code != "INTERNAL", call
        if said.is_error or name not in WRITES:
            assert after == before, f"{said.text} after {call}"
        elif after != before:
            made_anew(vault, after)

    one()


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_call_breaks_a_tool_and_a_refusal_changes_nothing(name: str, desk: tuple[Desk, Path]) -> None:
    """The issue: never an INTERNAL, never a change after a refusal; and a reading tool never changes anything."""
    attack(name, *desk, EXAMPLES)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SCHEMAS)
def test_no_call_breaks_a_tool_at_length(name: str, desk: tuple[Desk, Path]) -> None:
    """The same with many more calls, others each time; the one that fails is in the message."""
    attack(name, *desk, MANY_EXAMPLES, is_fresh=True)
