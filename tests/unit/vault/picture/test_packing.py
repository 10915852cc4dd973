"""What is kept of a note in few bytes comes back as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.vault.parts import tasks
from service.vault.picture import packing

PIECES = [
    "- [ ] do",
    "- [x] done ",
    "- [/] half",
    " 📅 2026-03-02",
    " ⏫",
    " 🔁 every week",
    " [due:: 2026-02-30]",
    " (scheduled:: 2026-01-01)",
    " #tag",
    " ^id",
    "\n",
    "\n  more\n",
    "👍 é",
]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_tasks_come_back_as_they_were(text: str) -> None:
    """issue 6: parsed facts in a compact form."""
    found = tasks.of(text)
    assert packing.tasks(packing.pack_tasks(found)) == found


def test_a_packed_task_takes_a_third_of_the_bytes() -> None:
    """issue 6, memory: some 660 bytes a task as objects."""
    found = tasks.of("- [ ] call the garden centre about the pots 📅 2026-03-02 ⏫ #home\n" * 50)
    assert len(found) == 50
    assert len(packing.pack_tasks(found)) / 50 < 230
