"""Two clients with tokens of their own write one note at the same time, over HTTP against the real service.

guards.md 6, 7; complaints.md 32: each edit is applied once or refused with CONFLICT, and all are accounted for.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import anyio
import pytest
from mcp.client import Client

from tests.support.service import Service, text_of

pytestmark = pytest.mark.anyio
EDITS = 25
TOKEN = re.compile(r"<(\w+)-(\d+)>")


def tokens(path: Path) -> Counter[str]:
    return Counter("-".join(found) for found in TOKEN.findall(path.read_text(encoding="utf-8")))


async def version(client: Client, path: str) -> str:
    first = text_of(await client.call_tool("read_note", {"path": path})).split("\n", 1)[0]
    found = re.search(r"version ([0-9a-f]{12})", first)
    assert found is not None
    return found[1]


async def test_fifty_edits_of_one_note_by_two_clients_are_each_applied_once_or_refused(service: Service) -> None:
    """One client names the version it has read, the other does not: at the same time, all at once."""
    note = service.vault / "shared.md"
    note.write_text("".join(f"slot-{who}-{number}.\n" for who in ("careful", "bold") for number in range(EDITS)))
    outcomes: dict[str, str] = {}

    async def edit(client: Client, who: str, number: int, *, is_careful: bool) -> None:
        arguments: dict[str, object] = {
            "path": "shared.md",
            "edits": [{"old_string": f"slot-{who}-{number}.", "new_string": f"<{who}-{number}>"}],
        }
        if is_careful:
            arguments["expected_hash"] = await version(client, "shared.md")
        result = await client.call_tool("edit_note", arguments)
        outcomes[f"{who}-{number}"] = text_of(result).split(": ", 1)[0] if result.is_error else "ok"

    async with service.client(service.token("careful")) as careful, service.client(service.token("bold")) as bold:
        async with anyio.create_task_group() as group:
            for number in range(EDITS):
                group.start_soon(lambda number=number: edit(careful, "careful", number, is_careful=True))
                group.start_soon(lambda number=number: edit(bold, "bold", number, is_careful=False))
        applied = {name for name, outcome in outcomes.items() if outcome == "ok"}
        assert len(outcomes) == 2 * EDITS
        assert set(outcomes.values()) <= {"ok", "CONFLICT"}
        assert {name for name in outcomes if name.startswith("bold")} <= applied
        assert tokens(note) == Counter(applied)
        for name in sorted(set(outcomes) - applied):  # whoever was refused reads again and gets through
            who, number = name.split("-")
            await edit(careful, who, int(number), is_careful=True)
    assert set(outcomes.values()) == {"ok"}
    assert tokens(note) == Counter(outcomes.keys())
    assert "slot-" not in note.read_text()


async def test_twenty_five_parallel_appends_by_each_of_two_clients_all_land(service: Service) -> None:
    """complaints.md 32; maxkuminov/obsidian-mcp#205: lost updates."""
    note = service.vault / "appended.md"
    note.write_text("first\n")

    async def append(client: Client, who: str, number: int) -> None:
        result = await client.call_tool("append_to_note", {"path": "appended.md", "content": f"<{who}-{number}>"})
        assert not result.is_error, text_of(result)

    async with (
        service.client(service.token("left")) as left,
        service.client(service.token("right")) as right,
        anyio.create_task_group() as group,
    ):
        for number in range(EDITS):
            group.start_soon(append, left, "left", number)
            group.start_soon(append, right, "right", number)
    assert tokens(note) == Counter(f"{who}-{number}" for who in ("left", "right") for number in range(EDITS))
    assert note.read_text().startswith("first\n")
